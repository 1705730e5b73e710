#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_surroundings.sh LIBVOTRACE VTRCHECK VICTIM-FOLDER
#
# Victims and what surrounds them: signals, stacks of their own making, C++, limits, sandboxes,
# other libraries, users, and files that go away.
# shellcheck disable=SC2154,SC2034 # tap.sh and victim.sh assign and use them
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
folder=$(absolute "$3")
# shellcheck source=/dev/null
. "$(dirname "$0")/victim.sh"

sealed=
cleanup() {
    [ -z "$sealed" ] || umount "$sealed"
}

# The trace cannot grow any more, and the program does not notice.
stuck='state=2 updating=0 all:file_refused>=1 all:cut=1'

# shellcheck disable=SC2086
{
    # ---- signals ----
    victim timer_heap v.heap.added=1048600 v.heap.net=24 v.anon.net=0 inner.open=0 $ended
    for threads in 1 4; do
        also=$folder/libvictim_malloc.so
        victim "signal_storm $threads" v.heap.added=100000 v.heap.net=0 $ended
        victim "signal_storm $threads maps" v.heap.added=100000 v.heap.net=0 \
            'v.anon.allocations>=100' v.anon.net=0 v.anon.failed=0 $ended
    done
    victim calloc_handler v.heap.net=2400 v.anon.allocations=100 v.anon.net=0 $ended
    victim signal_wait v.heap.allocations=1000 v.heap.net=0 $ended
    victim interrupts v.heap.allocations=30000 'all:used_bytes>=2000000' $ended
    victim cancel v.heap.allocations=20002 v.heap.frees=20002 v.anon.allocations=200 \
        v.anon.net=0 regions.inner=400 $ended

    # ---- stacks and frames ----
    victim contexts v.heap.allocations=2000 v.heap.added=8200 v.heap.net=0 $ended
    victim bare_stack v.heap.allocations=1000 v.heap.allocated=70000 v.heap.net=0 $ended
    victim no_unwind v.heap.allocations=1000 v.heap.allocated=60000 v.heap.net=0 $ended
    before='ulimit -s 256'
    label='many_stacks, stack limited to 256 KiB'
    victim many_stacks v.heap.allocations=131072 v.heap.added=20 $ended
    if [ -x "$folder/cxx_throw" ]; then
        victim cxx_throw v.heap.allocations=33000 v.heap.net=0 $ended
        victim cxx_thread_local v.heap.allocations=120 v.heap.net=0 $ended
    fi

    # ---- mappings ----
    victim mapping_kinds v.anon.net=57344 v.anon.failed=2 v.file.net=28672 $ended

    # ---- regions ----
    victim 'many_instances 100000' regions.v=100000 rows.v=8 v@99000.heap.added=1000 \
        v@1.heap.added=7 v@99999.heap.allocations=1 $ended

    # ---- limits and sandboxes ----
    victim address_space 'v.heap.added>=50000000' v.heap.net=0 v.heap.failed=1 \
        v.heap.largest=1048576 state=2 $complete
    victim no_room state=2
    for call in membarrier futex; do
        victim "sandbox $call" v.heap.added=400000 v.heap.allocations=8000 v.heap.net=0 $ended
    done
    # The main thread, which is not confined, writes the rest when it exits.
    for call in openat fallocate; do
        victim "sandbox $call" 'all:file_refused>=1' cut=0 v.heap.added=400000 \
            v.heap.allocations=8000 v.heap.net=0 state=2 updating=0 $complete
    done
    # Where the tables cannot grow the trace says so; that depends on where the heap lies.
    victim 'sandbox mmap' v.heap.failed=0 state=2 updating=0

    # Sandboxes that kill: the library makes no call that the program does not.
    "$folder/sandbox_kill" prctl 1 1 >/dev/null 2>&1
    if [ $? -eq 5 ]; then
        whole="v.heap.net=0 inner.open=0 cut=0 $ended"
        stacked='all:stacks_missing=0 all:stacks_other=0'
        for way in prctl syscall probed refused; do
            victim "sandbox_kill $way 1 1000" v.heap.allocations=1000 v.heap.added=50000 \
                inner.heap.added=50000 $stacked $whole
            victim "sandbox_kill $way 4 2000" v.heap.allocations=8000 v.heap.added=400000 \
                inner.heap.added=400000 $stacked $whole
        done
        victim 'sandbox_kill racing 4 500' 'v.heap.allocations>=2000' $whole
        victim 'sandbox_kill signal 1 1000' v.heap.allocations=1500 all:stacks_missing=500 $whole
        # More stacks than there is room for: they are not told apart, and all is counted.
        victim 'sandbox_kill prctl 1 300000' v.heap.allocations=300000 v.heap.added=15000000 \
            v.heap.net=0 inner.open=0 cut=0 state=2 updating=0 events_lost=0 file_refused=0 \
            stacks_missing=0 'all:stacks_other>=1'
        # Of the strictest nothing is recorded, and that is said.
        victim 'sandbox_kill strict 1 1000' events_lost=1 state=1 updating=0 cut=0 \
            v.heap.allocations=1 v.open=1
    else
        skip sandbox_kill 'there is no seccomp here'
    fi
    if [ "$(id -u)" -eq 0 ]; then
        victim change_root $stuck
    else
        skip change_root 'needs root'
    fi

    # ---- descriptors and files ----
    victim descriptors v.heap.allocations=200 v.heap.net=0 $ended
    victim 'close_all closefrom' v.heap.allocations=20000 'all:used_bytes>=2000000' $ended
    before='ulimit -n 256'
    victim 'close_all loop' v.heap.allocations=20000 'all:used_bytes>=2000000' $ended
    traces=0
    victim 'lost_file unlink'

    # ---- other libraries ----
    victim own_inside v.heap.allocations=0 state=2
    victim deep_bind unknown_frees=10 v.heap.allocations=20 state=2
    victim other_namespace v.heap.allocations=1 v.heap.allocated=77 v.heap.net=0 $ended
    if [ -x "$folder/thread_sanitizer" ] && "$folder/thread_sanitizer" >/dev/null 2>&1; then
        traces=0
        victim thread_sanitizer
    else
        skip thread_sanitizer 'it is not in a library of its own here, or does not work'
    fi
    for victim in realloc_fails heap_race dlopen_module; do
        before="export LD_AUDIT=$folder/libvictim_audit.so"
        label="$victim, LD_AUDIT"
        victim $victim $ended
    done
}

