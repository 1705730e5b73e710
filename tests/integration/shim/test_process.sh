#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_process.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER
#
# Victims of what is around the allocator: memory that is not malloc's, programs that become
# others, children, signals that mark regions, and ways to be loaded.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")
# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

# Traces of `follow`, by what their headers say: $parent and $child, empty where there is none.
find_family() {
    parent=
    child=
    for trace in "$work"/traces/follow.*.vtr*; do
        if "$vtrcheck" "$trace" forked=0 2>/dev/null; then
            parent=$trace
        else
            child=$trace
        fi
    done
}

# followed WAY TRACES EXPECTATION...: what the child's trace says, beside being the parent's child.
followed() {
    way=$1
    count=$2
    shift 2
    for stacks in all none; do
        rm -rf "$work/traces" "$work/cwd"
        mkdir "$work/traces" "$work/cwd"
        output=$work/traces/%e.%p.vtr
        before='export VOTRACE_CHILDREN=follow'
        run_plain "$folder/follow" "$way"
        run_shimmed "$folder/follow" "$way"
        find_family
        # In between is one that left no trace: the process id is not its parent's.
        [ "$way" = grandchild ] && relation=forked=1 || relation=child_of=$parent
        # shellcheck disable=SC2086
        {
            cmp "$work/plain.out" "$work/shim.out" && cmp "$work/plain.err" "$work/shim.err" &&
                [ "$(find "$work/traces" -type f | wc -l)" -eq "$count" ] &&
                "$vtrcheck" "$parent" state=2 forked_children=0 inherited_freed=0 \
                    v.heap.allocated=1000 $complete &&
                if [ $# -gt 0 ]; then
                    "$vtrcheck" "$child" "$relation" state=2 $complete "$@"
                else
                    [ -z "$child" ]
                fi
        } >"$work/log" 2>&1
        result "follow $way, stacks $stacks" $? "$work/log"
    done
    reset
}

# shellcheck disable=SC2086
{
    # ---- beside malloc and mmap ----
    victim free_names v.heap.allocations=3 v.heap.frees=3 v.heap.allocated=600 v.heap.net=0 $ended
    victim program_break v.anon.added=15000 v.anon.net=0 v.anon.allocated=15000 \
        v.anon.allocations=2 v.anon.failed=1 v.heap.allocations=0 $ended
    victim shared_segment v.anon.added=28672 v.anon.net=16384 v.anon.allocations=4 \
        v.anon.frees=2 v.anon.failed=1 process.anon.live=4096 $ended
    victim reserve v.reserved.added=4493312 v.reserved.net=397312 v.reserved.blocks=2 \
        v.anon.added=12288 v.anon.net=12288 v.anon.blocks=2 v.combined_peak=12288 $ended
    victim remap_fails v.anon.net=16384 v.anon.failed=1 $ended

    # ---- the ends of a program ----
    for way in execve execv execvp execvpe execl execlp execle fexecve execveat; do
        traces=2
        victim "exec_ways $way" state=3 updating=0 'v.heap.allocated>=1111' 'end_elapsed_ns>=1'
    done

    victim stuck_loader 'v.heap.allocations>=1' $ended
    victim 'stuck_loader quick_exit' 'v.heap.allocations>=1' $ended
    traces=2
    victim 'stuck_loader exec' state=3 'v.heap.allocations>=1'

    victim module_storm 'v.heap.allocations>=600' v.open=0 $ended

    # ---- children ----
    victim fork_fails forked_children=1 v.heap.allocated=77 $ended
    worked='child.heap.added=250 child.heap.start=1000 process.heap.start=1000
        process.heap.allocated=550 process.heap.freed=560 process.heap.live=990
        process.anon.start=16384 process.anon.live=12288 process.heap.failed=1
        inherited_freed=32 unbalanced_ends=0'
    followed '' 2 $worked
    followed grandchild 2 $worked
    followed exec 2
    followed nothing 1
    followed threads 2 child.heap.added=250 'process.heap.start>=1000' process.heap.allocated=550 \
        process.anon.live=12288
    before='export VOTRACE_CHILDREN=exec'
    label='follow, only what is executed'
    victim follow forked_children=1 forked=0 v.heap.allocated=1000 $ended
    before='export VOTRACE_CHILDREN=follow'
    traces=2
    label='vfork_exec, followed'
    victim vfork_exec v.heap.allocations=1 v.heap.allocated=77 $ended
    before='export VOTRACE_CHILDREN=follow'
    label='raw_fork, followed'
    victim raw_fork v.heap.allocations=1 v.heap.allocated=77 $ended
    before='export VOTRACE_CHILDREN=none'
    label='vfork_exec, alone'
    victim vfork_exec v.heap.allocations=1 v.heap.allocated=77 $ended
    before='export VOTRACE_CHILDREN=none'
    label='spawn, alone'
    victim spawn v.heap.allocations=1 v.heap.allocated=77 $ended
    before='export VOTRACE_CHILDREN=none'
    label='exec_ways, alone'
    victim 'exec_ways execv' state=3 'v.heap.allocated>=1111'
    before='export VOTRACE_CHILDREN=none'
    victim child_environment 'process.heap.allocations>=1' $ended
    before='export VOTRACE_CHILDREN=none'
    also=$folder/libvictim_alpha.so
    label='child_environment, with another library'
    victim child_environment 'process.heap.allocations>=1' $ended

    # ---- whose malloc it is ----
    victim fixed_place process.heap.largest=123457 $ended
    victim own_inside malloc_elsewhere=1 process.heap.allocations=0 state=2
    label='malloc_zero, another allocator behind'
    also=$folder/libvictim_malloc.so
    victim malloc_zero v.heap.allocations=3 $ended

    # ---- libraries that come and go ----
    victim same_place regions.v=5 'all:generations>=3' all:v@1.module.libvictim_alpha.so=1 \
        all:v@2.module.libvictim_gamma.so=2 all:v@3.module.libvictim_alpha.so=4 \
        all:v@4.module.libvictim_alpha.so=8 all:v@5.module.libvictim_gamma.so=16 $ended

    # ---- regions by signal ----
    before='export VOTRACE_SIGNAL=USR2'
    victim signal_region regions.signal=2 signal@1.heap.added=100 signal@1.heap.allocations=1 \
        signal@1.heap.net=100 signal@2.open=0 signal@2.heap.start=1100 \
        'signal@2.heap.allocated>=200' signal@2.heap.freed=100 unbalanced_ends=0 $ended
    before='export VOTRACE_SIGNAL=12 VOTRACE_REGION=load'
    label='signal_region, by number and with a name'
    victim signal_region regions.load=2 regions.signal=0 load@1.heap.added=100 $ended
    before='export VOTRACE_SIGNAL=SIGUSR2'
    victim signal_marks 'regions.signal>=100' unbalanced_ends=0 regions_dropped=0 \
        signal@1.open=0 $ended
    before='export VOTRACE_SIGNAL=KILL VOTRACE_REGION=load'
    label='malloc_zero, a signal that cannot be caught'
    victim malloc_zero settings_ignored=2 v.heap.allocations=3 state=2
}

# What the kernel says of resident memory is of one program, and there when it becomes another.
rm -rf "$work/traces" "$work/cwd"
mkdir "$work/traces" "$work/cwd"
stacks=none
run_shimmed "$folder/resident"
status=$?
{
    ended_traces=0
    for trace in "$work"/traces/resident.*.vtr*; do
        if "$vtrcheck" "$trace" state=3 2>/dev/null; then
            "$vtrcheck" "$trace" 'peak_resident_bytes>=67108864' || status=1
        else
            "$vtrcheck" "$trace" state=2 'peak_resident_bytes>=500000' \
                'peak_resident_bytes<=33554432' || status=1
            ended_traces=$((ended_traces + 1))
        fi
    done
    [ "$status" -eq 0 ] && [ "$ended_traces" -eq 1 ]
} >"$work/log" 2>&1
result 'resident: of each program by itself' $? "$work/log"

# Opened by the program: nothing is seen but what is asked of it by name, and the trace says so.
VOTRACE_OUTPUT=$work/late.vtr "$folder/load_late" "$lib" >/dev/null 2>"$work/log" &&
    "$vtrcheck" "$work/late.vtr" malloc_elsewhere=1 state=2 process.heap.allocations=1 \
        >>"$work/log" 2>&1
result 'load_late: the trace says that malloc is elsewhere' $? "$work/log"

# So does that of one that comes second.
LD_PRELOAD="$folder/libvictim_malloc.so $lib" VOTRACE_OUTPUT=$work/second.vtr \
    "$folder/malloc_zero" >/dev/null 2>"$work/log" &&
    "$vtrcheck" "$work/second.vtr" malloc_elsewhere=1 state=2 >>"$work/log" 2>&1
result 'malloc_zero: the trace says that another allocator comes first' $? "$work/log"

finish
