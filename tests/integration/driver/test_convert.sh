#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Conversions: what goes in comes out, from every serialization to every other; what cannot be
# said is a numbered warning.
set -u

driver=$1
folder=$2
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

formats='tabledata binary binary2 fits'

# What stats says of a document, but for the serialization.
figures() {
    run stats --json "$1" >"$work/stats" || return 1
    sed 's/"serialization":"[^"]*",//g' "$work/stats"
}

all_types_come_back() {
    run generate --preset all-types --rows 200 --seed "$1" --format tabledata \
        -o "$work/0.vot" || return 1
    run convert "$work/0.vot" --format binary2 -o "$work/1.vot" &&
        run convert "$work/1.vot" --format fits -o "$work/2.vot" &&
        run convert "$work/2.vot" --format tabledata -o "$work/3.vot" || return 1
    cmp "$work/3.vot" "$work/0.vot"
}

every_pair_keeps_values() {
    run generate --preset "$1" --rows 50 --format tabledata -o "$work/t.vot" || return 1
    wanted=$(checksums "$work/t.vot")
    for from in $formats; do
        run convert "$work/t.vot" --format "$from" -o "$work/from.vot" || return 1
        for to in $formats; do
            run convert "$work/from.vot" --format "$to" -o "$work/to.vot" || return 1
            same "$from to $to" "$wanted" "$(checksums "$work/to.vot")" || return 1
        done
    done
}

flags_keep_figures() {
    run generate --preset all-types --rows 100 --format tabledata -o "$work/t.vot" || return 1
    figures "$work/t.vot" >"$work/wanted" || return 1
    for format in binary2 fits tabledata; do
        run convert "$work/t.vot" --format "$format" -o "$work/f.vot" || return 1
        figures "$work/f.vot" | cmp - "$work/wanted" || return 1
    done
}

metadata_is_kept() {
    cat >"$work/meta.vot" <<'EOT'
<?xml version="1.0" encoding="ISO-8859-1"?>
<v:VOTABLE xmlns:v="http://www.ivoa.net/xml/VOTable/v1.2" version="1.2" xmlns:x="urn:x">
 <v:DESCRIPTION>caf&#233; &lt;&amp;> </v:DESCRIPTION>
 <v:RESOURCE type="results" x:more="a&quot;b&#10;c">
  <v:COOSYS ID="c" system="ICRS"/><v:INFO name="i" value="&lt;1"/>
  <x:VODML><x:MODEL name="m">text</x:MODEL></x:VODML>
  <v:TABLE name="t" nrows="1">
   <v:GROUP><v:PARAM name="p" datatype="int" value="3"/></v:GROUP>
   <v:FIELD name="a" datatype="double" arraysize="1x2" unit="m"><v:DESCRIPTION/><v:VALUES><v:MIN
     value="0"/><v:OPTION value="1"/></v:VALUES></v:FIELD>
   <v:LINK href="l"/>
   <v:DATA><v:TABLEDATA><v:TR><v:TD>1.5 NaN</v:TD></v:TR></v:TABLEDATA>
   <v:INFO name="late" value="in"/></v:DATA>
   <v:INFO name="QUERY_STATUS" value="OVERFLOW"/>
  </v:TABLE>
  <v:RESOURCE><v:TABLE><v:FIELD name="b" datatype="char"/></v:TABLE></v:RESOURCE>
 </v:RESOURCE>
</v:VOTABLE>
EOT
    run convert "$work/meta.vot" --format binary2 -o "$work/meta2.vot" || return 1
    # BINARY2 is of version 1.3, and so is the document now.
    cat >"$work/wanted" <<'EOT'
<?xml version="1.0" encoding="UTF-8"?>
<v:VOTABLE version="1.3" xmlns:v="http://www.ivoa.net/xml/VOTable/v1.3" xmlns:x="urn:x">
 <v:DESCRIPTION>café &lt;&amp;&gt; </v:DESCRIPTION>
 <v:RESOURCE type="results" x:more="a&quot;b&#10;c">
  <v:COOSYS ID="c" system="ICRS"/><v:INFO name="i" value="&lt;1"/>
  <x:VODML><x:MODEL name="m">text</x:MODEL></x:VODML>
  <v:TABLE name="t" nrows="1">
   <v:GROUP><v:PARAM name="p" datatype="int" value="3"/></v:GROUP>
   <v:FIELD name="a" datatype="double" arraysize="1x2" unit="m"><v:DESCRIPTION/><v:VALUES><v:MIN value="0"/><v:OPTION value="1"/></v:VALUES></v:FIELD>
   <v:LINK href="l"/>
   <v:DATA>
<v:BINARY2>
<v:STREAM encoding="base64">
AD/4AAAAAAAAf/gAAAAAAAA=
</v:STREAM>
</v:BINARY2>
</v:DATA><v:INFO name="late" value="in"/>
   <v:INFO name="QUERY_STATUS" value="OVERFLOW"/>
  </v:TABLE>
  <v:RESOURCE><v:TABLE><v:FIELD name="b" datatype="char"/></v:TABLE></v:RESOURCE>
 </v:RESOURCE>
</v:VOTABLE>
EOT
    diff "$work/wanted" "$work/meta2.vot"
}

