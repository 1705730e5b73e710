#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Whole documents. data/valid: all variants of GROUP.VARIANT.vot hold the same tables. data/invalid:
# the comment in each says where and what votdriver must complain of. data/lenient: likewise, but it
# is a warning, and an error with --strict.
set -u

driver=$1
data=$2
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

strategies='stream buffer dom reader'

all_strategies_agree() {
    agree_first=$(checksums --strategy stream "$1") || return 1
    [ -n "$agree_first" ] || return 1
    for agree_strategy in $strategies; do
        agree_other=$(checksums --strategy "$agree_strategy" "$1") || return 1
        same "$agree_strategy" "$agree_first" "$agree_other" || return 1
    done
}

# variants_agree FOLDER GROUP
variants_agree() {
    variants_first=
    for variants_file in "$1/$2".*; do
        variants_other=$(checksums "$variants_file") || return 1
        same "$variants_file" "${variants_first:=$variants_other}" "$variants_other" || return 1
    done
}

is_refused() {
    refused_line=$(sed -n 's/^<!-- expected: \(.*\) -->$/\1/p' "$1")
    [ -n "$refused_line" ] || return 1
    for refused_strategy in $strategies; do
        fails_with "votdriver: $1:$refused_line" --strategy "$refused_strategy" "$1" || return 1
    done
}

# The same words with and without --strict, but for the number.
is_warned() {
    warned_line=$(sed -n 's/^<!-- expected: \(.*\) -->$/\1/p' "$1")
    [ -n "$warned_line" ] || return 1
    warned_strict=$(echo "$warned_line" |
        sed 's/: warning W[0-9]*: /: /; s/ ([0-9]* times)$//')
    for warned_strategy in $strategies; do
        run --strategy "$warned_strategy" "$1" >"$work/stdout" 2>"$work/stderr" || return 1
        same warning "votdriver: $1:$warned_line" "$(cat "$work/stderr")" || return 1
        fails_with "votdriver: $1:$warned_strict" --strict --strategy "$warned_strategy" "$1" ||
            return 1
    done
    all_strategies_agree "$1" 2>"$work/stderr"
}

has_table_names() {
    run "$data/valid/structure.vot" >"$work/report" || return 1
    sed -n 's/^table *//p' "$work/report" >"$work/names"
    cat >"$work/wanted" <<EOT
first
second
without data
without rows
without bytes
without anything
(no name)
EOT
    diff "$work/wanted" "$work/names"
}

json_tells_the_same() {
    run --json --strategy buffer "$data/valid/types.binary2.vot" >"$work/json" || return 1
    wanted=$(checksums "$data/valid/types.tabledata.vot") || return 1
    same 'lines' 1 "$(wc -l <"$work/json" | tr -d ' ')" || return 1
    grep -q '"strategy": "buffer"' "$work/json" &&
        grep -q '{"name": "t", "columns": 12, "rows": 4, "serialization": "binary2", ' \
            "$work/json" &&
        grep -q "\"checksum\": \"$wanted\"}" "$work/json" &&
        grep -q '"file_bytes": '"$(wc -c <"$data/valid/types.binary2.vot" | tr -d ' ')," "$work/json"
}

gzip_makes_no_difference() {
    gzip -c "$data/valid/arraysizes.tabledata.vot" >"$work/named.anything" || return 1
    same gzip "$(checksums "$data/valid/arraysizes.tabledata.vot")" \
        "$(checksums "$work/named.anything")"
}

stdin_makes_no_difference() {
    same stdin "$(checksums "$data/valid/types.binary.vot")" \
        "$(checksums - <"$data/valid/types.binary.vot")"
}

pipes_make_no_difference() {
    same pipe "$(checksums "$data/valid/types.binary.vot")" \
        "$(gzip -c "$data/valid/types.binary.vot" | checksums parse -)"
}

refuses_a_cut_gzip() {
    gzip -c "$data/valid/types.tabledata.vot" >"$work/whole.gz"
    head -c 300 "$work/whole.gz" >"$work/cut.gz"
    fails_with "votdriver: $work/cut.gz: the gzip data are cut short, fetch the file again" \
        "$work/cut.gz"
}

# What there is of TABLEDATA's name is not an element that votdriver does not know.
tells_a_tag_that_is_cut_from_an_unknown_one() {
    sed 's/<TABLEDATA>.*/<TABLEDAT/; /<TABLEDAT$/q' "$data/valid/types.tabledata.vot" |
        head -c -1 >"$work/cut.vot"
    lines=$(($(wc -l <"$work/cut.vot") + 1))
    wanted="votdriver: $work/cut.vot:$lines: the XML ends before its last tag, the file is cut short"
    wanted="$wanted, fetch or write it again"
    for strategy in stream buffer dom reader; do
        fails_with "$wanted" --strategy "$strategy" "$work/cut.vot" || return 1
    done
    run check "$work/cut.vot" >"$work/stdout" 2>"$work/stderr"
    same status 2 "$?" && ! grep -q 'TABLEDAT>' "$work/stdout" "$work/stderr"
}

