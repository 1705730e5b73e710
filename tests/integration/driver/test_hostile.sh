#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What nobody sends by accident, and what is sent by accident instead of a VOTable, to every
# command: one line, exit status 2, little memory and time.
set -u

driver=$1
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

# Every way to read a document, a line each.
cat >"$work/commands" <<'EOT'
parse --strategy stream
parse --strategy buffer
parse --strategy dom
parse --strategy reader
parse --discard
stats
stats --json
convert --format binary2 -o /dev/null
check --all
EOT

# refused_everywhere WORDS FILE: by every command, with these words behind the file's name.
refused_everywhere() {
    while IFS= read -r everywhere_command; do
        # shellcheck disable=SC2086
        fails_with "votdriver: $2:$1" $everywhere_command "$2" || {
            echo "in $everywhere_command"
            return 1
        }
    done <"$work/commands"
}

# endless START LETTER: a document that begins with START and goes on for a gigabyte.
endless() {
    printf '%s' "$1"
    head -c 1000000000 /dev/zero | tr '\000' "$2"
}

# The writer is told by a closed pipe that nobody wants the rest.
refuses_a_gigabyte() {
    while IFS= read -r gigabyte_command; do
        # shellcheck disable=SC2086
        endless "$1" "$2" 2>/dev/null |
            fails_with "votdriver: -:1: a tag, comment or CDATA section goes on for more than 10000000 bytes, shorten it or raise --max-tag-bytes" \
                $gigabyte_command - || {
            echo "in $gigabyte_command"
            return 1
        }
    done <"$work/commands"
}

refuses_more_fields_than_allowed() {
    awk 'BEGIN {
        printf "<VOTABLE><RESOURCE><TABLE>"
        for (i = 0; i < 1000000; i++) printf "<FIELD name=\"f%d\" datatype=\"int\"/>", i
        print "</TABLE></RESOURCE></VOTABLE>"
    }' >"$work/fields.vot"
    # dom has them all in its tree before it looks at the first.
    sed -e '/^check/d' -e '/dom/d' "$work/commands" >"$work/readers"
    while IFS= read -r fields_command; do
        # shellcheck disable=SC2086
        fails_with "votdriver: $work/fields.vot:1: a TABLE has more than 65536 FIELDs, split it or raise --max-fields" \
            $fields_command "$work/fields.vot" || return 1
    done <"$work/readers"
    # It tells what it found before.
    run check "$work/fields.vot" 2>"$work/stderr" >"$work/stdout"
    same status 2 "$?" && same stderr "votdriver: $work/fields.vot:1: a TABLE has more than 65536 FIELDs, split it or raise --max-fields" \
        "$(cat "$work/stderr")"
}

refuses_deep_nesting_that_means_nothing() {
    awk 'BEGIN { printf "<VOTABLE><x:a xmlns:x=\"urn:x\">"; for (i = 0; i < 1000000; i++) printf "<x:a>" }' \
        >"$work/deep.vot"
    sed '/^check/d' "$work/commands" >"$work/readers"
    while IFS= read -r deep_command; do
        # shellcheck disable=SC2086
        fails_with "votdriver: $work/deep.vot:1: more than 256 elements are nested in one another, simplify the document or raise --max-depth" \
            $deep_command "$work/deep.vot" || return 1
    done <"$work/readers"
    run check "$work/deep.vot" 2>"$work/stderr" >"$work/stdout"
    same status 2 "$?" && same stderr "votdriver: $work/deep.vot:1: more than 256 elements are nested in one another, simplify the document or raise --max-depth" \
        "$(cat "$work/stderr")"
}

# What parse takes in pieces check takes, too.
reads_cdata_beyond_10_megabytes() {
    {
        printf '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>'
        printf '<FIELD name="i" datatype="int"/><DATA><BINARY><STREAM encoding="base64"><![CDATA['
        head -c 12000000 /dev/zero | tr '\000' A
        printf ']]></STREAM></BINARY></DATA></TABLE></RESOURCE></VOTABLE>'
    } >"$work/cdata.vot"
    run check "$work/cdata.vot" || return 1
    sed '/^check/d' "$work/commands" >"$work/readers"
    while IFS= read -r cdata_command; do
        # shellcheck disable=SC2086
        run $cdata_command "$work/cdata.vot" >/dev/null || return 1
    done <"$work/readers"
}

