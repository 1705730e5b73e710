#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_export.sh VOTREPORT VICTIM LIBVOTRACE PPROF_PROTO: every export of a real run, read by the
# program it is for or held against the schema that program publishes. Prints TAP.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
proto=$(absolute "$4")
export VOTRACE_LIBRARY
begin

run() {
    "$votreport" run --db "$1" --name votable.parse --param "format=$2" -- \
        "$victim" "$3" ${4+"$4"}
}
run a.db binary 200000 || exit 1
run a.db text 0 || exit 1
run b.db binary 300000 || exit 1

# Victim's region parse: 205,000 added, 206,000 live at the peak, 3,000 at the end.
export_of() {
    "$votreport" export --format "$@"
}

# query SQL: on the file out as JSON, bound as the value `doc`.
query() {
    sqlite3 :memory: "WITH file(doc) AS (SELECT readfile('out')) $1" 2>>err
}

status 'folded stacks' 0 export_of folded a.db@1
same 'add up to peak added' "$(awk '{ sum += $NF } END { print sum }' out)" 205000
same 'are lines of frames and a number' "$(grep -cvE '^[^;]+(;[^;]+)* [0-9]+$' out)" 0
says 'name who buffered' out ';main;parse;buffer_rows 200000'
status 'folded stacks of what was live' 0 export_of folded --metric live_peak a.db@1
same 'add up to it' "$(awk '{ sum += $NF } END { print sum }' out)" 206000
status 'allocations' 0 export_of folded --metric count --by file a.db@1
same 'are three' "$(awk '{ sum += $NF } END { print sum }' out)" 3

status 'two runs side by side' 0 "$votreport" export -f difffolded --name votable.parse b.db b.db
status 'before and after' 0 "$votreport" export -f difffolded a.db b.db
same 'add up, each' "$(awk '{ a += $(NF - 1); b += $NF } END { print a, b }' out)" '5000 305000'

status 'massif' 0 export_of massif a.db@1
if command -v ms_print >/dev/null; then
    mv out massif.out
    status 'is read by ms_print' 0 ms_print --threshold=0 massif.out
    says 'with its peak' out '100.00% (206,000B) (heap allocation functions)'
    says 'and who holds it' out '(200,000B) 0x'
    same 'and the children of the first level are all of it' \
        "$(sed -n 's/^->[0-9.]*% (\([0-9,]*\)B).*/\1/p' out | tr -d , | awk '{ s += $1 } END { print s }')" 206000
else
    skip 4 'there is no ms_print (valgrind)'
fi

status 'pprof' 0 export_of pprof -o pprof.gz a.db@1
gzip -t pprof.gz
result $? 'is a gzip file'
if command -v protoc >/dev/null; then
    gzip -dc pprof.gz >pprof
    status 'is read by protoc' 0 sh -c "protoc --proto_path=\"\$(dirname \"$proto\")\" --decode=Profile \"$proto\" <pprof"
    same 'without unknown fields' "$(grep -cE '^ *[0-9]+[:{ ]' out)" 0
    awk '/^sample {/ { n = 0 } /^  value:/ { sum[n++] += $2 } END { print sum[0], sum[1], sum[2], sum[3], sum[4], sum[5] }' out >sums
    same 'all its metrics add up' "$(cat sums)" '205000 206000 3000 2000 205000 3'
else
    skip 3 'there is no protoc (protobuf-compiler)'
fi
cp pprof.gz first.gz
export_of pprof -o pprof.gz a.db@1
cmp -s first.gz pprof.gz
result $? 'the same run is the same bytes'

