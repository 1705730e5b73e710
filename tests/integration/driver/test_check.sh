#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# votdriver check. data/check: NAME.expected is what it must say of NAME.vot, without the file's
# name; NAME.clean.vot has nothing wrong. Where the public files are, it must name what another
# decoder found odd in them, and nothing but what check_shared.txt says why.
set -u

driver=$1
data=$2/check
manual=$3
folder=$4
here=$(dirname "$0")
# shellcheck source=tests/integration/driver/tap.sh
. "$here/tap.sh"

# findings FILE OPTION...: to $work/findings, without the file's name; messages behind `stderr `.
findings() {
    findings_file=$1
    shift
    run check "$@" "$findings_file" >"$work/stdout" 2>"$work/stderr"
    findings_status=$?
    {
        sed "s|^$findings_file:||" "$work/stdout"
        sed "s|^votdriver: $findings_file:|stderr |" "$work/stderr"
    } >"$work/findings"
}

has_these_findings() {
    findings "$1" --all
    diff "${1%.vot}.expected" "$work/findings" || return 1
    case $(cat "$work/findings") in
    *stderr*) same status 2 "$findings_status" ;;
    *) same status 1 "$findings_status" ;;
    esac
}

is_clean() {
    findings "$1"
    cat "$work/findings"
    same status 0 "$findings_status" && [ ! -s "$work/findings" ]
}

# The codes that were found, each once, in order.
codes_found() {
    sed -n 's/^[0-9]*: [a-z]* \([A-Z][0-9][0-9]\): .*/\1/p' "$work/findings" | sort -u | tr '\n' ' '
}

