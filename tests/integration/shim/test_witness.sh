#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_witness.sh LIBVOTRACE VTRCHECK VOTDRIVER
#
# glibc's memusage counts the same bytes in its own way: the heap peaks of real programs have to
# be equal to the byte. (Its totals are others: it adds only what a realloc grows by.)
#
# Both sit in one process, votrace in front: between two processes Python's own peak differs,
# with the environment, the addresses, and the number of libraries that the loader keeps lists of.
# A program that does not care, as xmllint, is also measured by each alone.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
votdriver=$(absolute "$3")

export MALLOC_PERTURB_=0
memusage_lib=
for folder in /lib/*-linux-gnu /usr/lib/*-linux-gnu /lib64 /usr/lib64 /usr/lib; do
    [ -n "$memusage_lib" ] || [ ! -e "$folder/libmemusage.so" ] ||
        memusage_lib=$folder/libmemusage.so
done
if [ -z "$memusage_lib" ]; then
    skip 'memusage agrees' 'libmemusage.so is not installed'
    finish
    exit
fi

# under LIBRARIES COMMAND...: with the least of an environment.
under() (
    under_libs=$1
    shift
    rm -f "$work/t.vtr"
    exec timeout 120 env -i PATH="$PATH" PYTHONMALLOC=malloc MALLOC_PERTURB_=0 \
        VOTRACE_STACKS="$stacks" VOTRACE_OUTPUT="$work/t.vtr" LD_PRELOAD="$under_libs" "$@"
)

# The trace holds, and its heap peak is what memusage printed to $work/memusage.
same_peak() {
    peak=$(sed -n 's/.*heap peak: \([0-9]*\),.*/\1/p' "$work/memusage")
    echo "memusage: $peak, votrace: $("$vtrcheck" --print "$work/t.vtr" process.heap.peak)"
    [ -n "$peak" ] && "$vtrcheck" "$work/t.vtr" state=2 unknown_frees=0 events_lost=0 \
        process.heap.peak="$peak"
}

same_output() {
    under '' "$@" >"$work/plain.out" 2>"$work/plain.err"
    plain_status=$?
    under "$lib" "$@" >"$work/shim.out" 2>"$work/shim.err"
    shim_status=$?
    echo "exit status $plain_status and $shim_status"
    [ "$plain_status" -eq "$shim_status" ] && cmp "$work/plain.out" "$work/shim.out" &&
        cmp "$work/plain.err" "$work/shim.err"
}

# check NAME COMMAND...
check() {
    check_name=$1
    shift
    "$@" >"$work/log" 2>&1
    check_status=$?
    sed 's/^/# /' "$work/log"
    result "$check_name, stacks $stacks" "$check_status" "$work/log"
}

together() {
    under "$lib:$memusage_lib" "$@" >/dev/null 2>"$work/memusage"
    same_peak
}

apart() {
    under "$memusage_lib" "$@" >/dev/null 2>"$work/memusage"
    under "$lib" "$@" >/dev/null 2>&1
    same_peak
}

"$votdriver" generate --preset arrays --rows 500 --format tabledata --seed 7 \
    -o "$work/table.vot" || exit 1

# The interpreter itself, not a script that looks for it.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
program='
import json, sys
rows = [{"column %d" % i: i * 1.5} for i in range(3000)]
text = json.dumps(rows)
print(len(text), sum(len(row) for row in json.loads(text)))
sys.exit(3)'

for stacks in none all; do
    if command -v xmllint >/dev/null; then
        check 'xmllint: output' same_output xmllint --noout "$work/table.vot"
        check 'xmllint: one process' together xmllint --noout "$work/table.vot"
        check 'xmllint: two processes' apart xmllint --noout "$work/table.vot"
    else
        skip "xmllint, stacks $stacks" 'it is not installed'
    fi
    if [ -n "$python" ]; then
        check 'python3: output' same_output "$python" -c "$program"
        check 'python3: one process' together "$python" -c "$program"
    else
        skip "python3, stacks $stacks" 'it is not installed'
    fi
done
finish