if command -v sqlite3 >/dev/null; then
    status 'speedscope' 0 export_of speedscope a.db@1
    same 'says whose schema it follows' "$(query "SELECT doc ->> '\$.\$schema' FROM file")" \
        https://www.speedscope.app/file-format-schema.json
    same 'its profiles are sampled, in known units' "$(query "SELECT DISTINCT value ->> 'type' ||
        CASE WHEN value ->> 'unit' IN ('none', 'bytes') AND value ->> 'startValue' = 0 THEN '' ELSE '?' END
        FROM file, json_each(doc, '\$.profiles')")" sampled
    same 'has a weight for each sample, and they add up' "$(query "SELECT group_concat(value ->> 'name' || ' ' ||
        (SELECT sum(value) FROM json_each(profile.value, '\$.weights')) || ' ' || (value ->> 'endValue') ||
        CASE WHEN json_array_length(value, '\$.samples') = json_array_length(value, '\$.weights') THEN '' ELSE '?' END, ', ')
        FROM file, json_each(doc, '\$.profiles') AS profile")" \
        'peak_added 205000 205000, live_peak 206000 206000, live_end 3000 3000, net 2000 2000, total 205000 205000, count 3 3'
    same 'numbers frames that are there, with names' "$(query "SELECT count(*) FROM file,
        json_each(doc, '\$.profiles') AS p, json_each(p.value, '\$.samples') AS s, json_each(s.value) AS f
        WHERE json_type(doc, '\$.shared.frames[' || f.value || '].name') IS NOT 'text'")" 0

    status 'Bencher' 0 "$votreport" export -f bencher a.db
    same 'has objects of objects with numbers, as its schema says' "$(query "SELECT count(*), sum(json_type(m.value, '\$.value') = 'integer')
        FROM file, json_each(doc) AS b, json_each(b.value) AS m")" '12|12'
    same 'has the value' "$(query "SELECT doc ->> '\$.\"votable.parse(format=binary)\".\"peak-added\".value' FROM file")" 205000

    status 'github-action-benchmark' 0 "$votreport" export -f github a.db
    same 'has name, unit and value' "$(query "SELECT group_concat(value ->> 'name' || ' ' || (value ->> 'value') || ' ' || (value ->> 'unit'), ', ')
        FROM file, json_each(doc)")" \
        'votable.parse(format=binary) peak_added 205000 bytes, votable.parse(format=text) peak_added 5000 bytes'

    status 'asv' 0 "$votreport" export -f asv --commit 0123456789abcdef a.db
    same 'has its keys' "$(query "SELECT group_concat(key) FROM file, json_each(doc)")" \
        commit_hash,env_name,date,params,python,requirements,env_vars,result_columns,results,durations,version
    same 'has a result for each parameter' "$(query "SELECT doc ->> '\$.results.\"votable.parse\"[0]' FROM file")" '[205000,5000]'
    same 'and the parameters' "$(query "SELECT doc ->> '\$.results.\"votable.parse\"[1]' FROM file")" "[[\"'binary'\",\"'text'\"]]"
    same 'is of the commit' "$(query "SELECT doc ->> '\$.commit_hash' FROM file")" 0123456789abcdef
    status 'what asv knows of benchmarks' 0 "$votreport" export -f asv-benchmarks a.db
    same 'names them' "$(query "SELECT doc ->> '\$.\"votable.parse\".param_names[0]', doc ->> '\$.\"votable.parse\".unit', doc ->> '\$.version' FROM file")" 'format|bytes|2'
    status 'what asv knows of the machine' 0 "$votreport" export -f asv-machine a.db
    same 'names it' "$(query "SELECT doc ->> '\$.machine', doc ->> '\$.version' FROM file")" "$(uname -n)|1"

    status 'CSV of sites' 0 export_of csv-sites a.db@1
    same 'is read by sqlite3 and adds up' "$(sqlite3 :memory: '.import --csv out t' \
        'SELECT sum(peak_added), sum(live_peak), sum(live_end), sum(net), sum(total), sum(count) FROM t')" \
        '205000|206000|3000|2000|205000|3'
    status 'CSV of regions' 0 "$votreport" export -f csv a.db
    same 'has them all' "$(sqlite3 :memory: '.import --csv out t' \
        "SELECT group_concat(parameters || ' ' || peak_added, ', ') FROM t WHERE region = 'parse'")" \
        'format=binary 205000, format=text 5000'
else
    skip 23 'there is no sqlite3'
fi

# What cannot be.
status 'no format' 2 "$votreport" export a.db
line 'is asked for' 'votreport: export: which --format? (votreport export --help explains)'
status 'an unknown format' 2 "$votreport" export -f svg a.db
line 'is none' "votreport: export: there is no format 'svg' (votreport export --help explains)"
status 'an unknown metric' 2 "$votreport" export -f folded --metric rss a.db
line 'is none, too' "votreport: export: there is no metric 'rss' (votreport export --help explains)"
status 'two stores' 2 "$votreport" export -f folded a.db b.db
line 'are one too many' 'votreport: export: --format folded takes one store (votreport export --help explains)'
status 'a region that is not there' 2 "$votreport" export -f folded --region decode a.db@1
line 'is said' "votreport: a.db@1: run 1 has no region 'decode'"
echo old >kept
status 'a failure' 2 "$votreport" export -f folded --region decode -o kept a.db
same 'leaves what was there' "$(cat kept)" old
status 'a full disk' 2 "$votreport" export -f csv -o /dev/full a.db
line 'is said' 'votreport: /dev/full: cannot be written: No space left on device, free some space or write elsewhere'
run k.db binary 10 kill >/dev/null 2>&1
status 'runs that were killed' 2 "$votreport" export -f bencher k.db
says 'are left out' err "is left out: the program was ended by a signal (--allow-incomplete takes it)"
status 'unless they are wanted' 0 "$votreport" export -f bencher --allow-incomplete k.db

for format in $("$votreport" export --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    after=
    [ "$format" = difffolded ] && after=b.db
    "$votreport" export -f "$format" -o "made.$format" --commit 0123 a.db ${after:+"$after"} 2>err
    result $? "--help names $format, which there is"
done

same 'nothing was left behind' "$(ls tmp)" ''
finish