# warns FORMAT NUMBER FIELD-ATTRIBUTES CELL: the conversion of this cell has this warning.
warns() {
    printf '<VOTABLE><RESOURCE><TABLE><FIELD name="c" %s/><DATA><TABLEDATA><TR><TD>%s</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>' \
        "$3" "$4" >"$work/w.vot"
    run convert "$work/w.vot" --format "$1" -o "$work/out.vot" 2>"$work/stderr" || return 1
    grep "^votdriver: $work/w.vot:1: warning W$2: " "$work/stderr" || {
        cat "$work/stderr"
        return 1
    }
    rm "$work/out.vot"
    run convert "$work/w.vot" --strict --format "$1" -o "$work/out.vot" 2>"$work/stderr"
    same 'exit status' 2 "$?" || return 1
    [ ! -e "$work/out.vot" ]
}

bytes_that_are_no_text_become_text() {
    # A char column of BINARY: 0xb4, 0x01, a.
    printf '<VOTABLE><RESOURCE><TABLE><FIELD name="c" datatype="char" arraysize="3"/><DATA><BINARY><STREAM encoding="base64">tAFh</STREAM></BINARY></DATA></TABLE></RESOURCE></VOTABLE>' \
        >"$work/b.vot"
    run convert "$work/b.vot" --format tabledata -o "$work/t.vot" 2>"$work/stderr" || return 1
    same warnings 'W53 W54' "$(grep -o 'W5[0-9]' "$work/stderr" | tr '\n' ' ' | sed 's/ $//')" ||
        return 1
    grep -q "<TD>$(printf '\302\264\357\277\275')a</TD>" "$work/t.vot" || return 1
    run convert "$work/b.vot" --format binary2 -o "$work/b2.vot" || return 1
    grep -q '^ALQBYQ==$' "$work/b2.vot"
}

leaves_nothing_after_bad_input() {
    mkdir "$work/bad" || return 1
    printf '<VOTABLE><RESOURCE><TABLE><FIELD name="c" datatype="int"/><DATA><TABLEDATA><TR><TD>1</TD></TR>' \
        >"$work/cut.vot"
    run convert "$work/cut.vot" --format binary -o "$work/bad/t.vot" 2>"$work/stderr"
    same 'exit status' 2 "$?" || return 1
    grep "^votdriver: $work/cut.vot:1: " "$work/stderr" || return 1
    same files '' "$(ls -A "$work/bad")"
}

# Real files through all four and back: their values do not change.
real_file_comes_back() {
    wanted=$(checksums "$1") || return 1
    previous=$1
    for format in binary2 fits tabledata; do
        run convert "$previous" --format "$format" -o "$work/$format.vot" 2>"$work/stderr" ||
            return 1
        same "$format" "$wanted" "$(checksums "$work/$format.vot")" || return 1
        previous=$work/$format.vot
    done
}

