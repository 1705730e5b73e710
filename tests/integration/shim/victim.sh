# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# victim.sh: how a victim is run and judged. Sourced after tap.sh, with $lib, $vtrcheck and
# $folder set.
#
# Each victim runs without the library, and with it, taking stacks and not: standard output,
# standard error and exit status must be the same, every trace must hold, and the trace must
# say what the victim did. Variables set before `victim` hold for the next one only: see reset.

export MALLOC_PERTURB_=0

# Run a command line as the victim $name: in its own folder, what it prints in $work/NAME.*
# Subshell: limits and variables stay inside.
run_plain() (
    cd "$work/cwd" || exit 1
    eval "${before:-:}"
    timeout 60 env LD_PRELOAD="$also" "$@" >"$work/plain.out" 2>"$work/plain.err" </dev/null
)

run_shimmed() (
    cd "$work/cwd" || exit 1
    eval "${before:-:}"
    [ "$output" = default ] || export VOTRACE_OUTPUT="$output"
    # env stands between, so that timeout itself is not traced.
    exec timeout 60 env VOTRACE_STACKS="$stacks" LD_PRELOAD="$lib${also:+ $also}" "$@" \
        >"$work/shim.out" 2>"$work/shim.err" </dev/null
)

# Options of the next victim, put back after it.
reset() {
    before=
    also= # libraries preloaded in both runs
    output=$work/traces/%e.%p.vtr
    trace_folder=$work/traces
    traces=1
    program=
    all_stacks='all none'
}
reset

# expect TRACE EXPECTATION...: those that begin with all: hold only where stacks are taken.
expect() {
    expect_trace=$1
    shift
    expect_these=
    for expectation; do
        case $expectation in
        all:*) [ "$stacks" != all ] || expect_these="$expect_these ${expectation#all:}" ;;
        *) expect_these="$expect_these $expectation" ;;
        esac
    done
    # shellcheck disable=SC2086
    "$vtrcheck" "$expect_trace" $expect_these
}

# The checks of one shimmed run; prints what is wrong.
compare() {
    wrong=0
    if [ "$plain_status" -ne "$shim_status" ]; then
        echo "exit status $shim_status instead of $plain_status"
        wrong=1
    fi
    cmp "$work/plain.out" "$work/shim.out" || wrong=1
    cmp "$work/plain.err" "$work/shim.err" || { cat "$work/shim.err"; wrong=1; }
    count=0
    for trace in "$trace_folder"/*.vtr*; do
        [ -e "$trace" ] || continue
        count=$((count + 1))
        case $trace in
        */"$program".*.vtr | */votrace."$program".*.vtr) expect "$trace" "$@" || wrong=1 ;;
        *) "$vtrcheck" "$trace" || wrong=1 ;;
        esac
    done
    if [ "$count" -ne "$traces" ]; then
        echo "$count traces instead of $traces:"
        ls "$trace_folder"
        wrong=1
    fi
    return $wrong
}

# victim 'COMMAND [ARGUMENT...]' EXPECTATION...
victim() {
    victim_command=$1
    shift
    name=${label:-$victim_command}
    label=
    # shellcheck disable=SC2086
    set -- "$victim_command" "$@"
    command=$1
    shift
    [ -n "$program" ] || program=${command%% *}
    for stacks in $all_stacks; do
        rm -rf "$work/traces" "$work/cwd"
        mkdir "$work/traces" "$work/cwd"
        # shellcheck disable=SC2086
        run_plain "$folder"/$command
        plain_status=$?
        # shellcheck disable=SC2086
        run_shimmed "$folder"/$command
        shim_status=$?
        compare "$@" >"$work/log" 2>&1
        result "$name, stacks $stacks" $? "$work/log"
    done
    reset
}

complete='unknown_frees=0 events_lost=0 table_refused=0 stacks_other=0 settings_ignored=0 malloc_elsewhere=0'
ended="state=2 updating=0 file_refused=0 $complete"
