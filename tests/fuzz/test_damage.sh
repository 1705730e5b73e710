#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_damage.sh LIBVOTRACE DAMAGE VICTIM [--traces FOLDER] [OPTION...]
#
# Make traces of real runs on the spot (of one thread and several, with regions, killed, with
# stacks and without) and damage them, see damage.c. Options are passed on: a long run is
#
#     test_damage.sh LIBVOTRACE DAMAGE VICTIM --executions 1000000 --seed 7
#
# With --traces the traces are made there and stay, or are used when they are there already: no
# two runs of threads leave the same trace, so that is how to do an execution again.
set -u

absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
    esac
}

lib=$(absolute "$1")
damage=$(absolute "$2")
victim=$(absolute "$3")
shift 3
if [ "${1-}" = --traces ] && [ $# -ge 2 ]; then
    work=$(absolute "$2")
    mkdir -p "$work" || exit 1
    shift 2
else
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
fi

# record NAME STACKS ARGUMENT...: a run of the victim; a kill is no failure of ours.
record() {
    record_name=$1
    record_stacks=$2
    shift 2
    [ ! -s "$work/$record_name.vtr" ] || return 0
    env LD_PRELOAD="$lib" VOTRACE_OUTPUT="$work/$record_name.vtr" \
        VOTRACE_STACKS="$record_stacks" "$victim" "$@" >/dev/null 2>&1
    [ -s "$work/$record_name.vtr" ] && return 0
    echo "# no trace of $record_name"
    return 1
}

record one all exit 1 3 3000 &&
    record totals none exit 1 2 3000 &&
    record many region exit 1 24 6000 &&
    record threads all exit 4 2 3000 &&
    record killed all kill 1 2 3000 &&
    record killed-1 all kill 4 2 3000 &&
    record killed-2 region kill 3 3 3000 &&
    record killed-3 none kill 4 1 3000 || exit 1

# What a sanitizer has to say is a crash, see damage.c.
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
"$damage" "$@" "$work"/*.vtr
