#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_store.sh VOTREPORT VICTIM LIBVOTRACE OLD_STORES: stores that are merged, pruned, checked and
# asked; killed, full, locked, copied, damaged, or none of ours. Prints TAP. OLD_STORES is the
# folder of stores of earlier versions as SQL.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
old_stores=$(absolute "$4")
export VOTRACE_LIBRARY
command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
begin

# ask STORE QUESTION: the answer in plain sqlite3, without a line break.
ask() {
    sqlite3 "$1" "$2" | tr '\n' ' ' | sed 's/ $//'
}

measure() {
    measure_db=$1
    shift
    "$votreport" run --db "$measure_db" --name parse "$@" >/dev/null 2>&1
}

# Where a run came from.
measure a.db --commit c1 --branch main -- "$victim" 1000
measure a.db --commit c2 --branch main -- "$victim" 1000
measure a.db --commit c3 --branch topic -- "$victim" 2000
same 'commit and branch are stored as given' \
    "$(ask a.db 'SELECT commit_hash, branch FROM run')" 'c1|main c2|main c3|topic'
status 'and are in the listing' 0 "$votreport" list --json a.db
same 'as what they are' "$(values commit | tr '\n' ' ')" '"c1" "c2" "c3" '
same 'the same numbers of two runs are there once' \
    "$(ask a.db 'SELECT count(DISTINCT site_set_id) FROM region WHERE run_id < 3')" 2

# Plain sqlite3 sees what votreport says.
same 'v_regions has what a region added' \
    "$(ask a.db "SELECT run_id, peak_added FROM v_regions WHERE region = 'parse'")" \
    '1|6000 2|6000 3|7000'
same 'v_latest has the newest run only' \
    "$(ask a.db "SELECT run_id, region FROM v_latest")" '3|process 3|parse'
same 'v_sites has call sites that add up to the peak' \
    "$(ask a.db "SELECT sum(peak_bytes) - (SELECT live_peak FROM v_regions WHERE run_id = 3
                 AND region = 'parse') FROM v_sites WHERE run_id = 3 AND region = 'parse'")" 0
same 'v_sites names functions' \
    "$(ask a.db "SELECT peak_bytes FROM v_sites WHERE run_id = 3 AND region = 'parse'
                 AND function = 'buffer_rows'")" 2000
plan=$(sqlite3 a.db "EXPLAIN QUERY PLAN SELECT * FROM v_sites WHERE run_id = 3")
printf '%s\n' "$plan" >out
says 'v_sites looks at the regions of that run alone' out 'SEARCH region USING INDEX'
grep -q 'SCAN region\|SCAN packed_set' out
result $((1 - $?)) 'and scans no table'

# Questions.
status 'sql answers with a table' 0 "$votreport" sql a.db \
    "SELECT run_id, region, peak_added FROM v_regions WHERE region = 'parse' ORDER BY run_id DESC"
same 'that lines up' "$(cat out)" 'run_id  region  peak_added
     3  parse         7000
     2  parse         6000
     1  parse         6000'
status 'as JSON' 0 "$votreport" sql --json a.db 'SELECT 1 AS a, NULL AS b, 2.5 AS c, x'"'00ff'"' AS d'
same 'with its types' "$(tr -d ' \n' <out)" '[{"a":1,"b":null,"c":2.5,"d":"00ff"}]'
status 'as CSV' 0 "$votreport" sql --csv a.db "SELECT 'a,b' AS x, 3 AS y"
same 'with quotes' "$(tr -d '\r' <out)" 'x,y
"a,b",3'
echo 'SELECT count(*) AS runs FROM run' | "$votreport" sql --csv a.db >out 2>err
result $? 'and from standard input'
cp a.db before.db
for question in 'DELETE FROM run' 'DROP TABLE run' "ATTACH 'x.db' AS x" "VACUUM INTO 'x.db'" \
    'PRAGMA user_version = 9' 'PRAGMA journal_mode = WAL' 'BEGIN' 'PRAGMA query_only = 0' \
    'CREATE TEMP TABLE t (a)' 'SELECT 1; DELETE FROM run' "SELECT load_extension('x')"; do
    status "sql refuses: $question" 2 "$votreport" sql a.db "$question"
done
status 'sql says where SQL is wrong' 2 "$votreport" sql a.db 'SELECT nope FROM run'
line 'in one line' 'votreport: a.db: no such column: nope'
cmp -s a.db before.db && [ ! -e x.db ]
result $? 'none of them changed or made a file'

# All is well, until it is not.
status 'check finds nothing wrong' 0 "$votreport" check a.db
same 'and says so' "$(cat out)" 'a.db: all is well'
while read -r what words; do
    cp a.db broken.db
    sqlite3 broken.db "$(printf '%s' "$what" | tr '~' ' ')"
    status "check finds: $words" 2 "$votreport" check broken.db
    says 'and says what' err "$words"
done <<'EOT'
UPDATE~region_total~SET~live_peak=live_peak+1~WHERE~region_id=2 run 1: damaged: region "parse"
UPDATE~run~SET~headline_added=5~WHERE~id=2 run 2: what a listing says of it
UPDATE~site_set~SET~digest=5~WHERE~id=1 set 1 of sites is not what its digest says
DROP~INDEX~run_by_set index run_by_set is missing
DROP~VIEW~v_latest;CREATE~VIEW~v_latest~AS~SELECT~1 view v_latest is not that of version 3
DELETE~FROM~module~WHERE~id=2 refers to a module that is not there
DELETE~FROM~symbol run 1: a call stack names a frame that is not there
EOT
cp a.db broken.db
sqlite3 broken.db 'DROP TABLE region_total'
for command in list show diff check; do
    case $command in
    diff) status "a missing table is told by diff" 2 "$votreport" diff broken.db a.db ;;
    list) status 'list goes without' 0 "$votreport" list broken.db ;;
    *) status "a missing table is told by $command" 2 "$votreport" "$command" broken.db ;;
    esac