refuses_a_damaged_gzip() {
    gzip -c "$data/valid/types.tabledata.vot" >"$work/whole.gz"
    {
        head -c 200 "$work/whole.gz"
        printf 'damaged damaged damaged'
        tail -c +224 "$work/whole.gz"
    } >"$work/bad.gz"
    run "$work/bad.gz" >"$work/stdout" 2>"$work/stderr"
    same status 2 "$?" || return 1
    same lines 1 "$(wc -l <"$work/stderr" | tr -d ' ')" || return 1
    # Where inflate notices it depends on zlib; that it is said in our words does not.
    grep -q "^votdriver: $work/bad.gz: the gzip data are damaged (.*), fetch the file again\$" \
        "$work/stderr"
}

# A text node of more than 10 MB, which libxml2 refuses unless told otherwise; in CDATA too.
reads_a_stream_beyond_10_megabytes() {
    "$driver" generate --preset arrays --rows 6000 --format binary -o "$work/large.vot" || return 1
    sed 's/<STREAM encoding="base64">/&<![CDATA[/; s/<\/STREAM>/]]>&/' "$work/large.vot" \
        >"$work/large.cdata.vot"
    all_strategies_agree "$work/large.vot" && all_strategies_agree "$work/large.cdata.vot" &&
        variants_agree "$work" large
}

# Cells of 30 to 70 kB in CDATA, cut by every piece at another place of what must not be cut.
make_cells() {
    awk -v cdata="$1" 'BEGIN {
        print "<VOTABLE><RESOURCE><TABLE><FIELD name=\"s\" datatype=\"char\" arraysize=\"*\"/>"
        print "<DATA><TABLEDATA>"
        open = cdata ? "<![CDATA[" : ""
        close_ = cdata ? "]]>" : ""
        amp = cdata ? "&" : "&amp;"
        gt = cdata ? "]>" : "]&gt;"
        for (row = 0; row < 60; row++) {
            text = ""
            for (i = 0; i < 3000 + 71 * row; i++)
                text = text "]]" amp "\303\251" gt "\342\202\254]\r\n"
            print "<TR><TD>" open text close_ "</TD></TR>"
        }
        print "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    }' >"$work/cut.$1.vot"
}

reads_cdata_of_many_pieces() {
    make_cells 0 && make_cells 1 &&
        all_strategies_agree "$work/cut.1.vot" && variants_agree "$work" cut
}

refuses_endless_attributes() {
    {
        printf '<VOTABLE version="'
        head -c 30000000 /dev/zero | tr '\000' x
        printf '"></VOTABLE>'
    } >"$work/attribute.vot"
    fails_with "votdriver: $work/attribute.vot:1: a tag, comment or CDATA section goes on for more than 10000000 bytes, shorten it or raise --max-tag-bytes" \
        "$work/attribute.vot"
}

refuses_without_a_file() {
    run >"$work/stdout" 2>"$work/stderr"
    same status 2 "$?" || return 1
    head -n 1 "$work/stderr" | grep -q '^votdriver: no file to parse, name one or - for stand'
}

for file in "$data"/valid/*.vot; do
    name=${file##*/}
    check "$name gives the same in every strategy" all_strategies_agree "$file"
done
for file in "$data"/valid/*.*.vot; do
    group=${file##*/}
    group=${group%%.*}
    [ "$group" = "${last-}" ] ||
        check "all of $group.*.vot hold the same" variants_agree "$data/valid" "$group"
    last=$group
done
for file in "$data"/invalid/*.vot; do
    check "${file##*/} is refused in one line" is_refused "$file"
done

for file in "$data"/lenient/*.vot; do
    check "${file##*/} is read with a warning, and refused with --strict" is_warned "$file"
done

check 'tables keep their names and order' has_table_names
check '--json tells the same facts' json_tells_the_same
check 'gzip makes no difference, whatever the name' gzip_makes_no_difference
check 'standard input makes no difference' stdin_makes_no_difference
check 'a gzipped pipe makes no difference' pipes_make_no_difference
check 'a stream beyond 10 MB is read' reads_a_stream_beyond_10_megabytes
check 'CDATA of many pieces is read' reads_cdata_of_many_pieces
check 'an endless attribute is refused' refuses_endless_attributes
check 'a cut gzip file is refused' refuses_a_cut_gzip
check 'a tag that is cut is not told from what is left of its name' \
    tells_a_tag_that_is_cut_from_an_unknown_one
check 'a damaged gzip file is refused' refuses_a_damaged_gzip
check 'a missing file is refused' fails_with \
    "votdriver: $work/nowhere.vot: cannot be opened: No such file or directory, give a readable file" \
    "$work/nowhere.vot"
check 'a directory is refused' fails_with "votdriver: $work: is a directory, give a file" "$work"
: >"$work/empty.vot"
check 'an empty file is refused' fails_with "votdriver: $work/empty.vot: is empty, give a VOTable" \
    "$work/empty.vot"
echo 'no markup at all' >"$work/text.vot"
check 'a text file is refused' fails_with \
    "votdriver: $work/text.vot:1: is not XML, give a VOTable" "$work/text.vot"
head -c 2000 /dev/zero >"$work/zeros.vot"
check 'a file of NULs is refused' fails_with \
    "votdriver: $work/zeros.vot:1: is not XML, give a VOTable" "$work/zeros.vot"
check 'no file at all is refused' refuses_without_a_file
check 'an unknown strategy is refused' fails_with \
    "votdriver: no strategy 'magic', use stream, buffer, dom or reader" --strategy magic "$work/empty.vot"
finish
