#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# stats beside STILTS, which was written by others: STILTS reads what generate wrote in one format,
# and writes it in another; stats must say the same of both, of every column. A slip in reading one
# format would show, because both formats would have to be misread alike.
set -u

driver=$1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# shellcheck source=tests/integration/driver/tap.sh
. "$here/tap.sh"

command -v stilts >/dev/null 2>&1 || skip_all 'no stilts here (the Debian package stilts has it)'
command -v sqlite3 >/dev/null 2>&1 || skip_all 'no sqlite3 here (scripts/setup test installs it)'

rows=60
separator=$(printf '\037')

# all-types as a --schema, without the columns that STILTS 3.4.7 cannot read from BINARY: it takes
# a single bit for an array, and the count of a variable complex array for one of reals.
binary_columns() {
    run generate --preset all-types --rows 1 --format tabledata -o "$work/columns.vot" || return 1
    sed -n -e 's/^<FIELD name="\([^"]*\)" datatype="\([^"]*\)" arraysize="\([^"]*\)".*/\1:\2[\3]/p' \
        -e 's/^<FIELD name="\([^"]*\)" datatype="\([^"]*\)">*.*/\1:\2/p' "$work/columns.vot" |
        sed -e '/^s_bit:/d' -e '/^[vx]_[fd]complex:/d' | paste -s -d, -
}

# What differs whatever the format, as NAME-PATTERN FIGURE-PATTERN: STILTS has no null in an array
# of booleans.
always='[fvmx]_boolean magic'

# agrees_on FILE FORMAT OTHER-FORMAT EXCEPTION...: of the file that STILTS reads.
agrees_on() {
    agrees_file=$1
    agrees_format=$2
    agrees_other=$3
    shift 3
    printf '%s\n' "$always" "$@" | sed "s/ /$separator/" >"$work/exceptions"
    run stats --json "$work/data.vot" >"$work/ours" || return 1
    stilts tcopy "in=$agrees_file" "ifmt=$agrees_format" "out=$work/again.vot" \
        "ofmt=votable-$agrees_other" || return 1
    run stats --json "$work/again.vot" >"$work/theirs" || return 1
    (cd "$work" && sqlite3 -batch -bail :memory: <"$here/stilts.sql") >"$work/differences" || return 1
    cat "$work/differences"
    # 53 columns with five figures or more.
    awk 'NR == 1 && $1 == "compared" && $2 > 280 { found = 1 } END { exit !found || NR > 1 }' \
        "$work/differences"
}

reads_tabledata() {
    run generate --preset all-types --rows "$rows" --format tabledata --null-fraction 0 \
        -o "$work/data.vot" && agrees_on "$work/data.vot" votable binary2
}

# reads_binary FORMAT NULL-FRACTION EXCEPTION...
reads_binary() {
    binary_format=$1
    binary_nulls=$2
    shift 2
    run generate --schema "$(binary_columns)" --rows "$rows" --format "$binary_format" \
        --null-fraction "$binary_nulls" -o "$work/data.vot" &&
        agrees_on "$work/data.vot" votable tabledata "$@"
}

# STILTS reads variable arrays from a FITS file by itself only. There it takes the count of complex
# arrays as above, and knows neither UTF-8 nor variable arrays of strings.
reads_fits() {
    run generate --preset all-types --rows "$rows" --format fits --null-fraction 0 \
        --stream-file data.fits -o "$work/data.vot" &&
        agrees_on "$work/data.fits" fits tabledata '[vx]_[fd]complex *' '[sfvmx]_unicode *' 'x_char *'
}

# The comparison itself must see a figure that is wrong.
sees_what_is_wrong() {
    run generate --preset numeric --rows 5 --format binary2 -o "$work/data.vot" || return 1
    run stats --json "$work/data.vot" >"$work/theirs" || return 1
    sed 's/"items":5,/"items":6,/g' "$work/theirs" >"$work/ours"
    printf '%s\n' 'flux items' | sed "s/ /$separator/" >"$work/exceptions"
    (cd "$work" && sqlite3 -batch -bail :memory: <"$here/stilts.sql") >"$work/differences" || return 1
    cat "$work/differences"
    grep -q '^id items: stats has 6, STILTS 5$' "$work/differences" &&
        ! grep -q '^flux' "$work/differences"
}

# By STILTS alone: nothing that stats reads again is between.
stilts_counts_scalars_alike() {
    run generate --schema 'a:int,b:short,c:unsignedByte,d:long' --rows "$rows" --format binary2 \
        --null-fraction 0.2 -o "$work/scalars.vot" || return 1
    run stats --json "$work/scalars.vot" | tr '{' '\n' |
        sed -n 's/^"name":"\(.\)","datatype":.*"nulls":\([0-9]*\),"items":\([0-9]*\),.*"min":\([-0-9]*\),"max":\([-0-9]*\).*/\1,\3,\2,\4,\5/p' \
            >"$work/ours"
    stilts tpipe "in=$work/scalars.vot" ifmt=votable cmd='stats Name NGood NBad Minimum Maximum' \
        omode=out ofmt=csv | sed 1d >"$work/theirs" || return 1
    same lines 4 "$(wc -l <"$work/ours" | tr -d ' ')" && diff "$work/ours" "$work/theirs"
}

check 'stats agrees with STILTS on all-types in TABLEDATA' reads_tabledata
check 'stats agrees with STILTS on all-types in BINARY' reads_binary binary 0
check 'stats agrees with STILTS on all-types in BINARY2' reads_binary binary2 0
# A single NaN and a single null real are one to STILTS.
check 'stats agrees with STILTS on nulls in BINARY2' reads_binary binary2 0.25 's_float n*' \
    's_double n*' 's_float items' 's_double items'
check 'stats agrees with STILTS on all-types in FITS' reads_fits
check 'stats agrees with STILTS on counts and bounds of scalars' stilts_counts_scalars_alike
check 'a wrong figure would be seen' sees_what_is_wrong
finish
