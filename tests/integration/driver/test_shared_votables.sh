#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Real files of public projects: every one is either parsed, with the same checksums in every
# strategy, or refused in one line. Twins in other serializations hold the same.
set -u

driver=$1
folder=$2
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

[ -d "$folder" ] || skip_all "no folder $folder"

is_parsed_alike_or_refused() {
    alike_status=
    for alike_strategy in stream buffer dom reader; do
        run --strategy "$alike_strategy" "$1" >"$work/report" 2>"$work/stderr"
        alike_now="$? $(sed -n 's/^checksum *//p' "$work/report" | tr '\n' ' ')"
        same "$alike_strategy" "${alike_status:=$alike_now}" "$alike_now" || return 1
        case $alike_now in
        '0 '*)
            ! grep -v "^votdriver: $1:[0-9]*: warning W[0-9][0-9]: .*, .*" "$work/stderr" ||
                return 1
            ;;
        *)
            same status '2 ' "$alike_now" || return 1
            same lines 1 "$(wc -l <"$work/stderr" | tr -d ' ')" || return 1
            grep -q "^votdriver: $1:.*, .*" "$work/stderr" || return 1
            ;;
        esac
    done
}

hold_the_same() {
    hold_first=$(checksums "$folder/$1") || return 1
    shift
    for hold_file in "$@"; do
        hold_other=$(checksums "$folder/$hold_file") || return 1
        same "$hold_file" "$hold_first" "$hold_other" || return 1
    done
}

# Row counts of an independent decoder: expected.jsonl, one line for each table with rows.
rows_are_as_expected() {
    sed -n 's/^{"file": "\([^"]*\)", "table": [0-9]*, "ser": "\([A-Z0-9]*\)", "rows": \([0-9]*\), .*/\1 \2 \3/p' \
        "$folder/expected.jsonl" | sort -u -k 1,1 >"$work/first-tables"
    while read -r rows_file rows_serialization rows_count; do
        run "$folder/$rows_file" >"$work/report" 2>"$work/stderr" || continue
        # Its first table with rows is the one that is listed first.
        rows_found=$(awk '/^rows / && $2 != 0 { gsub(",", "", $2); rows = $2 }
            /^serialization / && rows { print toupper($2), rows; exit }' "$work/report")
        same "$rows_file" "$rows_serialization $rows_count" "$rows_found" || return 1
    done <"$work/first-tables"
    [ "$(wc -l <"$work/first-tables")" -gt 50 ]
}

find "$folder" -type f ! -name '*.py' ! -name '*.jsonl' ! -name '*.md' | sort >"$work/files"
while IFS= read -r file; do
    check "${file#"$folder"/}" is_parsed_alike_or_refused "$file"
done <"$work/files"

# BINARY has no null for bits and for integers without VALUES null, so vec-binary.vot and
# test-binary.vot are not among their twins.
check 'vectors' hold_the_same vectors/vec-tabledata.vot vectors/vec-binary2.vot
jl=VOTables.jl/test/data
check 'VOTables.jl test' hold_the_same "$jl/test-tabledata.vot" "$jl/test-binary2.vot"
check 'VOTables.jl complex' hold_the_same "$jl/complex-tabledata.vot" "$jl/complex-binary.vot" \
    "$jl/complex-binary2.vot"
cds='cds-votable-rust/resources'
check 'cds binary' hold_the_same "$cds/binary.b64" "$cds/binary.b264"
check 'cds gaia_dr3' hold_the_same "$cds/gaia_dr3.b64" "$cds/gaia_dr3.b264"
[ ! -f "$folder/expected.jsonl" ] || check 'row counts of an independent decoder' rows_are_as_expected
finish
