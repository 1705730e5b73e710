#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The options of parse: what is not asked for is not read, and documents that ask for too much
# are refused early, in every strategy.
set -u

driver=$1
data=$2
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

strategies='stream buffer dom reader'
formats='tabledata binary binary2 fits'
rows=3000
for format in $formats; do
    "$driver" generate --preset mixed --rows "$rows" --format "$format" -o "$work/$format.vot" ||
        exit 1
done

# fact KEY ARGUMENT...: a number or text of the JSON report.
fact() {
    fact_key=$1
    shift
    run --json "$@" >"$work/json" || return 1
    sed -n "s/.*\"$fact_key\": \"\\{0,1\\}\\([0-9a-z]*\\).*/\\1/p" "$work/json"
}

columns_are_the_same_in_every_format_and_strategy() {
    wanted=$(fact checksum --columns flux,id "$work/binary.vot") || return 1
    for format in $formats; do
        for strategy in $strategies; do
            same "$format $strategy" "$wanted" \
                "$(fact checksum --columns flux,id --strategy "$strategy" "$work/$format.vot")" ||
                return 1
        done
    done
    [ "$wanted" != "$(fact checksum --columns flux "$work/binary.vot")" ]
}

columns_cost_only_themselves() {
    for format in $formats; do
        same "$format" $((rows * 8)) "$(fact value_bytes --columns flux "$work/$format.vot")" ||
            return 1
    done
}

limit_is_the_start_of_the_table() {
    "$driver" generate --preset numeric --rows 10 --format tabledata -o "$work/ten.vot" || return 1
    "$driver" generate --preset numeric --rows 5000 --format tabledata -o "$work/all.vot" ||
        return 1
    wanted=$(fact checksum "$work/ten.vot") || return 1
    for format in $formats; do
        "$driver" generate --preset numeric --rows 5000 --format "$format" -o "$work/all.vot" ||
            return 1
        for strategy in $strategies; do
            same "$format $strategy" "$wanted" \
                "$(fact checksum --limit 10 --strategy "$strategy" "$work/all.vot")" || return 1
        done
    done
}

tables_are_chosen_by_number_and_name() {
    run --tables 2,first "$data/valid/structure.vot" | sed -n 's/^table *//p' >"$work/names"
    printf 'first\nsecond\n' >"$work/wanted"
    diff "$work/wanted" "$work/names"
}

discarded_bytes_are_those_that_would_be_kept() {
    for format in $formats; do
        same rows "$rows" "$(fact rows --discard "$work/$format.vot")" || return 1
        kept=$(fact value_bytes "$work/$format.vot") || return 1
        same bytes "$kept" "$(fact value_bytes --discard "$work/$format.vot")" || return 1
    done
}

every_file_is_told_of() {
    run --json "$work/binary.vot" "$work/nowhere.vot" "$work/tabledata.vot" >"$work/json" \
        2>"$work/stderr"
    same status 2 "$?" || return 1
    same reports 2 "$(wc -l <"$work/json" | tr -d ' ')" || return 1
    same problems 1 "$(wc -l <"$work/stderr" | tr -d ' ')"
}

strategies_are_explained_in_a_line_each() {
    run strategies >"$work/out" || return 1
    same strategies "$strategies" "$(sed 's/ .*//' "$work/out" | tr '\n' ' ' | sed 's/ $//')"
}

warnings_are_told_once_with_a_count() {
    awk 'BEGIN {
        print "<VOTABLE><RESOURCE><TABLE><FIELD name=\"i\" datatype=\"int\"/><DATA><TABLEDATA>"
        for (i = 0; i < 10000; i++) print "<TR><TD>none</TD></TR>"
        print "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    }' >"$work/warned.vot"
    run --repeat 3 "$work/warned.vot" >"$work/stdout" 2>"$work/stderr" || return 1
    same warning "votdriver: $work/warned.vot:2: warning W01: 'none' in column 'i' is no int, correct the cell or the datatype (10000 times)" \
        "$(cat "$work/stderr")"
}