writes_valid_json_for_any_path() {
    command -v sqlite3 >/dev/null 2>&1 || return 0
    json_folder=$work/$(printf 'a"b\\c\tx\377')
    mkdir -p "$json_folder" &&
        run generate --preset small --rows 2 --format binary -o "$json_folder/t.vot" || return 1
    for json_command in parse stats check; do
        run "$json_command" --json "$json_folder/t.vot" >"$work/json" || return 1
        same "$json_command" 1 \
            "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$work/json') AS TEXT))")" || return 1
    done
}

every_command_has_help() {
    for help_command in parse strategies stats convert generate check; do
        run "$help_command" --help >"$work/help" || return 1
        head -n 1 "$work/help" | grep -q "^usage: votdriver $help_command" || return 1
    done
}

limits_can_be_set() {
    run generate --preset small --rows 2 --format binary -o "$work/small.vot" || return 1
    while IFS= read -r limit_command; do
        # shellcheck disable=SC2086
        run $limit_command --max-fields 3 --max-depth 7 --max-tag-bytes 1000 "$work/small.vot" \
            >/dev/null || return 1
        # shellcheck disable=SC2086
        run $limit_command --max-fields 2 "$work/small.vot" >"$work/stdout" 2>"$work/stderr" &&
            return 1
        grep -q ' a TABLE has more than 2 FIELDs, ' "$work/stderr" || return 1
    done <"$work/commands"
}

stats_names_its_table() {
    run generate --preset small --rows 2 --format binary -o "$work/small.vot" || return 1
    run stats "$work/small.vot" >"$work/stats" || return 1
    same table 'table small, 2 rows, binary' "$(head -n 1 "$work/stats")"
}

root='<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">'
check 'an attribute of a gigabyte is refused at once' refuses_a_gigabyte '<VOTABLE version="' x
check 'a name of a gigabyte is refused at once' refuses_a_gigabyte "$root<" x
check 'a comment of a gigabyte is refused at once' refuses_a_gigabyte "$root<!-- " x
check 'a DOCTYPE of a gigabyte is refused at once' refuses_a_gigabyte '<!DOCTYPE VOTABLE [ <!-- ' x
check 'a million FIELDs are refused' refuses_more_fields_than_allowed
check 'elements that mean nothing may not be deep either' refuses_deep_nesting_that_means_nothing
check 'CDATA beyond 10 MB is read by every command' reads_cdata_beyond_10_megabytes
check 'every limit can be set for every command' limits_can_be_set

printf '<!DOCTYPE html><html><body>no</body></html>' >"$work/page.vot"
check 'HTML is refused' refused_everywhere \
    '1: the root element is <html>, not VOTABLE, give a VOTable' "$work/page.vot"
(cd "$work" && tar cf archive.vot page.vot && gzip -c archive.vot >archive-gz.vot) || exit 1
check 'a tar file is refused' refused_everywhere '1: is not XML, give a VOTable' "$work/archive.vot"
check 'a gzipped tar file is refused' refused_everywhere '1: is not XML, give a VOTable' \
    "$work/archive-gz.vot"
printf '<VOTABLE/>' | gzip | gzip >"$work/twice.vot"
check 'what is gzipped twice is refused' refused_everywhere '1: is not XML, give a VOTable' \
    "$work/twice.vot"
check 'a device without an end is refused' refused_everywhere '1: is not XML, give a VOTable' \
    /dev/zero
check 'a folder is refused' refused_everywhere ' is a directory, give a file' "$work"
check 'a file that is not there is refused' refused_everywhere \
    ' cannot be opened: No such file or directory, give a readable file' "$work/nowhere.vot"
check '--json is valid whatever the path' writes_valid_json_for_any_path
check 'every command has --help' every_command_has_help
check 'stats names its table' stats_names_its_table
finish
