#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Generated tables: the same bytes on every machine, the same values in every format.
set -u

driver=$1
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

presets='arrays mixed numeric strings'
formats='tabledata binary binary2'

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
arrays tabledata 3285964162 379313 e33b3a38187dea19
arrays binary 2443610931 210684 e33b3a38187dea19
arrays binary2 1241564437 210820 e33b3a38187dea19
mixed tabledata 3883034711 17531 d6743de6045132f2
mixed binary 4044921544 8860 d6743de6045132f2
mixed binary2 3751561652 9134 d6743de6045132f2
numeric tabledata 592889508 12988 ca075fac2df49914
numeric binary 1257497060 5011 ca075fac2df49914
numeric binary2 1405086151 5151 ca075fac2df49914
strings tabledata 3170476512 17627 3b78af3abfe617e8
strings binary 4099757415 14487 3b78af3abfe617e8
strings binary2 1895530876 14623 3b78af3abfe617e8
EOT
for preset in $presets; do
    check "$preset is well-formed XML" xml_is_well_formed "$preset"
done
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
    "votdriver: no preset 'none', use arrays, mixed, numeric or strings" \
    generate --preset none --format binary --rows 1
check 'an unknown format is refused' fails_with \
    "votdriver: no format 'fits', use tabledata, binary or binary2" \
    generate --preset mixed --format fits --rows 1
check 'a number of rows that is none is refused' fails_with \
    "votdriver: --rows '-1' is no whole number from 0 to 2^63-1, correct it" \
    generate --preset mixed --format binary --rows -1
finish
