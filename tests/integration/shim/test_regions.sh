#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_regions.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER
#
# What regions tell beside their totals: sizes of allocations, live heap over time, what the
# allocator gave, and what one thread did. Each victim knows its own figures.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")
# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

# ---- one thread's ----
own='regions.own=4'
for instance in 1 2 3 4; do
    at=own@$instance
    own="$own $at.thread=1 $at.open=0 $at.parent=1 $at.heap.start=0 $at.heap.peak=5000"
    own="$own $at.heap.net=100 $at.heap.owned_peak=5100 $at.heap.allocations=110 $at.heap.frees=100"
    own="$own $at.heap.allocated=5100 $at.heap.freed=5000 $at.heap.largest=50 $at.heap.failed=0"
    own="$own $at.anon.net=4096 $at.anon.allocations=1 $at.combined_peak=5000 $at.combined_end=4196"
    own="$own $at.sizes.6=100 $at.sizes.4=10 $at.sizes.total=110"
    own="$own $at.timeline.points=210 $at.timeline.first=50 $at.timeline.last=100"
    own="$own $at.timeline.min=0 $at.timeline.max=5000"
done
# shellcheck disable=SC2086
victim thread_regions $own v.heap.added=20000 v.heap.net=400 v.heap.owned_peak=20000 \
    v.heap.allocations=440 v.sizes.total=440 v.thread=0 unbalanced_ends=5 $ended

# ---- time ----
# Points are at events 1, 17, 33 ... of 16,000, and at each of the 20.
# shellcheck disable=SC2086
victim staircase v.heap.added=800000 v.timeline.points=1000 v.timeline.interval=16 \
    v.timeline.first=100 v.timeline.last=1500 v.timeline.min=100 v.timeline.max=799900 \
    short.timeline.points=20 short.timeline.interval=1 short.timeline.first=799100 \
    short.timeline.max=800000 short.timeline.last=799000 \
    'process.timeline.points>=500' 'process.timeline.max>=799000' $ended

# ---- sizes ----
sizes='v.sizes.0=5'
for power in 0 1 2 3 4 5 7 9 10 11 12 13 14 15 16 17 18 19 20; do
    sizes="$sizes v.sizes.$((power + 1))=$((power + 1))"
done
# shellcheck disable=SC2086
victim known_sizes $sizes v.sizes.7=8 v.sizes.9=10 v.sizes.total=238 open.open=1 \
    open.sizes.1=1 'open.sizes.total>=1' 'process.sizes.7>=58' $ended

# ---- usable sizes ----
for setting in yes no; do
    "$folder/usable_sum" >"$work/sums"
    read -r usable at_peak <"$work/sums"
    flag=1
    [ $setting = yes ] || { flag=0; usable=0; at_peak=0; }
    before="export VOTRACE_USABLE=$setting"
    label="usable_sum, VOTRACE_USABLE=$setting"
    # shellcheck disable=SC2086
    victim usable_sum usable="$flag" own.usable_start=0 \
        own.usable_live="$usable" own.usable_at_peak="$at_peak" regions.all=4 \
        all@1.usable_live=0 all@2.usable_live=0 all@3.usable_live=0 all@4.usable_live=0 \
        all@1.heap.net=0 own.heap.failed=0 $ended
done
# Another allocator is asked itself; libc's malloc_usable_size() never for its blocks.
before='export VOTRACE_USABLE=yes'
also=$folder/libvictim_malloc.so
label='malloc_zero, an allocator that gives powers of two'
# shellcheck disable=SC2086
victim malloc_zero usable=1 v.heap.allocations=3 v.usable_at_peak=0 v.usable_live=32 $ended
before='export VOTRACE_USABLE=yes'
also=$folder/libvictim_malloc_mute.so
label='malloc_zero, an allocator that cannot tell its usable sizes'
victim malloc_zero usable=0 settings_ignored=1 v.heap.allocations=3

# Real ones: tcmalloc is asked before it is ready to tell.
for allocator in jemalloc mimalloc tcmalloc; do
    if [ ! -x "$folder/mix_with_$allocator" ]; then
        skip "usable sizes of $allocator" 'it is not installed'
        continue
    fi
    before='export VOTRACE_USABLE=yes'
    label="mix_with_$allocator, VOTRACE_USABLE=yes"
    victim "mix_with_$allocator" usable=1 v.heap.net=0 state=2 events_lost=0
done

# ---- many ----
# shellcheck disable=SC2086
victim many_own_instances regions.v=1000 rows.v=8 v@999.flags=2 v@1.flags=3 v@1.heap.peak=7 \
    v@1.heap.allocations=1 'used_bytes<=1100000' $ended
all_stacks=none
label='100,000 instances'
# shellcheck disable=SC2086
victim 'many_instances 100000' regions.v=100000 rows.v=8 region_count=100001 \
    'used_bytes<=80000000' $ended
finish
