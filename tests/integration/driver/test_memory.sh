#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What a parse needs, as votrace measures it: the same every time, close to the columns for
# `stream`, and the differences between strategies that there are to be shown.
set -u

driver=$1
shim=$2
votreport=$3
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

[ -z "${VOTDRIVER_SANITIZED-}" ] || skip_all 'sanitizers and LD_PRELOAD refuse each other'

rows=4000
formats='tabledata binary binary2'
for format in $formats; do
    "$driver" generate --preset arrays --rows "$rows" --format "$format" -o "$work/$format.vot" ||
        exit 1
done

# measure STRATEGY FORMAT KEY: a number of the report.
measure() {
    VOTRACE_OUTPUT=$work/trace.vtr LD_PRELOAD=$shim "$driver" --json --strategy "$1" \
        "${3:-$work}/$2.vot" >"$work/json" || return 1
    sed -n "s/.*\"${4:-peak_added}\": \\([0-9]*\\).*/\\1/p" "$work/json"
}

is_below() {
    [ "$1" -lt "$2" ] && return 0
    echo "$1 is not below $2"
    return 1
}

is_repeatable() {
    mkdir -p "$work/a folder whose name is long/and nested"
    ln -sf "$work/$2.vot" "$work/a folder whose name is long/and nested/$2.vot"
    first=$(measure "$1" "$2") || return 1
    [ -n "$first" ] || return 1
    same again "$first" "$(measure "$1" "$2")" || return 1
    same elsewhere "$first" "$(measure "$1" "$2" "$work/a folder whose name is long/and nested")"
}

needs_little_more_than_the_values() {
    values=$(measure stream "$1" "$work" value_bytes) || return 1
    same values $((rows * 1552)) "$values" || return 1
    is_below "$(measure stream "$1")" $((values + values / 50 + 1048576))
}

buffer_needs_twice_as_much() {
    is_below $(($(measure stream "$1") * 2)) "$(measure buffer "$1")"
}

buffer_is_stream_for_tabledata() {
    same peak "$(measure stream tabledata)" "$(measure buffer tabledata)" &&
        same allocations "$(measure stream tabledata "$work" allocations)" \
            "$(measure buffer tabledata "$work" allocations)"
}

keeps_nothing_but_the_columns() {
    is_below "$(measure "$1" binary "$work" net)" $((rows * 1552 * 102 / 100 + 65536))
}

discarding_needs_a_megabyte() {
    VOTRACE_OUTPUT=$work/trace.vtr LD_PRELOAD=$shim "$driver" --json --discard \
        "$work/$1.vot" >"$work/json" || return 1
    peak=$(sed -n 's/.*"peak_added": \([0-9]*\).*/\1/p' "$work/json")
    is_below "$peak" 1048577
}

# peak REGION ARGUMENT...: what the region adds at its peak, by the trace.
peak() {
    peak_region=$1
    shift
    rm -f "$work/trace.vtr"
    VOTRACE_OUTPUT=$work/trace.vtr VOTRACE_STACKS=none LD_PRELOAD=$shim "$driver" "$@" \
        >/dev/null 2>"$work/err" || return 1
    "$votreport" dump "$work/trace.vtr" 2>/dev/null | awk -v "region=\"$peak_region\"" '
        $2 == region { inside = 1 }
        inside && $1 == "heap:" {
            split($3, start, "/")
            for (i = 1; i < NF; i++)
                if ($i == "peak") { print $(i + 1) - start[2]; exit }
        }'
}

# A megabyte is enough, and four times as many rows need no more than a few bytes of it.
# needs_a_megabyte_of_any_rows FORMAT REGION ARGUMENT...
needs_a_megabyte_of_any_rows() {
    any_format=$1
    shift
    few=$(peak "$@" "$work/few.$any_format.vot") && many=$(peak "$@" "$work/many.$any_format.vot") ||
        return 1
    is_below 100000 "$few" && is_below "$many" 1048577 && is_below "$many" $((few + 16384))
}

text_tells_the_same() {
    peak=$(measure stream binary) || return 1
    VOTRACE_OUTPUT=$work/trace.vtr LD_PRELOAD=$shim "$driver" "$work/binary.vot" >"$work/text" ||
        return 1
    same peak "$peak" \
        "$(sed -n 's/^peak added .*(\(.*\) bytes)$/\1/p' "$work/text" | tr -d ,)"
}

for format in $formats; do
    for strategy in stream buffer dom reader; do
        check "$strategy of $format needs the same bytes every time, wherever the file lies" \
            is_repeatable "$strategy" "$format"
    done
    check "--discard of $format needs a megabyte at most" discarding_needs_a_megabyte "$format"
    check "stream of $format needs little more than the values" \
        needs_little_more_than_the_values "$format"
done
for format in $formats fits; do
    "$driver" generate --preset numeric --rows 20000 --format "$format" -o "$work/few.$format.vot" &&
        "$driver" generate --preset numeric --rows 80000 --format "$format" \
            -o "$work/many.$format.vot" || exit 1
    check "--discard of $format needs a megabyte of any number of rows" \
        needs_a_megabyte_of_any_rows "$format" parse parse --discard
    check "stats of $format needs a megabyte of any number of rows" \
        needs_a_megabyte_of_any_rows "$format" stats stats
    for to in tabledata binary2 fits; do
        check "convert of $format to $to needs a megabyte of any number of rows" \
            needs_a_megabyte_of_any_rows "$format" convert convert --format "$to" -o /dev/null
    done
done
check 'buffer of binary needs more than twice as much as stream' buffer_needs_twice_as_much binary
check 'buffer of binary2 needs more than twice as much as stream' buffer_needs_twice_as_much binary2
check 'buffer of tabledata needs what stream needs, to the byte' buffer_is_stream_for_tabledata
for strategy in stream buffer dom reader; do
    check "$strategy keeps nothing but the columns" keeps_nothing_but_the_columns "$strategy"
done
check 'the report in lines tells the same peak' text_tells_the_same
finish
