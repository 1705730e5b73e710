#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_threads.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER
#
# Victims of many threads that run free, and know their exact peak all the same: it is reached
# when they meet, and cannot be reached otherwise.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")
# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

# shellcheck disable=SC2086
{
    victim crowd v.heap.added=3232000 v.heap.allocations=12000 v.heap.frees=12000 \
        v.heap.allocated=7272000 v.heap.largest=1600 v.heap.net=0 'all:v.heap.sites>=16' $ended
    victim ratchet v.heap.added=1920769 v.heap.net=0 v.heap.allocations=240048 \
        v.heap.frees=240048 again.heap.added=0 again.heap.net=0 \
        higher.heap.added=1920769 higher.heap.allocations=80016 \
        higher.heap.owned_peak=1920769 again.heap.owned_peak=1920768 $ended
    victim handover v.heap.added=256000 v.heap.net=0 v.heap.reallocations=20000 \
        v.heap.allocations=100000 v.heap.frees=100000 v.heap.allocated=22500000 $ended
    victim free_run v.heap.added=8000009 v.heap.net=0 v.heap.largest=1000002 regions.run=3 \
        run@1.heap.added=8000008 run@2.heap.added=8000008 run@3.heap.added=8000009 \
        run@1.heap.net=0 run@2.heap.net=0 run@3.heap.net=0 $ended
    victim stop_world process.anon.added=65536 process.anon.net=0 $ended
    victim realloc_race v.heap.added=67108864 v.heap.net=0 v.heap.failed=0 \
        'v.heap.reallocations>=80000' $ended
    victim region_storm v.heap.added=10000 v.heap.net=0 regions.a=600 regions.b=600 \
        regions.c=600 'a.heap.allocations>=2' 'v.heap.allocations>=1201' $ended
    victim generations v.heap.added=8100 v.heap.net=4000 v.heap.allocations=10100 \
        v.heap.frees=10000 $ended
    victim region_across v.heap.added=300 v.heap.net=100 v.heap.allocations=3 v.heap.frees=2 \
        v.open=0 $ended
    victim fork_storm v.heap.added=5000 v.heap.net=0 forked_children=1000 $ended
}
finish
