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

# ---- addresses ----

# addresses ID: whether that run's are stored as fixed, and what a block at them cost.
addresses() {
    "$votreport" sql --csv runs.db "SELECT ifnull(environment ->> 'addresses', 'random'),
        peak_added FROM v_regions JOIN run ON run.id = run_id WHERE run_id = $1 AND ordinal > 0" 2>err |
        tr -d '\r' | tail -n 1
}
cat >by_address.py <<'EOT'
import ctypes
process = ctypes.CDLL(None)
size = (id(object()) >> 12) % 1000000
process.votrace_region_begin(b"by_address")
keep = bytes(size)
process.votrace_region_end(b"by_address")
EOT
if setarch -R true 2>/dev/null; then
    for number in 1 2 3; do
        status "run --python, time $number" 0 "$votreport" run --python --db runs.db --name fixed \
            -- "$python" by_address.py
        addresses "$((number + 2))" >"fixed.$number"
    done
    grep -q '^fixed,[0-9]' fixed.1
    result $? 'addresses are fixed, and it is stored'
    cmp -s fixed.1 fixed.2 && cmp -s fixed.1 fixed.3
    result $? 'what depends on them is the same'
    status 'run --addresses random' 0 setarch -R "$votreport" run --python --addresses random \
        --db runs.db -- "$python" by_address.py
    addresses 6 >random
    ! grep -q fixed random && grep -q '^random,[0-9]' random
    result $? 'leaves them random'
    status 'run under setarch' 0 setarch -R "$votreport" run --db runs.db -- "$python" by_address.py
    addresses 7 >inherited
    grep -q '^fixed,[0-9]' inherited
    result $? 'finds them fixed, and says so'
else
    skip 8 'the kernel does not let addresses be fixed'
fi

# As a container does: personality(2) may be asked for what it is, and fails otherwise.
cat >forbid.py <<'EOT'
import ctypes, os, platform, struct, sys
number = {"x86_64": 135, "aarch64": 92}.get(platform.machine())
def statement(code, true, false, value):
    return struct.pack("HBBI", code, true, false, value)
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
program = (
    statement(LOAD, 0, 0, 0) + statement(EQUAL, 0, 3, number or 0)       # seccomp_data.nr
    + statement(LOAD, 0, 0, 16) + statement(EQUAL, 1, 0, 0xFFFFFFFF)     # .args[0]
    + statement(RETURN, 0, 0, 0x00050000 | 1) + statement(RETURN, 0, 0, 0x7FFF0000)
)
buffer = ctypes.create_string_buffer(program, len(program))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
prctl = ctypes.CDLL(None).prctl
if number is None or prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.byref(filter)):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
EOT
is_forbidden='import ctypes; ctypes.CDLL(None).personality(0x40000) == -1 or exit(1)'
if "$python" forbid.py "$python" -c "$is_forbidden"; then
    status 'run --python where it is forbidden' 0 "$python" forbid.py "$votreport" run --python \
        --db forbidden.db -- "$python" by_address.py
    says 'is told' err 'note: addresses are random, the kernel does not let them be fixed (Operation not permitted)'
    "$votreport" sql forbidden.db "SELECT environment ->> 'addresses' IS NULL FROM run" >out 2>err
    says 'is not stored as fixed' out 1
    status '--addresses fixed where it is forbidden' 2 "$python" forbid.py "$votreport" run \
        --addresses fixed --db refused.db -- "$python" by_address.py
    says 'is refused' err '--addresses fixed: the kernel does not allow it: Operation not permitted'
    [ ! -e refused.db ]
    result $? 'and nothing is stored'
else
    skip 6 'no filter of system calls can be made here'
fi
status '--addresses with another word' 2 "$votreport" run --addresses odd --db runs.db -- true
says 'is told' err "--addresses takes fixed or random, not 'odd'"

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