# refuses_in_every_strategy FILE WORDS OPTION...
refuses_in_every_strategy() {
    refuses_file=$1
    refuses_words=$2
    shift 2
    for strategy in $strategies; do
        fails_with "votdriver: $refuses_file:$refuses_words" --strategy "$strategy" "$@" \
            "$refuses_file" || return 1
    done
}

make_fields() {
    awk 'BEGIN {
        printf "<VOTABLE><RESOURCE><TABLE ID=\"a\">"
        for (i = 0; i < 70000; i++) printf "<FIELD name=\"i\" datatype=\"int\"/>"
        print "</TABLE></RESOURCE></VOTABLE>"
    }' >"$work/fields.vot"
}

make_refs() {
    awk 'BEGIN {
        print "<VOTABLE><RESOURCE><TABLE ID=\"a\">"
        for (i = 0; i < 100; i++) print "<FIELD name=\"i\" datatype=\"int\"/>"
        print "</TABLE>"
        for (i = 0; i < 2000; i++) printf "<TABLE ref=\"a\"/>"
        print "</RESOURCE></VOTABLE>"
    }' >"$work/refs.vot"
}

make_deep() {
    awk 'BEGIN { printf "<VOTABLE>"; for (i = 0; i < 50000; i++) printf "<GROUP>" }' >"$work/deep.vot"
}

reads_more_fields_when_allowed() {
    make_fields
    same columns 70000 "$(fact columns --max-fields 70000 "$work/fields.vot")"
}

reads_what_a_writer_puts_into_a_pipe() {
    mkfifo "$work/pipe" || return 1
    cat "$work/binary.vot" >"$work/pipe" &
    wanted=$(fact checksum "$work/binary.vot") || return 1
    same checksum "$wanted" "$(fact checksum "$work/pipe")"
}

check 'chosen columns are the same in every format and strategy' \
    columns_are_the_same_in_every_format_and_strategy
check 'a chosen column costs what it holds' columns_cost_only_themselves
check '--limit gives the first rows' limit_is_the_start_of_the_table
check 'tables are chosen by number and name' tables_are_chosen_by_number_and_name
check '--discard decodes everything' discarded_bytes_are_those_that_would_be_kept
check 'several files: each is told of, one that fails too' every_file_is_told_of
check 'strategies are explained in a line each' strategies_are_explained_in_a_line_each
check 'warnings are told once, with a count' warnings_are_told_once_with_a_count
check 'a column that is not there is refused' refuses_in_every_strategy "$work/tabledata.vot" \
    "4: table 'mixed' has no FIELD 'nope', correct --columns or choose other tables with --tables" \
    --columns id,nope
check 'a table that is not there is refused' refuses_in_every_strategy "$work/tabledata.vot" \
    " has no table '2', correct --tables: numbers count from 1, names are those of TABLE name or ID" \
    --tables 2
make_fields
check 'too many FIELDs are refused' refuses_in_every_strategy "$work/fields.vot" \
    '1: a TABLE has more than 65536 FIELDs, split it or raise --max-fields'
check 'more FIELDs are read when that is allowed' reads_more_fields_when_allowed
make_refs
check 'too many repeated FIELDs are refused' refuses_in_every_strategy "$work/refs.vot" \
    '103: TABLE refs repeat more than 16 times 100 FIELDs, split the document or raise --max-fields' \
    --max-fields 100
make_deep
check 'deep nesting is refused' refuses_in_every_strategy "$work/deep.vot" \
    '1: more than 256 elements are nested in one another, simplify the document or raise --max-depth'
check 'a pipe in the file system is read' reads_what_a_writer_puts_into_a_pipe
check 'a number that is none is refused' fails_with \
    "votdriver: --limit '0' is no whole number from 1 to 2^63-1, correct it" --limit 0 x.vot
check 'standard input is not read twice' fails_with \
    'votdriver: standard input can be read only once, name a file for --repeat' --repeat 2 -
finish