fits_of_a_stream_in_a_file() {
    mkdir -p "$work/beside" || return 1
    for name in t.fits t.fits.gz; do
        run generate --preset all-types --rows 50 --format fits -o "$work/beside/t.vot" \
            --stream-file "$name" || return 1
        same "$name" "$(run generate --preset all-types --rows 50 --format binary2 |
            checksums -)" "$(checksums "$work/beside/t.vot")" || return 1
    done
}

lost_rows_are_told() {
    echo '<VOTABLE><RESOURCE><TABLE><DATA><TABLEDATA><TR/><TR/></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>' \
        >"$work/no-fields.vot"
    for format in binary binary2; do
        run convert "$work/no-fields.vot" --format "$format" -o /dev/null 2>"$work/stderr" || return 1
        same "$format" "votdriver: $work/no-fields.vot:1: warning W57: rows without cells, because the TABLE has no FIELDs, are lost in this format, use tabledata (2 times)" \
            "$(cat "$work/stderr")" || return 1
        fails_with "votdriver: $work/no-fields.vot:1: rows without cells, because the TABLE has no FIELDs, are lost in this format, use tabledata" \
            convert --strict "$work/no-fields.vot" --format "$format" -o /dev/null || return 1
    done
    for format in tabledata fits; do
        run convert "$work/no-fields.vot" --format "$format" -o "$work/kept.vot" || return 1
        same "$format" 2 "$(run --json "$work/kept.vot" | sed -n 's/.*"rows": \([0-9]*\).*/\1/p')" || return 1
    done
}

# fits_is_refused FIELD MESSAGE: the FITS table of one int column is no column of this FIELD.
fits_is_refused() {
    run generate --schema a:int --rows 3 --format fits -o "$work/f.vot" || return 1
    sed "s|<FIELD .*/>|$1|" "$work/f.vot" >"$work/g.vot"
    fails_with "votdriver: $work/g.vot:$2" "$work/g.vot"
}

# The table is the first extension: there is no second, and the primary header is no table.
extension_is_looked_for() {
    run generate --preset small --rows 3 --format fits -o "$work/f.vot" || return 1
    sed 's/<FITS>/<FITS extnum="2">/' "$work/f.vot" >"$work/g.vot"
    fails_with "votdriver: $work/g.vot:10: the FITS file has no extension 2, correct the extnum or the file" \
        "$work/g.vot" || return 1
    sed 's/<FITS>/<FITS extnum="1">/' "$work/f.vot" >"$work/g.vot"
    same values "$(checksums "$work/f.vot")" "$(checksums "$work/g.vot")" || return 1
    # One block of base64 is 2880 bytes: the header of a file without extensions.
    awk '/<STREAM/ { print; inside = 1; next } /<.STREAM/ { inside = 0 } !inside || ++lines <= 60' \
        "$work/f.vot" >"$work/g.vot"
    fails_with "votdriver: $work/g.vot:10: the FITS file has no binary table, give one that has" \
        "$work/g.vot"
}

# A disk that is full, a pipe that nobody reads: one line, and nothing left behind.
failed_output_leaves_nothing() {
    mkdir "$work/full" && echo old >"$work/full/t.vot" || return 1
    run generate --preset arrays --rows 1000 --format binary -o "$work/large.vot" || return 1
    (
        trap '' XFSZ
        ulimit -f 8
        exec "$driver" convert "$work/large.vot" --format tabledata -o "$work/full/t.vot"
    ) >"$work/stdout" 2>"$work/stderr"
    same status 2 "$?" || return 1
    same stderr "votdriver: $work/full/t.vot: cannot be written: File too large, write elsewhere" \
        "$(cat "$work/stderr")" || return 1
    same files t.vot "$(ls -A "$work/full")" || return 1
    same content old "$(cat "$work/full/t.vot")" || return 1
    [ -c /dev/full ] || return 0
    fails_with 'votdriver: /dev/full: cannot be written: No space left on device, free some space or write elsewhere' \
        convert "$work/large.vot" --format binary2 -o /dev/full
}

