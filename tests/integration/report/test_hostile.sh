#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_hostile.sh VOTREPORT VICTIM LIBVOTRACE HOSTILE_SQL: names of functions, files, benchmarks,
# regions and programs are whatever somebody made them. No output takes them for anything else.
# Prints TAP.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
hostile=$(absolute "$4")
export VOTRACE_LIBRARY
# In the C locale no byte is a character of several: what is looked for are bytes.
LC_ALL=C
export LC_ALL
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
begin

escape=$(printf '\033')
line='x
::error::injected'
store() {
    rm -f "$1"
    VOTRACE_STACKS=all "$votreport" run --db "$1" --name "<script>alert(1)</script> | ${escape}[31m" \
        --param "k==1+1$(printf '\377')" --param 'a"b=<b>' -- "$victim" "$2" || return 1
    VOTRACE_STACKS=all "$votreport" run --db "$1" --name "$line" --param "p=$line" -- "$victim" "$2" ||
        return 1
    VOTRACE_STACKS=all "$votreport" run --db "$1" --name '=HYPERLINK("http://x","y")' -- \
        "$victim" "$2" || return 1
    sqlite3 "$1" <"$hostile"
}
store a.db 200000 && store b.db 500000
result $? 'stores with hostile names are made'
cp a.db untouched.db

# clean NAME FILE: text of UTF-8 without control characters but for the ends of lines.
clean() {
    : >err
    iconv -f UTF-8 -t UTF-8 "$2" >/dev/null 2>>err
    result $? "$1: is UTF-8"
    tr -d '\n\r\t' <"$2" | grep -a -n '[[:cntrl:]]' | cut -c 1-200 >err
    [ ! -s err ]
    result $? "$1: has no control characters"
}

# forward NAME FILE: nothing changes the direction of writing.
forward() {
    : >err
    ! grep -aq "$(printf '\342\200\256')" "$2"
    result $? "$1: writes in one direction"
}

# lines NAME FILE: nobody's text begins a line.
lines() {
    grep -an -e '^::error' -e '^| a | b |' -e '^second' -e '^tab' "$2" | cut -c 1-200 >err
    [ ! -s err ]
    result $? "$1: no line is a name's"
}

markup() {
    : >err
    ! grep -aqi -e '<script>alert' -e '<img src=x' "$2"
    result $? "$1: no name is markup"
}

