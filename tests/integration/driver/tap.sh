# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
# tap.sh: what the shell tests here share. Sourced, with $driver set.

tests=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# check NAME COMMAND...: one test, passed when COMMAND succeeds.
check() {
    check_name=$1
    shift
    tests=$((tests + 1))
    if "$@" >"$work/check.log" 2>&1; then
        echo "ok $tests - $check_name"
    else
        echo "not ok $tests - $check_name"
        sed 's/^/# /' "$work/check.log"
    fi
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

finish() {
    echo "1..$tests"
}

# Never more memory or time than a small document may take. Kilobytes; empty: no limit.
run() (
    # Not in POSIX, but in dash, bash and busybox.
    # shellcheck disable=SC3045
    [ -z "${VOTDRIVER_MEMORY_KIB-}" ] || ulimit -v "$VOTDRIVER_MEMORY_KIB" || exit 1
    exec timeout 30 "$driver" "$@"
)

# The checksums of a document's tables, one a line.
checksums() {
    run "$@" >"$work/report" || return 1
    sed -n 's/^checksum *//p' "$work/report"
}

# same WHAT A B: fail and show both when the texts differ.
same() {
    [ "$2" = "$3" ] && return 0
    printf '%s:\n  %s\n  %s\n' "$1" "$2" "$3"
    return 1
}

# fails_with MESSAGE ARGUMENT...: exit status 2, nothing on stdout, this one line on stderr.
fails_with() {
    fails_wanted=$1
    shift
    run "$@" >"$work/stdout" 2>"$work/stderr"
    same 'exit status' 2 "$?" || return 1
    same 'stdout' '' "$(cat "$work/stdout")" || return 1
    same 'stderr' "$fails_wanted" "$(cat "$work/stderr")"
}
