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

status 'a program that is none of Python' 0 "$votreport" run --db other.db -- /bin/true
"$votreport" show other.db >out 2>err
! grep -q '^note:' out
result $? 'has no advice'
finish
