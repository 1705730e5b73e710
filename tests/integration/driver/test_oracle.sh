#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# votdriver stats against an independent decoder, on every table and column of the public files:
# nulls, items, sums, bytes and checksums of strings. What differs has its reason in
# oracle_exceptions.txt, with who is right; nothing else may, and nothing may be there in vain.
set -u

driver=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=tests/integration/driver/tap.sh
. "$here/tap.sh"

[ -f "$folder/expected.jsonl" ] || skip_all "no folder $folder"
command -v sqlite3 >/dev/null 2>&1 || skip_all 'no sqlite3 here (scripts/setup test installs it)'
run --help | grep -q '^votdriver stats ' || skip_all 'this votdriver has no stats'

separator=$(printf '\037')

# compare EXPECTED FOUND EXCEPTIONS: prints what differs.
compare() {
    mkdir -p "$work/compare" || return 1
    cp "$1" "$work/compare/expected" && cp "$2" "$work/compare/found" || return 1
    # FILE TABLE FIELD FIGURE; what begins with # is the reason.
    sed -e '/^#/d' -e '/^$/d' -e "s/ /$separator/g" "$3" >"$work/compare/exceptions"
    (cd "$work/compare" && sqlite3 -batch -bail :memory: <"$here/oracle.sql")
}

differs_nowhere() {
    compare "$1" "$2" "$3" >"$work/differences" || return 1
    sed -n 1,40p "$work/differences"
    [ ! -s "$work/differences" ]
}

every_file_is_counted() {
    sed -n 's/^{"file": "\([^"]*\)".*/\1/p' "$folder/expected.jsonl" | uniq >"$work/files"
    [ "$(wc -l <"$work/files")" -gt 100 ] || return 1
    : >"$work/found"
    every_status=0
    while IFS= read -r every_file; do
        if ! run stats --json "$folder/$every_file" >"$work/stats" 2>"$work/stderr"; then
            cat "$work/stderr"
            every_status=1
            continue
        fi
        same "lines of $every_file" 1 "$(wc -l <"$work/stats" | tr -d ' ')" || every_status=1
        printf '%s\037' "$every_file" >>"$work/found"
        cat "$work/stats" >>"$work/found"
    done <"$work/files"
    return "$every_status"
}

# The comparison itself must see a figure that is wrong, and an exception that is none.
sees_what_is_wrong() {
    sed 's/"items": 5,/"items": 6,/' "$folder/expected.jsonl" >"$work/wrong"
    ! compare "$work/wrong" "$work/found" "$here/oracle_exceptions.txt" |
        grep -q ' items: .* expected 6, found 5$' && return 1
    echo 'no/file.vot 0 0 sum' >"$work/in-vain"
    compare "$folder/expected.jsonl" "$work/found" "$work/in-vain" |
        grep -q '^no/file.vot 0 0 sum: no longer differs'
}

check 'every file with rows is read' every_file_is_counted
check 'every figure of every column is the same' differs_nowhere "$folder/expected.jsonl" \
    "$work/found" "$here/oracle_exceptions.txt"
check 'a wrong figure and a vain exception would be seen' sees_what_is_wrong
finish
