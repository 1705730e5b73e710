#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_victims.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER
#
# Programs of one behaviour each, with the library and without: see victim.sh.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")

# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
}

# ---- the malloc family ----
# shellcheck disable=SC2086
{
    victim malloc_zero v.heap.allocations=3 v.heap.frees=2 v.heap.allocated=0 v.heap.added=0 $ended
    victim calloc_overflow v.heap.allocations=0 v.heap.failed=3 $ended
    victim realloc_zero v.heap.allocations=1 v.heap.frees=1 v.heap.freed=100 v.heap.net=0 $ended
    victim realloc_fails v.heap.allocations=1 v.heap.frees=1 v.heap.failed=2 v.heap.added=1000 \
        v.heap.reallocations=0 $ended
    victim realloc_limit v.heap.allocations=1 v.heap.frees=1 v.heap.failed=1 \
        v.heap.added=1048576 v.heap.net=0 $ended
    victim free_null v.heap.allocations=0 v.heap.frees=0 v.heap.failed=0 $ended
    victim aligned v.heap.allocations=5 v.heap.allocated=1500 v.heap.frees=5 v.heap.added=1500 $ended
    victim posix_memalign_invalid v.heap.allocations=0 v.heap.failed=1 $ended
    victim strings 'v.heap.allocations>=5' 'v.heap.allocations<=14' v.heap.net=0 $ended
    victim huge_calloc v.heap.largest=5368709120 v.heap.added=5368709120 v.heap.net=0 $ended
    victim usable_size v.heap.allocations=500 v.heap.allocated=62250 v.heap.frees=500 $ended
    [ ! -x "$folder/cxx_new" ] ||
        victim cxx_new v.heap.allocations=1015 'v.heap.added>=101000' v.heap.net=0 $ended
    victim nested_regions v.heap.added=4400 v.heap.net=-600 inner@2.heap.added=5000 regions.inner=2 \
        inner@1.parent=1 $ended

    # ---- threads, destructors, ends ----
    victim short_threads v.anon.allocations=0 'v.heap.allocations>=10000' 'v.heap.frees>=10000' $ended
    victim thread_destructors 'v.heap.allocations>=80' 'v.heap.allocations<=100' 'v.heap.frees>=80' 'v.heap.added>=4300' $ended
    victim heap_race 'v.heap.allocations>=50000' v.heap.failed=0 $ended
    victim mapping_race 'v.anon.allocations>=80000' v.anon.net=0 $ended
    victim atexit_handlers v.heap.allocations=2 v.heap.frees=1 v.heap.net=50 v.open=0 $ended
    victim exit_ways v.open=1 v.heap.allocations=1 $ended
    victim 'exit_ways _exit' v.open=1 $ended
    victim 'exit_ways _Exit' v.open=1 $ended
    victim 'exit_ways thread' v.open=1 $ended
    victim 'exit_ways quick_exit' v.open=1 v.heap.allocations=1 $ended
    # Not seen: the trace looks killed, and is whole.
    victim 'exit_ways abort' state=1 v.heap.allocations=1

    # ---- fork and exec ----
    victim fork_child forked_children=1 v.heap.allocations=1 regions.child=0 $ended
    victim raw_fork v.heap.allocations=1 v.heap.allocated=77 $ended
    traces=2
    victim vfork_exec v.heap.allocations=1 v.heap.allocated=77 $ended
    traces=2
    victim spawn v.heap.allocations=1 v.heap.allocated=77 $ended
    traces=2
    victim exec_itself state=3 v.heap.allocated=111

    # ---- descriptors, folders, files ----
    # The descriptors go with the streams: what is compared is that nothing is printed.
    victim close_all v.heap.allocations=20000 'all:site_count>=20000' 'all:used_bytes>=2000000' $ended
    victim closed_stdio v.heap.allocated=77 $ended
    output=default
    trace_folder=$work/cwd
    victim change_folder v.heap.allocations=20000 'all:used_bytes>=2000000' $ended
    all_stacks=all
    victim few_descriptors 'file_refused>=1' cut=1 state=2
    all_stacks=none
    victim few_descriptors file_refused=0 v.heap.allocations=20000
    output=/proc/%e.vtr
    traces=0
    victim malloc_zero
    output=/nonexistent/%e.vtr
    traces=0
    victim many_stacks
    output=$work/traces/%x.vtr
    traces=0
    victim malloc_zero
    before='ulimit -f 1024'
    all_stacks=all
    label='many_stacks, file size limited'
    victim many_stacks 'file_refused>=1' cut=1
    before='ulimit -f 1'
    traces=0
    label='malloc_zero, no room for a header'
    victim malloc_zero
}