# ---- what needs another way of running ----

replaced_file_is_left_alone() {
    grep -qx 'done' "$work/shim.out" && [ ! -s "$work/shim.err" ] &&
        [ "$(cat "$work/traces"/*.vtr)" = 'not a trace' ] &&
        mv "$work/traces"/*.moved "$work/moved.vtr" || return
    # shellcheck disable=SC2086
    expect "$work/moved.vtr" $stuck
}
stacks=all
rm -rf "$work/traces" "$work/cwd"
mkdir "$work/traces" "$work/cwd"
run_shimmed "$folder/lost_file" replace
replaced_file_is_left_alone >"$work/log" 2>&1
result 'lost_file replace: another file in the place of the trace is left alone' $? "$work/log"

# Opened by the program instead of preloaded: it sees what is asked of its own functions.
"$folder/load_late" >"$work/plain.out"
VOTRACE_OUTPUT=$work/late.vtr "$folder/load_late" "$lib" >"$work/shim.out" 2>"$work/log"
{
    cmp "$work/plain.out" "$work/shim.out" && expect "$work/late.vtr" v.heap.allocations=1 \
        v.heap.frees=1 v.heap.net=0 unknown_frees=5 state=2 events_lost=0
} >>"$work/log" 2>&1
result 'load_late: opened by the program' $? "$work/log"

# libc prints its version when it is run.
libc=$(ldd "$folder/load_late" | sed -n 's/.*libc\.so[^/]*\(\/[^ ]*\).*/\1/p')
if [ -x "$libc" ]; then
    "$libc" >"$work/plain.out" 2>&1
    LD_PRELOAD=$lib VOTRACE_OUTPUT=$work/%e.%p.vtr "$libc" >"$work/shim.out" 2>&1
    cmp "$work/plain.out" "$work/shim.out" >"$work/log" 2>&1
    result 'libc.so run as a program' $? "$work/log"
else
    skip 'libc.so run as a program' 'it is not executable here'
fi

# With another's rights the loader leaves LD_PRELOAD out: nothing is measured, nothing is said.
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}
rm -rf "$work/traces"
mkdir "$work/traces" "$work/suid" && chmod 711 "$work" && chmod 1777 "$work/traces"
cp "$folder/set_user" "$work/suid/set_user" && chmod 755 "$work/suid"
chmod 4755 "$work/suid/set_user"
if [ "$(id -u)" -eq 0 ] && as_nobody "$work/suid/set_user" >"$work/plain.out" 2>"$work/log" &&
    grep -q '^1' "$work/plain.out"; then
    as_nobody env LD_PRELOAD="$lib" VOTRACE_OUTPUT="$work/traces/%e.%p.vtr" \
        "$work/suid/set_user" >"$work/shim.out" 2>&1
    {
        diff "$work/plain.out" "$work/shim.out" && ls "$work/traces" &&
            [ -z "$(ls "$work/traces")" ]
    } >"$work/log" 2>&1
    result 'set_user, setuid' $? "$work/log"
else
    skip 'set_user, setuid' 'needs root, setpriv and a file system that honours setuid'
fi

# A folder that nobody may write: no trace, and the program does not notice.
mkdir "$work/sealed"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o ro,size=64k none "$work/sealed" 2>/dev/null; then
    sealed=$work/sealed
elif [ "$(id -u)" -ne 0 ]; then
    chmod 555 "$work/sealed"
fi
if [ ! -w "$work/sealed" ]; then
    output=$work/sealed/%e.%p.vtr
    trace_folder=$work/sealed
    traces=0
    label='malloc_zero, output folder read-only'
    victim malloc_zero
else
    skip 'malloc_zero, output folder read-only' 'a folder that cannot be written cannot be made'
fi
finish