# Another reader sees the same numbers: the sum of a column of every format.
astropy_agrees() {
    run generate --preset numeric --rows 100 --null-fraction 0 --format tabledata \
        -o "$work/0.vot" || return 1
    for format in $formats; do
        run convert "$work/0.vot" --format "$format" -o "$work/a.vot" || return 1
        # It reads FITS from a file only: there the bytes of the STREAM are given to its other half.
        "$python" -W ignore -c '
import base64, io, re, sys
from astropy.io import fits
from astropy.io.votable import parse
text = open(sys.argv[1]).read()
if "<FITS>" in text:
    stream = re.search("<STREAM[^>]*>(.*)</STREAM>", text, re.S).group(1)
    table = fits.open(io.BytesIO(base64.b64decode(stream)))[1].data
else:
    table = parse(sys.argv[1]).get_first_table().array
print(len(table), int(table["id"].sum()), repr(float(table["flux"].sum())))' "$work/a.vot" \
            >"$work/astropy.$format" || return 1
        cmp "$work/astropy.tabledata" "$work/astropy.$format" || return 1
    done
    grep '^100 4950 ' "$work/astropy.fits"
}

for seed in 1 2 3; do
    check "all types come back from BINARY2 and FITS, seed $seed" all_types_come_back "$seed"
done
for preset in all-types booleans bit-arrays mixed string-intensive; do
    check "$preset keeps its values from every format to every other" \
        every_pair_keeps_values "$preset"
done
check 'formats with nulls keep every figure' flags_keep_figures
check 'what is not data is kept, with its namespaces' metadata_is_kept
check 'rows that BINARY cannot say are told' lost_rows_are_told
check 'BINARY has no null for bits' warns binary 51 'datatype="bit"' ''
check 'BINARY has no null for integers without VALUES null' warns binary 51 'datatype="int"' ''
check 'FITS has no null for bits' warns fits 51 'datatype="bit" arraysize="3"' ''
check 'a string longer than its arraysize is cut' \
    warns binary2 52 'datatype="char" arraysize="2"' 'abc'
check 'FITS has no characters beyond ASCII' \
    warns fits 55 'datatype="unicodeChar" arraysize="*"' '&#233;'
check 'bytes that are no text are replaced in text alone' bytes_that_are_no_text_become_text
check 'bad input leaves nothing' leaves_nothing_after_bad_input
check 'a failed output leaves nothing' failed_output_leaves_nothing
check 'the extension of FITS is looked for' extension_is_looked_for
check 'FITS in a file beside the document, compressed or not' fits_of_a_stream_in_a_file
check 'a FITS column of another type is refused' fits_is_refused \
    '<FIELD name="a" datatype="char"/>' \
    "8: FIELD 'a' is char, its column in the FITS table has 32-bit integers, correct the FIELD"
check 'a FITS column of another size is refused' fits_is_refused \
    '<FIELD name="a" datatype="int" arraysize="2"/>' \
    "8: FIELD 'a' is int[2], its column in the FITS table has 1 items, correct the FIELD"
check 'a FITS table of other columns is refused' fits_is_refused \
    '<FIELD name="a" datatype="int"/><FIELD name="b" datatype="int"/>' \
    "8: the FITS table has 1 columns, its TABLE has 2 FIELDs, make them the same"
for file in VOTables.jl/test/data/test-tabledata.vot VOTables.jl/test/data/complex-binary2.vot \
    astropy/astropy/io/votable/tests/data/binary2_masked_strings.xml \
    cds-votable-rust/resources/gaia_dr3.b64 cds-votable-rust/resources/obscore.vot \
    pyvo/pyvo/registry/tests/data/multi-interface.xml; do
    if [ -r "$folder/$file" ]; then
        check "$file comes back" real_file_comes_back "$folder/$file"
    else
        tests=$((tests + 1))
        echo "ok $tests - $file comes back # SKIP the file is not here"
    fi
done
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import astropy' 2>"$work/which"; then
        python=$candidate
        break
    fi
done
if [ -n "$python" ]; then
    check 'astropy reads the same from every format' astropy_agrees
else
    tests=$((tests + 1))
    echo "ok $tests - astropy reads the same from every format # SKIP no Python has astropy"
fi
finish
