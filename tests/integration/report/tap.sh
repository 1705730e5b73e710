# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# tap.sh: what the shell tests of votreport share. Sourced; each calls begin when it has its
# arguments, and finish at the end.

tests=0
unset LD_PRELOAD VOTRACE_OUTPUT VOTRACE_STACKS VOTRACE_DEPTH VOTRACE_CHILDREN VOTRACE_USABLE \
    VOTRACE_REGION VOTRACE_SIGNAL NO_COLOR

# meson gives paths relative to where it starts us; what is empty stays so.
absolute() {
    case $1 in
    /* | '') printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

# A folder of our own, with another for temporary files, which is to be empty at the end.
begin() {
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    cd "$work" || exit 1
    mkdir tmp
    TMPDIR=$work/tmp
    export TMPDIR
}

# result STATUS NAME: one line of TAP; when STATUS is not 0, out, err and a browser's console are
# shown.
result() {
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        head -n 20 out err console 2>/dev/null | cut -c 1-300 | sed 's/^/# /'
    fi
}

# status NAME WANTED COMMAND...: run it into out and err, and compare its exit status.
status() {
    status_name=$1
    status_wanted=$2
    shift 2
    "$@" >out 2>err
    status_is=$?
    [ "$status_is" -eq "$status_wanted" ] || echo "exit status $status_is" >>err
    result $((status_is != status_wanted)) "$status_name"
}

# says NAME FILE TEXT: a line of FILE contains TEXT.
says() {
    grep -qF -- "$3" "$2"
    result $? "$1"
}

# lacks NAME FILE TEXT: no line of FILE contains TEXT.
lacks() {
    ! grep -qF -- "$3" "$2"
    result $? "$1"
}

# line NAME TEXT: TEXT is all of err.
line() {
    [ "$(cat err)" = "$2" ]
    result $? "$1"
}

same() {
    [ "$2" = "$3" ] || echo "'$2' is not '$3'" >>err
    [ "$2" = "$3" ]
    result $? "$1"
}

# Values of a key in the JSON in out, one a line.
values() {
    sed -n "s/^ *\"$1\": \\(.*[^,]\\),*\$/\\1/p" out
}

# skip COUNT WHY: that many tests cannot run here.
skip() {
    skip_left=$1
    while [ "$skip_left" -gt 0 ]; do
        tests=$((tests + 1))
        skip_left=$((skip_left - 1))
        echo "ok $tests # SKIP $2"
    done
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

finish() {
    echo "1..$tests"
}
