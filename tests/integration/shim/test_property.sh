#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_property.sh LIBVOTRACE VTRCHECK PROPERTY [SEEDS [STEPS]]
#
# 100 seeds, with 1 and 8 threads, with stacks and without: the program's own sums and votrace's
# agree to the byte after every few steps, and the trace that is left holds.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
property=$(absolute "$3")
seeds=${4:-100}
steps=${5:-1000}

export MALLOC_PERTURB_=0

# agree SEED THREADS STACKS
agree() {
    rm -f "$work"/*.vtr
    timeout 60 env LD_PRELOAD="$lib" VOTRACE_STACKS="$3" VOTRACE_OUTPUT="$work/%e.%p.vtr" \
        "$property" "$1" "$2" "$steps" >>"$work/log" 2>&1
    agree_status=$?
    if [ "$agree_status" -ne 0 ]; then
        echo "seed $1, $2 threads, stacks $3: exit status $agree_status" >>"$work/log"
        return 1
    fi
    "$vtrcheck" "$work"/property.*.vtr state=2 unknown_frees=0 events_lost=0 stacks_other=0 \
        regions_dropped=0 >>"$work/log" 2>&1 && return
    echo "seed $1, $2 threads, stacks $3: the trace" >>"$work/log"
    return 1
}

for stacks in all none; do
    for threads in 1 8; do
        : >"$work/log"
        seed=1
        while [ "$seed" -le "$seeds" ] && agree "$seed" "$threads" "$stacks"; do
            seed=$((seed + 1))
        done
        [ "$seed" -gt "$seeds" ]
        result "$seeds seeds agree, $threads threads, stacks $stacks" $? "$work/log"
    done
done
finish
