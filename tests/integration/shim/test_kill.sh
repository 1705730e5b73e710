#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_kill.sh LIBVOTRACE KILL_OFTEN ALLOCATE_FOREVER STEP_EVENTS STEPPED [TIMES]
#
# kill -9 at random moments, with 1 and 4 threads, with stacks and without, and between every two
# instructions of a few events: what is left holds.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
kill_often=$(absolute "$2")
victim=$(absolute "$3")
step_events=$(absolute "$4")
stepped=$(absolute "$5")
times=${6:-150}

export MALLOC_PERTURB_=0
for stacks in all none; do
    for threads in 1 4; do
        "$kill_often" "$lib" "$work" "$times" "$stacks" "$victim" "$threads" >"$work/log" 2>&1
        status=$?
        grep '^#' "$work/log"
        result "$times kills, $threads threads, stacks $stacks" "$status" "$work/log"
    done
done

# Not killed, but stopped: every state that a kill could leave.
for what in all none usable; do
    case $what in
    usable) export VOTRACE_STACKS=none VOTRACE_USABLE=yes ;;
    *) export VOTRACE_STACKS="$what" ;;
    esac
    name="every instruction of a few events, $what"
    "$step_events" "$lib" "$work/stepped.$what.vtr" "$stepped" >"$work/log" 2>&1
    status=$?
    if [ "$status" -eq 77 ]; then
        skip "$name" 'ptrace() is not allowed'
        continue
    fi
    grep '^#' "$work/log"
    result "$name" "$status" "$work/log"
done
finish
