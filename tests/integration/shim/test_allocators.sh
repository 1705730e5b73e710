#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_allocators.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER PROPERTY
#
# Other allocators than libc's, preloaded behind the library or linked into the program: the
# totals are those of libc's, and what an allocator maps to serve malloc() is counted nowhere.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")
property=$(absolute "$4")
# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

unmapped='process.anon.peak=0 process.anon.allocations=0 process.reserved.allocations=0'
seeds=10

# The totals of region v in trace $1, as expectations.
totals_of() {
    for key in allocations allocated frees freed added net largest failed reallocations temporary; do
        printf 'v.heap.%s=%s ' "$key" "$("$vtrcheck" --print "$1" "v.heap.$key")"
    done
    printf 'v.anon.allocations=0 combined=%s' "$(combined_of "$1")"
}

# By how much heap and mappings together grew in region v.
combined_of() {
    echo $(($("$vtrcheck" --print "$1" v.combined_peak) -
        $("$vtrcheck" --print "$1" v.combined_start)))
}

# mix PROGRAM PRELOADED-LIBRARY: its totals, in $work/totals
mix() {
    rm -f "$work"/mix.*.vtr
    LD_PRELOAD="$lib $2" VOTRACE_STACKS=$stacks VOTRACE_OUTPUT="$work/mix.%p.vtr" \
        "$folder/$1" >"$work/shim.out" 2>&1 || return
    printf 'done\n' | cmp - "$work/shim.out" || return
    # shellcheck disable=SC2086
    "$vtrcheck" "$work"/mix.*.vtr $ended $unmapped || return
    totals_of "$work"/mix.*.vtr >"$work/totals"
}

# same_totals PROGRAM PRELOADED-LIBRARY
same_totals() {
    for stacks in all none; do
        mix allocator_mix '' && cp "$work/totals" "$work/libc" && mix "$1" "$2" &&
            diff "$work/libc" "$work/totals" || return
    done
}

# agree LIBRARY OPTION...: property, with 1 thread and with 8
agree() {
    agree_library=$1
    shift
    for threads in 1 8; do
        seed=1
        while [ "$seed" -le "$seeds" ]; do
            LD_PRELOAD="$lib $agree_library" VOTRACE_STACKS=all \
                VOTRACE_OUTPUT="$work/property.vtr" "$property" "$seed" "$threads" 1000 "$@" &&
                "$vtrcheck" "$work/property.vtr" state=2 unknown_frees=0 events_lost=0 || return
            rm "$work/property.vtr"
            seed=$((seed + 1))
        done
    done
}

for allocator in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
    library=lib$allocator
    short=${allocator%%.*}
    short=${short%_minimal}
    if [ -n "$(LD_PRELOAD=$library /bin/true 2>&1)" ]; then
        skip "$short" "$library is not installed: run scripts/setup test"
        continue
    fi
    same_totals allocator_mix "$library" >"$work/log" 2>&1
    result "allocator_mix, $short preloaded: the totals of libc's" $? "$work/log"
    if [ -x "$folder/mix_with_$short" ]; then
        same_totals "mix_with_$short" '' >"$work/log" 2>&1
        result "allocator_mix, $short linked: the totals of libc's" $? "$work/log"
    else
        skip "allocator_mix, $short linked" "$library was not there when this was built"
    fi

    option=
    [ "$short" != jemalloc ] || option=without-pvalloc
    # shellcheck disable=SC2086
    agree "$library" $option >"$work/log" 2>&1
    result "$seeds seeds agree, $short" $? "$work/log"

    # shellcheck disable=SC2086
    while read -r command expectations; do
        also=$library
        label="$command, $short"
        victim "$command" $expectations $unmapped $ended
    done <<'EOT'
crowd v.heap.added=3232000 v.heap.allocations=12000 v.heap.net=0
ratchet v.heap.added=1920769 v.heap.net=0 higher.heap.added=1920769
handover v.heap.added=256000 v.heap.allocations=100000 v.heap.net=0
realloc_race v.heap.added=67108864 v.heap.net=0
thread_destructors v.heap.added>=4300
fork_child v.heap.allocations=1 forked_children=1
calloc_overflow v.heap.allocations=0 v.heap.failed=3
realloc_fails v.heap.allocations=1 v.heap.failed=2 v.heap.added=1000
EOT
done
finish
