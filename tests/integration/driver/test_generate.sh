#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Generated tables: the same bytes on every machine, the same values in every format.
set -u

driver=$1
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

presets='all-types arrays bit-arrays booleans long-strings mixed numeric short-strings small
    string-intensive strings'
formats='tabledata binary binary2 fits'

generate() {
    run generate --rows 100 --seed 7 "$@"
}

# The checksum of the values and, for every format, the bytes: see the table at the end.
has_bytes() {
    generate --preset "$1" --format "$2" >"$work/table.vot" || return 1
    same bytes "$3" "$(cksum <"$work/table.vot")" || return 1
    same values "$4" "$(checksums "$work/table.vot")"
}

xml_is_well_formed() {
    command -v xmllint >"$work/which" || return 0
    for format in $formats; do
        generate --preset "$1" --format "$format" | xmllint --noout - || return 1
    done
}

seeds_differ() {
    first=$(generate --preset mixed --format binary | cksum)
    second=$(generate --preset mixed --format binary --seed 8 | cksum)
    [ "$first" != "$second" ]
}

rows_are_a_prefix_of_more_rows() {
    generate --preset numeric --format tabledata | grep '^<TR>' >"$work/few"
    run generate --preset numeric --format tabledata --rows 150 --seed 7 | grep '^<TR>' |
        head -n 100 >"$work/many"
    cmp "$work/few" "$work/many"
}

# A schema has the columns that it names; a line is as long as it is asked to be.
schema_makes_its_columns() {
    run generate --schema 'a:double[2x3],b:char[*],c:long' --rows 10 --null-fraction 0.5 \
        --format binary2 --line-length 32 -o "$work/schema.vot" || return 1
    same fields '<FIELD name="a" datatype="double" arraysize="2x3"/>
<FIELD name="b" datatype="char" arraysize="*"/>
<FIELD name="c" datatype="long"><VALUES null="-9223372036854775808"/></FIELD>' \
        "$(grep '<FIELD' "$work/schema.vot")" || return 1
    same 'longest line' 32 \
        "$(sed -n '/<STREAM/,/<.STREAM/p' "$work/schema.vot" | grep -v '<' |
            awk 'length > most { most = length } END { print most }')" || return 1
    run generate --schema 'a:double[2x3],b:char[*],c:long' --rows 10 --null-fraction 0.5 \
        --format binary2 --line-length 0 --cdata -o "$work/line.vot" || return 1
    same 'lines of the stream' 3 "$(sed -n '/<STREAM/,/<.STREAM/p' "$work/line.vot" | wc -l)" ||
        return 1
    same values "$(checksums "$work/schema.vot")" "$(checksums "$work/line.vot")"
}

nulls_leave_the_other_values_alone() {
    generate --preset numeric --format tabledata --null-fraction 0.25 >"$work/nulls.vot" ||
        return 1
    nulls=$(grep -o '<TD></TD>' "$work/nulls.vot" | wc -l)
    [ "$nulls" -gt 120 ] && [ "$nulls" -lt 230 ] || return 1
    generate --preset numeric --format tabledata --null-fraction 0 | grep '^<TR>' >"$work/whole"
    grep '^<TR>' "$work/nulls.vot" | sed 's/<TD><.TD>/<TD>[^<]*<.TD>/g; s/[+]/[+]/g' |
        paste -d '\n' - "$work/whole" |
        awk 'NR % 2 { wanted = "^" $0 "$"; next } $0 !~ wanted { exit 1 }'
}

cdata_needs_no_entities() {
    generate --preset strings --format tabledata --cdata >"$work/cdata.vot" || return 1
    grep -q '<!\[CDATA\[Extended.*<blended>\]\]>' "$work/cdata.vot" || return 1
    same values 3b78af3abfe617e8 "$(checksums "$work/cdata.vot")"
}

gzip_is_by_name() {
    generate --preset mixed --format binary -o "$work/mixed.vot.gz" || return 1
    generate --preset mixed --format binary >"$work/mixed.vot" || return 1
    gzip -dc "$work/mixed.vot.gz" | cmp - "$work/mixed.vot"
}