done

# Two stores and one of each earlier version into one, and again.
measure b.db --commit c4 -- "$victim" 3000
for version in 1 2; do
    sqlite3 "old$version.db" <"$old_stores/version-$version.sql"
done
status 'stores are merged' 0 "$votreport" merge b.db a.db old1.db old2.db -o all.db
same 'all runs are in' "$(cat out)" 'all.db: 8 runs added, 0 there already'
same 'oldest first' "$(ask all.db 'SELECT count(*) FROM run a JOIN run b ON b.id = a.id + 1
                                   WHERE b.start_ns < a.start_ns')" 0
cp all.db before.db
status 'a second time nothing is new' 0 "$votreport" merge a.db all.db b.db old2.db -o all.db
same 'and it says so' "$(cat out)" 'all.db: 0 runs added, 6 there already'
cmp -s all.db before.db
result $? 'and the file is the same to the byte'
status 'what is merged holds together' 0 "$votreport" check all.db
same 'every run has the numbers it had' \
    "$(ask all.db "SELECT sum(peak_bytes), sum(allocated_blocks), sum(start_bytes) FROM v_sites
                   WHERE run_id IN (SELECT id FROM run WHERE commit_hash <> '')")" \
    "$(sqlite3 a.db "ATTACH 'b.db' AS b; SELECT sum(p), sum(a), sum(s) FROM (
        SELECT peak_bytes AS p, allocated_blocks AS a, start_bytes AS s FROM main.v_sites
        UNION ALL SELECT peak_bytes, allocated_blocks, start_bytes FROM b.v_sites)")"
status 'a store that is not there is no store to merge' 2 "$votreport" merge a.db none.db -o new.db
line 'and that is said' 'votreport: none.db: there is no such store'
[ ! -e new.db ]
result $? 'and nothing is made'
cp a.db broken.db
sqlite3 broken.db 'UPDATE region_total SET live_peak = live_peak + 1'
status 'a damaged store is not merged' 2 "$votreport" merge b.db broken.db -o new.db
[ ! -e new.db ]
result $? 'not even the runs that were well'

# Old runs lose their sites.
for bytes in 1100 1200 1300 1400 1500 1600; do
    measure p.db -- "$victim" "$bytes"
done
status 'show before' 0 "$votreport" show --bytes --run 1 p.db
grep '^parse  ' out >shown
status 'old runs are pruned' 0 "$votreport" prune --keep 2 p.db
says 'and counted' out 'p.db: 4 runs pruned'
same 'the newest keep their sites' \
    "$(ask p.db 'SELECT DISTINCT run_id FROM v_sites')" '5 6'
same 'totals are kept' "$(ask p.db "SELECT peak_added FROM v_regions WHERE region = 'parse'")" \
    '6100 6200 6300 6400 6500 6600'
status 'a pruned run is shown' 0 "$votreport" show --bytes --run 1 p.db
grep '^parse  ' out | cmp -s shown -
result $? 'with the same numbers'
status 'and compared' 0 "$votreport" diff p.db p.db
status 'what is left holds together' 0 "$votreport" check p.db
status 'nothing is left to prune' 0 "$votreport" prune --keep 2 p.db
says 'and that is said' out 'p.db: 0 runs pruned, 0 call stacks dropped'
measure p.db -- "$victim" 1600
status 'a run is added after it' 0 "$votreport" check p.db
status 'pruning wants a number' 2 "$votreport" prune p.db
status 'pruning makes no store' 2 "$votreport" prune --keep 3 none.db
[ ! -e none.db ]
result $? 'indeed'
cp old2.db o.db
status 'a store of an earlier version is pruned' 0 "$votreport" prune --keep 1 o.db
status 'and holds together' 0 "$votreport" check o.db

# Files that are none of ours, or were damaged: each command says so in one line, and changes nothing.
printf 'This is a text that is long enough to be taken for a database by who does not look.\n' >text.db
sqlite3 other.db 'CREATE TABLE run (id)'
cp a.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
head -c 5000 a.db >cut.db
cp a.db zeroed.db
dd if=/dev/zero of=zeroed.db bs=4096 seek=1 count=200 conv=notrunc 2>/dev/null
cp a.db rootless.db
sqlite3 rootless.db 'DROP TABLE run'
: >empty.db
mkdir folder.db
for file in text other newer cut zeroed rootless empty folder; do
    [ -d "$file.db" ] || cksum "$file.db" >sum
    for command in list show diff sql merge prune; do
        case $command in
        diff) set -- diff "$file.db" "$file.db" ;;
        sql) set -- sql "$file.db" 'SELECT count(*) FROM run' ;;
        merge) set -- merge "$file.db" -o merged.db ;;
        prune) set -- prune --keep 1 "$file.db" ;;
        *) set -- "$command" "$file.db" ;;
        esac
        "$votreport" "$@" >out 2>err
        code=$?
        [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "^votreport: [a-z]*\.db: ." err
        result $? "$command refuses $file.db in one line"
    done
    "$votreport" check "$file.db" >out 2>err
    [ $? -eq 2 ] && [ -s err ] && ! grep -qv "^votreport: $file.db: ." err
    result $? "check refuses $file.db"
    [ -d "$file.db" ] || cksum "$file.db" | cmp -s sum -
    result $? "and $file.db is as it was"
done
[ ! -e merged.db ]
result $? 'nothing was merged'

finish