every_code_is_tried() {
    run check --codes >"$work/codes" || return 1
    [ "$(wc -l <"$work/codes")" -gt 50 ] || return 1
    while read -r every_code every_severity every_rest; do
        cat "$data"/*.expected | grep -q ": $every_severity $every_code: " && continue
        printf 'no file in data/check has %s %s %s\n' "$every_code" "$every_severity" "$every_rest"
        every_missing=yes
    done <"$work/codes"
    [ -z "${every_missing-}" ]
}

every_code_is_in_the_manual() {
    run check --codes | while read -r manual_code manual_severity manual_words; do
        grep -q "^\.It $manual_code $manual_severity\$" "$manual" &&
            grep -qi "^$manual_words\.\$" "$manual" && continue
        printf '%s %s: %s\n' "$manual_code" "$manual_severity" "$manual_words"
    done >"$work/missing"
    cat "$work/missing"
    [ ! -s "$work/missing" ]
}

counts_what_is_alike() {
    findings "$data/report.range.vot"
    grep -q '^9: error C02: row 1, column .u.: .256. .* (and 4 more like it)$' "$work/findings" &&
        same lines 2 "$(wc -l <"$work/findings" | tr -d ' ')"
}

tells_the_worst_of_several() {
    run check "$data/base64.clean.vot" "$data/report.range.vot" "$data/base64.clean.vot" >/dev/null
    same 'one with findings' 1 "$?" || return 1
    run check "$data/report.range.vot" "$work/nowhere.vot" "$data/base64.clean.vot" >"$work/stdout" 2>&1
    same 'one that is not there' 2 "$?" && grep -q 'C02' "$work/stdout"
}

json_tells_the_same() {
    run check --json "$data/base64.cut-in-group.vot" >"$work/json"
    same status 1 "$?" || return 1
    same lines 1 "$(wc -l <"$work/json" | tr -d ' ')" || return 1
    grep -q '"version": "1.4", "complete": true, "findings": \[{"line": 4, "severity": "error", "code": "T01", "element": "TABLE", "count": 1, "text": "TABLE has nrows=\\"2\\" and 1 rows, correct nrows"}, ' \
        "$work/json" || return 1
    run check --json "$data/document.cut.vot" >"$work/json" 2>"$work/stderr"
    same status 2 "$?" && grep -q '"complete": false' "$work/json"
}

# Whether it arrives on standard input, gzipped, or in a file.
input_makes_no_difference() {
    run check - <"$data/report.range.vot" | sed 's/^-://' >"$work/from-stdin"
    gzip -c "$data/report.range.vot" >"$work/range"
    findings "$work/range"
    cp "$work/findings" "$work/from-gzip"
    findings "$data/report.range.vot"
    diff "$work/findings" "$work/from-stdin" && diff "$work/findings" "$work/from-gzip"
}

refuses_deep_nesting() {
    {
        echo '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">'
        awk 'BEGIN { for (i = 0; i < 100000; i++) print "<RESOURCE>" }'
    } >"$work/deep.vot"
    findings "$work/deep.vot"
    same status 2 "$findings_status" || return 1
    grep -q '^stderr 257: more than 256 elements are nested in one another, simplify the document or raise --max-depth' "$work/findings"
}

# A million findings: what is kept does not grow, and it takes no time.
keeps_one_of_a_million() {
    {
        echo '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>'
        echo '<FIELD name="i" datatype="int"/><DATA><TABLEDATA>'
        awk 'BEGIN { for (i = 0; i < 300000; i++) print "<TR><TD>x</TD></TR>" }'
        echo '</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>'
    } >"$work/many.vot"
    findings "$work/many.vot"
    same findings "3: error C01: row 1, column 'i': 'x' is no int (and 299999 more like it)" \
        "$(cat "$work/findings")"
}

# Every preset and format, and what convert makes of it. F03 and F04 are of columns that are one
# character on purpose.
own_output_is_clean() {
    own_presets=$(run --help | sed -n 's/^presets: //p')
    [ -n "$own_presets" ] || return 1
    for own_preset in $own_presets; do
        for own_format in tabledata binary binary2 fits; do
            run generate --preset "$own_preset" --rows 40 --null-fraction 0.2 --format "$own_format" \
                -o "$work/own.vot" || return 1
            run convert --format tabledata -o "$work/own-converted.vot" "$work/own.vot" || return 1
            for own_file in "$work/own.vot" "$work/own-converted.vot"; do
                findings "$own_file"
                grep -v ': warning F0[34]: ' "$work/findings" && return 1
                [ "$findings_status" -lt 2 ] || return 1
            done
        done
    done
    return 0
}

# ---- public files ----

# Codes that check_shared.txt lets this file have.
codes_allowed() {
    awk -v file="$1" '$1 == file { for (i = 2; i <= NF; i++) print $i }' "$here/check_shared.txt" |
        sort -u | tr '\n' ' '
}

has_only_known_findings() {
    findings "$folder/$1"
    same codes "$(codes_allowed "$1")" "$(codes_found)" || return 1
    [ "$findings_status" -lt 2 ] || grep -q '^stderr' "$work/findings"
}

# names_the_anomaly FILE CODE
names_the_anomaly() {
    findings "$folder/$1"
    case " $(codes_found)" in
    *" $2 "*) return 0 ;;
    esac
    cat "$work/findings"
    return 1
}

is_unreadable() {
    findings "$folder/$1"
    same status 2 "$findings_status"
}

# What the other decoder found: nrows that do not fit, cells that do not fit the FIELDs, no XML.
check_public_files() {
    sed -n 's/^{"file": "\([^"]*\)".*"anomalies": \["nrows=.*/\1 T01/p
            s/^{"file": "\([^"]*\)".*"anomalies": \["TD counts.*/\1 C05/p' \
        "$folder/facts.jsonl" >"$work/anomalies"
    while read -r file code; do
        check "$file: $code" names_the_anomaly "$file" "$code"
    done <"$work/anomalies"
    sed -n 's/^{"file": "\([^"]*\)".*"xml_error": .*/\1/p' "$folder/facts.jsonl" >"$work/unreadable"
    while read -r file; do
        check "$file is unreadable" is_unreadable "$file"
    done <"$work/unreadable"
    sed -n 's/^{"file": "\([^"]*\)".*/\1/p' "$folder/facts.jsonl" >"$work/files"
    while read -r file; do
        check "$file has known findings only" has_only_known_findings "$file"
    done <"$work/files"
}

for file in "$data"/*.vot; do
    name=${file##*/}
    case $name in
    *.clean.vot) check "$name is clean" is_clean "$file" ;;
    *) check "$name has its findings" has_these_findings "$file" ;;
    esac
done
check 'every code has a file that has it' every_code_is_tried
check 'every code is in votdriver(1), with the same words' every_code_is_in_the_manual
check 'what is alike is counted' counts_what_is_alike
check 'the worst of several files is the exit status' tells_the_worst_of_several
check '--json tells the same' json_tells_the_same
check 'gzip and standard input make no difference' input_makes_no_difference
check 'deep nesting is refused' refuses_deep_nesting
check 'one of many alike is kept' keeps_one_of_a_million
check 'what votdriver writes is clean' own_output_is_clean
if [ -f "$folder/facts.jsonl" ]; then
    check_public_files
else
    tests=$((tests + 1))
    echo "ok $tests - public files # SKIP no folder $folder"
fi
finish