# The document names the file without a folder, and neither has the other's bytes.
stream_is_a_file_beside() {
    mkdir "$work/beside" || return 1
    generate --preset mixed --format binary -o "$work/beside/t.vot" --stream-file t.bin.gz ||
        return 1
    grep -q '^<STREAM href="t.bin.gz" encoding="gzip"/>$' "$work/beside/t.vot" || return 1
    generate --preset mixed --format binary | sed -n '/<STREAM/,/<.STREAM/p' | grep -v '<' |
        base64 -d >"$work/inline.bin" || return 1
    gzip -dc "$work/beside/t.bin.gz" | cmp - "$work/inline.bin"
}

interrupted_leaves_nothing() {
    mkdir "$work/interrupted" || return 1
    for signal in HUP INT PIPE TERM; do
        # dash starts what is in the background with SIGINT ignored; env puts it back.
        env --default-signal="$signal" "$driver" generate --preset arrays --rows 100000000 \
            --format binary -o "$work/interrupted/t.vot" &
        writer=$!
        tries=0
        while [ -z "$(ls -A "$work/interrupted")" ] && [ "$tries" -lt 100 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        kill -s "$signal" "$writer"
        wait "$writer" && return 1
        same "files after $signal" '' "$(ls -A "$work/interrupted")" || return 1
    done
}

writes_no_rows() {
    run generate --preset mixed --format binary2 --rows 0 -o "$work/none.vot" &&
        run "$work/none.vot" | grep -q '^rows *0$'
}

file_and_stdout_are_the_same() {
    generate --preset strings --format tabledata -o "$work/file.vot" &&
        generate --preset strings --format tabledata | cmp - "$work/file.vot"
}

leaves_the_old_file_and_nothing_else() {
    mkdir "$work/full" && echo old >"$work/full/t.vot" || return 1
    # A file size limit stands for a full disk; the signal must not end the program.
    (
        trap '' XFSZ
        ulimit -f 8
        exec "$driver" generate --preset arrays --rows 1000 --format binary -o "$work/full/t.vot"
    ) >"$work/stdout" 2>"$work/stderr"
    same status 2 "$?" || return 1
    same stderr "votdriver: $work/full/t.vot: cannot be written: File too large, write elsewhere" \
        "$(cat "$work/stderr")" || return 1
    same files t.vot "$(ls -A "$work/full")" || return 1
    same content old "$(cat "$work/full/t.vot")"
}

replaces_what_a_link_points_to() {
    echo old >"$work/target.vot" && ln -s target.vot "$work/link.vot" || return 1
    generate --preset numeric --format binary -o "$work/link.vot" || return 1
    [ -L "$work/link.vot" ] && checksums "$work/target.vot"
}

while read -r preset format bytes size values; do
    check "$preset as $format has the bytes and values it always had" \
        has_bytes "$preset" "$format" "$bytes $size" "$values"
done <<EOT
all-types tabledata 2076322290 299532 9c9eb949b5cdb4d2
all-types binary 1478198737 161437 9c9eb949b5cdb4d2
all-types binary2 841165913 162519 9c9eb949b5cdb4d2
arrays tabledata 3285964162 379313 e33b3a38187dea19
arrays binary 2443610931 210684 e33b3a38187dea19
arrays binary2 1241564437 210820 e33b3a38187dea19
bit-arrays tabledata 2666432096 19748 071fddbde81c04ac
bit-arrays binary 2596005441 3046 071fddbde81c04ac
bit-arrays binary2 3531685356 3186 071fddbde81c04ac
booleans tabledata 1445355168 13210 d56f75457d64deee
booleans binary 3348882345 2840 d56f75457d64deee
booleans binary2 3917792211 3110 d56f75457d64deee
long-strings tabledata 2344147701 11382 b9d91e0e19dd1920
long-strings binary 3351678071 12101 b9d91e0e19dd1920
long-strings binary2 2482020722 12237 b9d91e0e19dd1920
mixed tabledata 3883034711 17531 d6743de6045132f2
mixed binary 4044921544 8860 d6743de6045132f2
mixed binary2 3751561652 9134 d6743de6045132f2
numeric tabledata 592889508 12988 ca075fac2df49914
numeric binary 1257497060 5011 ca075fac2df49914
numeric binary2 1405086151 5151 ca075fac2df49914
short-strings tabledata 2597602055 11397 f7136b90a07fd5d5
short-strings binary 2647448127 7616 f7136b90a07fd5d5
short-strings binary2 1615132275 7752 f7136b90a07fd5d5
small tabledata 3622651916 6709 16e64bae3c936939
small binary 2644714540 2005 16e64bae3c936939
small binary2 1001972244 2146 16e64bae3c936939
string-intensive tabledata 3578419206 16593 01149d2f8a42be07
string-intensive binary 4204360495 18592 01149d2f8a42be07
string-intensive binary2 3502833581 18733 01149d2f8a42be07
strings tabledata 3170476512 17627 3b78af3abfe617e8
strings binary 4099757415 14487 3b78af3abfe617e8
strings binary2 1895530876 14623 3b78af3abfe617e8
EOT
for preset in $presets; do
    check "$preset is well-formed XML" xml_is_well_formed "$preset"
done
check 'a schema makes the columns it names, lines are as long as asked' schema_makes_its_columns
check 'nulls are as many as asked and leave the other values alone' \
    nulls_leave_the_other_values_alone
check 'CDATA holds what would need entities' cdata_needs_no_entities
check 'a name in .gz is compressed' gzip_is_by_name
check 'a STREAM is a file beside the document' stream_is_a_file_beside
check 'a signal leaves no file' interrupted_leaves_nothing
check 'another seed gives other bytes' seeds_differ
check 'more rows begin with the same rows' rows_are_a_prefix_of_more_rows
check 'a table of no rows is written and read' writes_no_rows
check 'a file and standard output get the same' file_and_stdout_are_the_same
check 'a failed write leaves the old file and nothing else' leaves_the_old_file_and_nothing_else
check 'a link stays, its target is replaced' replaces_what_a_link_points_to
check 'a full device is one line' fails_with \
    'votdriver: /dev/full: cannot be written: No space left on device, free some space or write elsewhere' \
    generate --preset mixed --format binary --rows 10 -o /dev/full
check 'an unwritable place is one line' fails_with \
    "votdriver: $work/no/such/t.vot: cannot be written: No such file or directory, write elsewhere" \
    generate --preset mixed --format binary --rows 10 -o "$work/no/such/t.vot"
report_that_cannot_be_written() {
    run generate --preset mixed --format binary --rows 1 -o "$work/one.vot" || return 1
    run "$work/one.vot" 2>"$work/stderr" >&-
    same 'exit status' 2 "$?" || return 1
    same stderr 'votdriver: the report cannot be written: Bad file descriptor' \
        "$(cat "$work/stderr")" || return 1
    [ -c /dev/full ] || return 0
    run "$work/one.vot" 2>"$work/stderr" >/dev/full
    same 'exit status' 2 "$?" || return 1
    same stderr \
        'votdriver: the report cannot be written: No space left on device, free some space' \
        "$(cat "$work/stderr")"
}
check 'space is asked for only when there is none' report_that_cannot_be_written
check 'a folder is one line' fails_with \
    "votdriver: $work: cannot be written: Is a directory, write elsewhere" \
    generate --preset mixed --format binary --rows 10 -o "$work"
check 'a wrong option is said by the name of the program' fails_with \
    "votdriver: unrecognized option '--frobnicate'
Try 'votdriver --help'." generate --frobnicate
check 'an unknown preset is refused' fails_with \
    "votdriver: no preset 'none', use one of those that --help lists" \
    generate --preset none --format binary --rows 1
check 'an unknown format is refused' fails_with \
    "votdriver: no format 'hdf5', use tabledata, binary, binary2 or fits" \
    generate --preset mixed --format hdf5 --rows 1
check 'a schema of an unknown datatype is refused' fails_with \
    "votdriver: schema column 'a' has datatype 'real', which VOTable does not know, use one of its twelve" \
    generate --schema a:real --format binary --rows 1
check 'a schema without a datatype is refused' fails_with \
    "votdriver: schema entry 'b' is not name:datatype or name:datatype[arraysize], correct it" \
    generate --schema a:int,b --format binary --rows 1
check 'a line that is no multiple of four is refused' fails_with \
    "votdriver: --line-length '62' is no multiple of 4, which groups of base64 are, correct it" \
    generate --preset mixed --format binary --rows 1 --line-length 62
check 'a fraction beyond one is refused' fails_with \
    "votdriver: --null-fraction '1.5' is no number from 0 to 1, correct it" \
    generate --preset mixed --format binary --rows 1 --null-fraction 1.5
check 'a number of rows that is none is refused' fails_with \
    "votdriver: --rows '-1' is no whole number from 0 to 2^63-1, correct it" \
    generate --preset mixed --format binary --rows -1
finish
