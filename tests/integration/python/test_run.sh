#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_run.sh VOTREPORT LIBVOTRACE
#
# What `votreport run --python` sets, and when `show` advises it.
set -u

# shellcheck source=tests/integration/report/tap.sh
. "$(dirname "$0")/../report/tap.sh"
votreport=$(absolute "$1")
VOTRACE_LIBRARY=$(absolute "$2")
export VOTRACE_LIBRARY
begin
unset PYTHONMALLOC PYTHONHASHSEED VOTRACE_DEPTH

# Its real path: what is found first may be a script that starts it.
python=$(/usr/bin/python3 -c 'import sys; print(sys.executable)' 2>/dev/null) ||
    python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) ||
    skip_all 'there is no python3 here'

# environment ID: what is stored of that run, and how deep its stacks may be.
environment() {
    "$votreport" sql runs.db "SELECT (environment ->> 'PYTHONMALLOC') || ' ' ||
        (environment ->> 'PYTHONHASHSEED') || ' ' || depth_limit FROM run WHERE id = $1" >out 2>err
}

objects='x = [[i] for i in range(100000)]'
status 'run --python' 0 "$votreport" run --python --db runs.db -- "$python" -c "$objects"
environment 1
says 'sets the allocator, the seed and the depth' out 'malloc 0 256'
"$votreport" show runs.db >out 2>err
! grep -q '^note:' out
result $? 'every object is a block: no advice'

status 'run --python with variables' 0 env PYTHONMALLOC=pymalloc PYTHONHASHSEED=7 \
    "$votreport" run --python --depth 30 --db runs.db -- "$python" -c "$objects"
environment 2
says 'what is set is kept' out 'pymalloc 7 30'
"$votreport" show runs.db >out 2>err
says 'arenas dominate: show advises' out \
    "note: most of its memory is Python's arenas, which hide the objects in them: votreport run --python"

# ---- regions as runs of their own ----

cat >regions.py <<'EOT'
import ctypes
process = ctypes.CDLL(None)
keep = []
for name, size in (b"one", 1000003), (b"two", 2000003), (b"one", 3000017), (b"three", 10):
    process.votrace_region_begin(name)
    keep.append(bytes(size))
    process.votrace_region_end(name)
EOT
status 'a program with regions' 0 env LD_PRELOAD="$VOTRACE_LIBRARY" VOTRACE_OUTPUT=regions.vtr \
    PYTHONMALLOC=malloc "$python" regions.py
printf 'one\ttests/one with blanks\ntwo\ttwo\nnever\tnever\n' >names
status 'import --regions' 0 "$votreport" import --db parts.db --regions names regions.vtr
"$votreport" sql --csv parts.db 'SELECT benchmark, region, instance, peak_added / 1000 FROM v_latest
    WHERE ordinal > 0 ORDER BY benchmark' >out 2>err
cat >wanted <<'EOT'
benchmark,region,instance,peak_added / 1000
tests/one with blanks,one,2,3000
two,two,1,2000
EOT
tr -d '\r' <out | diff wanted - >err
result $? 'stores the last instance of each that is listed'
status 'such a store holds' 0 "$votreport" check parts.db
"$votreport" show --name two --region two parts.db >out 2>err
says 'with its call sites' out 'regions.py:6'
status 'the same once more' 2 "$votreport" import --db parts.db --regions names regions.vtr
says 'is refused' err 'is stored already'
printf 'one\n' >names
status 'a line without a benchmark' 2 "$votreport" import --db parts.db --regions names regions.vtr
says 'is told' err 'names: line 1 is not a region, a tab and a benchmark'
printf 'never\tnever\n' >names
status 'regions that are not there' 2 "$votreport" import --db parts.db --regions names regions.vtr
says 'are told' err 'none of its regions is in these traces'
status '--name beside --regions' 2 "$votreport" import --db a.db --name x --regions names regions.vtr

status 'a program that is none of Python' 0 "$votreport" run --db other.db -- /bin/true
"$votreport" show other.db >out 2>err
! grep -q '^note:' out
result $? 'has no advice'
finish