json() {
    [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$2'))" 2>err)" = 1 ]
    result $? "$1: is JSON"
}

xml() {
    if command -v xmllint >/dev/null; then
        xmllint --noout --nonet "$2" 2>err
        result $? "$1: is XML"
    else
        skip 1 'there is no xmllint'
    fi
}

# cells NAME FILE: as many in each row as in the first, none a formula.
cells() {
    rm -f cells.db
    sqlite3 cells.db ".import --csv $2 t" 2>err
    [ ! -s err ]
    result $? "$1: every row has all cells"
    for column in $(sqlite3 cells.db "SELECT name FROM pragma_table_info('t')"); do
        sqlite3 cells.db "SELECT '$column', substr(\"$column\", 1, 60) FROM t
            WHERE \"$column\" GLOB '[-=+@]*'
                AND CAST(CAST(\"$column\" AS INTEGER) AS TEXT) <> \"$column\"" >>err
    done
    [ ! -s err ]
    result $? "$1: no cell is a formula"
}

# table NAME FILE: rows of a Markdown table have as many cells as the row above them.
table() {
    sed 's/\\|//g' "$2" | awk -F'|' '/^\|/ { if (n && NF != n) print NR ": " NF " cells, not " n; n = NF; next }
        { n = 0 }' | cut -c 1-200 >err
    [ ! -s err ]
    result $? "$1: every row has all cells"
}

# annotations NAME FILE: what GitHub takes for a command is one of ours.
annotations() {
    grep -a '^::' "$2" | grep -avE '^::(error|warning|notice) file=[^:]*,line=[0-9]+,?[^:]*::|^::(error|warning|notice)::|^::(error|warning|notice) title=[^:]*::' |
        cut -c 1-200 >err
    grep -a '^::error file=x' "$2" >>err
    [ ! -s err ]
    result $? "$1: no command is a name's"
}

# output NAME KIND... -- COMMAND...: its standard output passes these checks.
output() {
    output_name=$1
    shift
    output_kinds=
    while [ "$1" != -- ]; do
        output_kinds="$output_kinds $1"
        shift
    done
    shift
    "$@" >output 2>err
    output_status=$?
    [ "$output_status" -lt 2 ]
    result $? "$output_name: is made"
    for output_kind in $output_kinds; do
        "$output_kind" "$output_name" output
    done
    cp err errors
    clean "$output_name, what is said" errors
}

output 'list' clean forward lines -- "$votreport" list a.db
output 'list --json' clean json -- "$votreport" list --json a.db
for run in 1 2 3; do
    output "show --run $run" clean forward lines -- \
        "$votreport" show --run $run --sites 100 a.db
done
output 'show in colour' lines -- "$votreport" show --color always a.db
output 'show --json' clean json -- "$votreport" show --json --run 1 a.db
output 'diff' clean forward lines -- "$votreport" diff a.db b.db
output 'gate' clean forward lines -- "$votreport" gate a.db b.db
limits='limit "*|<b>*" peak_added added 1'
echo "$limits" >limits
output 'gate by a file of limits' clean forward lines -- \
    "$votreport" gate --thresholds limits --baseline a.db a.db b.db
output 'gate --json' clean json -- "$votreport" gate --json a.db b.db
output 'diff --format markdown' clean forward lines table -- \
    "$votreport" diff --format markdown a.db b.db
output 'diff --format csv' clean forward lines cells -- "$votreport" diff --format csv a.db b.db
output 'diff --format html' clean markup -- "$votreport" diff --format html a.db b.db
for way in --lines=100 --tree --callees --by=file; do
    output "top $way" clean forward lines -- "$votreport" top $way a.db
done
output 'top --json' clean json -- "$votreport" top --json a.db
output 'trend' clean forward lines -- "$votreport" trend a.db "$line"
output 'trend --csv' clean forward lines cells -- "$votreport" trend --csv a.db "$line"
output 'trend --json' clean json -- "$votreport" trend --json a.db "$line"
output 'diff --json' clean json -- "$votreport" diff --json a.db b.db
for by in file module line; do
    output "diff --by $by" clean forward lines -- "$votreport" diff --by $by a.db b.db
done
output 'gate --summary' clean forward lines table -- \
    sh -c "\"$votreport\" gate --summary made a.db b.db >made.out; cat made; [ -s made ]"
output 'gate --junit' clean forward xml -- \
    sh -c "\"$votreport\" gate --junit made a.db b.db >made.out; cat made; [ -s made ]"
output 'gate --annotate' clean forward annotations -- "$votreport" gate --annotate github a.db b.db
output 'check' clean forward lines -- "$votreport" check a.db
output 'sql' clean forward lines -- "$votreport" sql a.db 'SELECT * FROM symbol'
output 'sql --json' clean json -- "$votreport" sql --json a.db 'SELECT * FROM symbol'
output 'sql --csv' clean cells -- "$votreport" sql --csv a.db 'SELECT * FROM symbol'
output 'merge' clean -- sh -c "\"$votreport\" merge a.db b.db -o all.db; \"$votreport\" list all.db"
output 'prune' clean -- sh -c "\"$votreport\" prune --keep 1 all.db"

output 'html' clean markup -- sh -c "\"$votreport\" html a.db -o page.html && cat page.html"
output 'html of two' clean markup -- sh -c "\"$votreport\" html a.db b.db -o page.html && cat page.html"
output 'flame' clean forward markup xml -- sh -c "\"$votreport\" flame a.db -o flame.svg && cat flame.svg"
output 'flame of two' clean forward markup xml -- \
    sh -c "\"$votreport\" flame a.db b.db -o flame.svg && cat flame.svg"

for format in folded massif; do
    output "export $format" clean forward lines -- "$votreport" export -f $format a.db@1
done
output 'export difffolded' clean forward lines -- "$votreport" export -f difffolded a.db b.db
for format in speedscope bencher github asv asv-benchmarks asv-machine; do
    output "export $format" clean json -- "$votreport" export -f $format --commit "$line" a.db
done
for format in csv csv-sites; do
    output "export $format" clean forward lines cells -- "$votreport" export -f $format a.db
done
output 'export pprof' clean -- sh -c "\"$votreport\" export -f pprof a.db | gzip -dc | strings -n 12"

# The names are not to be expanded.
# shellcheck disable=SC2016
for name in '<script>' "$line" '$(touch pwned)' "$(printf '\377\033[2J')"; do
    output 'a name that is not there' clean -- sh -c '"$1" show --name "$2" a.db || :' - \
        "$votreport" "$name"
    output 'a store that is not there' clean -- sh -c '"$1" list "$2" || :' - "$votreport" "$name"
done

[ ! -e pwned ] && [ -z "$(ls tmp)" ]
result $? 'no name was a command'
finish