# A full file system, where one can be made.
mkdir "$work/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m none "$work/small" 2>/dev/null; then
    mounted=$work/small
    output=$work/small/%e.%p.vtr
    trace_folder=$work/small
    all_stacks=all
    label='many_stacks, file system full'
    victim many_stacks 'file_refused>=1' cut=1 state=2
    rm -f "$work"/small/*
    output=$work/small/%e.%p.vtr
    trace_folder=$work/small
    traces=0
    before="[ -e $work/small/fill ] || head -c 2000000 /dev/zero >$work/small/fill 2>/dev/null"
    label='malloc_zero, file system full from the start'
    victim malloc_zero
    umount "$mounted"
    mounted=
else
    skip 'many_stacks, file system full' 'a file system of 1 MiB cannot be mounted'
fi

# shellcheck disable=SC2086
{
    # ---- signals, stacks, modules, mappings ----
    victim timer_signal 'v.heap.allocations>=1500' v.heap.added=24 v.anon.net=0 v.open=0 $ended
    victim 'alternate_stack 0' v.heap.allocations=1 v.heap.allocated=77 v.heap.frees=1 $ended
    label='alternate_stack, 4 KiB more'
    victim 'alternate_stack 4096' v.heap.allocations=1 v.heap.allocated=77 v.heap.frees=1 $ended
    victim long_jump v.heap.allocations=1000 v.heap.frees=1000 v.heap.allocated=60000 $ended
    victim deep_recursion v.heap.allocations=51 thread.open=0 'thread.heap.allocations>=101' \
        'all:stacks_truncated>=1' $ended
    victim many_stacks v.heap.allocations=131072 v.heap.added=20 'all:site_count>=131072' $ended
    victim dlopen_module 'v.heap.allocations>=50' $ended
    victim loader_lock 'v.heap.allocations>=400' $ended
    victim remap v.anon.net=40960 v.anon.added=40960 v.anon.allocations=4 v.anon.frees=1 \
        v.anon.failed=1 v.anon.reallocations=1 $ended
    victim keeps_errno v.heap.allocations=15000 v.anon.allocations=5000 $ended

    # ---- regions ----
    victim unbalanced unbalanced_ends=3 regions.v=1 regions.process=1 open.open=1 region_count=3 $ended
    victim many_instances regions.v=1000 rows.v=8 v@999.flags=0 v.heap.added=1000 \
        v@1.flags=1 v@1.heap.added=7 v@1.heap.allocations=1 $ended

    # ---- the loader ----
    before='export LD_BIND_NOW=1'
    label='realloc_fails, LD_BIND_NOW=1'
    victim realloc_fails v.heap.added=1000 $ended
    before='export VOTRACE_DEPTH=0'
    all_stacks=bad
    label='malloc_zero, settings that mean nothing'
    victim malloc_zero settings_ignored=2 v.heap.allocations=3 state=2
    before='export VOTRACE_DEPTH=256'
    label='deep_recursion, VOTRACE_DEPTH=256'
    victim deep_recursion depth_limit=256 v.heap.allocations=51 $ended
    before='export VOTRACE_DEPTH=1'
    label='many_stacks, VOTRACE_DEPTH=1'
    victim many_stacks depth_limit=1 'all:site_count<=20' v.heap.allocations=131072 $ended
}

loader=$(readelf -l "$folder/malloc_zero" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
for victim in malloc_zero many_stacks; do
    mkdir -p "$work/loader"
    "$folder/$victim" >"$work/plain.out"
    LD_PRELOAD=$lib VOTRACE_OUTPUT="$work/loader/%e.%p.vtr" "$loader" "$folder/$victim" \
        >"$work/shim.out" 2>"$work/log"
    status=$?
    {
        [ "$status" -eq 0 ] && cmp "$work/plain.out" "$work/shim.out" &&
            "$vtrcheck" "$work/loader/$victim".*.vtr state=2 'v.heap.allocations>=3' &&
            # The program, an argument, and a module: not the loader.
            [ "$(cat "$work/loader/$victim".*.vtr | tr '\0' '\n' |
                grep -acx "$folder/$victim")" -ge 3 ]
    } >>"$work/log" 2>&1
    result "$victim, started through the loader" $? "$work/log"
    rm -rf "$work/loader"
done

# Without a launcher, and with no other variable at all.
rm -rf "$work/cwd"
mkdir "$work/cwd"
(cd "$work/cwd" && env -i LD_PRELOAD="$lib" "$folder/malloc_zero") >"$work/shim.out" 2>"$work/log"
{
    "$folder/malloc_zero" | cmp - "$work/shim.out" &&
        "$vtrcheck" "$work/cwd"/votrace.malloc_zero.*.vtr v.heap.allocations=3 state=2 \
            settings_ignored=0
} >>"$work/log" 2>&1
result 'malloc_zero, nothing but LD_PRELOAD' $? "$work/log"

# ldd runs no program: its answer is the same but for the library itself.
ldd "$folder/malloc_zero" | sed 's/ (0x.*//' >"$work/plain.out"
(
    LD_PRELOAD=$lib VOTRACE_OUTPUT=$work/%e.%p.vtr
    export LD_PRELOAD VOTRACE_OUTPUT
    ldd "$folder/malloc_zero" 2>"$work/log"
) | sed 's/ (0x.*//' | grep -v -e "$lib" -e libunwind -e liblzma -e libgcc_s >"$work/shim.out"
diff "$work/plain.out" "$work/shim.out" >>"$work/log" 2>&1
result 'ldd' $? "$work/log"

finish
