# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
# tap.sh: what the shell tests here share. Sourced.

tests=0
work=$(mktemp -d) || exit 1
trap 'cleanup; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# To be replaced by a test that has more to undo.
cleanup() {
    :
}

# Meson gives paths that begin in the build folder, and tests change folders.
absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
    esac
}

# result NAME STATUS LOG: one TAP line; LOG is shown when STATUS is not 0.
result() {
    tests=$((tests + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        sed 's/^/# /' "$3"
    fi
}

skip() {
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

finish() {
    echo "1..$tests"
}
