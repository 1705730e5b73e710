#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_compare.sh VOTREPORT VICTIM LIBVOTRACE: diff, gate and trend in all the ways that they take:
# parts of stores, metrics, trees, files of limits, baselines, and the reports for CI. Prints TAP.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
export VOTRACE_LIBRARY
unset GITHUB_STEP_SUMMARY GITHUB_SHA GITHUB_REF_NAME GITHUB_HEAD_REF CI_COMMIT_SHA
begin

# run STORE COMMIT BYTES
run() {
    "$votreport" run --db "$1" --name rows --commit "$2" --branch main -- "$victim" "$3"
}
for bytes in 100000 100100 100200; do
    run all.db "c0ffee0$bytes" "$bytes" >/dev/null 2>&1
done
run base.db c0ffee0100000 100000
run new.db c0ffee0300000 300000

status 'diff takes commits of one store' 0 \
    "$votreport" diff --bytes all.db@c0ffee0100000 all.db@c0ffee0100200
says 'the numbers are theirs' out '+       105,000  105,200   1.00  rows:parse'
says 'the tree has the function that asked for more' out 'buffer_rows (report/victim.c:'
says 'and the total' out '+200  105,000  105,200  TOTAL'
status 'diff takes runs, and a benchmark' 0 "$votreport" diff --bytes all.db@1 all.db@rows
says 'the newest is meant' out '+       105,000  105,200   1.00  rows:parse'
status 'what is ambiguous is refused' 2 "$votreport" diff all.db@c0ffee all.db
line 'in one line' "votreport: all.db@c0ffee: several commits begin with 'c0ffee': say more of it"
status 'what is not there is refused' 2 "$votreport" diff all.db@nope all.db
line 'in one line, too' \
    "votreport: all.db@nope: there is no run, commit or benchmark 'nope' in this store"

for metric in peak_added live_end total count peak_map combined rss time; do
    status "diff by $metric" 0 "$votreport" diff --metric "$metric" base.db new.db
done
says 'one run of what varies tells nothing' out 'repeats on each side are needed'
status 'diff by module' 0 "$votreport" diff --by module --bytes base.db new.db
says 'has the program' out '+200,000  105,000  305,000  victim'
status 'an unknown metric' 2 "$votreport" diff --metric heap base.db new.db
line 'is said' "votreport: diff: --metric takes peak_added, live_end, total, count, peak_map, \
combined, rss or time, not 'heap' (votreport diff --help explains)"
status 'diff as CSV' 0 "$votreport" diff --format csv base.db new.db
says 'has exact numbers' out 'worse,rows,parse,peak_added,105000,105000,105000,1,305000,305000,305000,1,200000,'
status 'diff as Markdown' 0 "$votreport" diff --format markdown -o d.md base.db new.db
says 'has a headline' d.md '### votrace: 1 of 1 benchmarks need more, 0 less'
status 'diff as a page' 0 "$votreport" diff --format html -o d.html base.db new.db
says 'is HTML' d.html '<!DOCTYPE html>'

status 'a small step passes' 0 "$votreport" gate all.db@c0ffee0100100 all.db@c0ffee0100200 \
    --max-ratio 1 --max-added 100
status 'but not beyond the baseline' 1 "$votreport" gate all.db@c0ffee0100100 \
    all.db@c0ffee0100200 --max-ratio 1 --max-added 100 --baseline all.db@c0ffee0100000
says 'and says so' out 'heap added at the peak grew since the baseline'

printf '%s\n' '# limits' 'limit * peak_added ratio 4' 'limit * combined ratio 4' >limits
status 'limits from a file' 0 "$votreport" gate --thresholds limits base.db new.db
printf '%s\n' 'limit * count added 0' >>limits
status 'of other metrics, too' 0 "$votreport" gate --thresholds limits base.db new.db
printf '%s\n' 'limit rows total ratio 1.5' >>limits
status 'which may fail' 1 "$votreport" gate --thresholds limits base.db new.db
says 'by their words' out 'rows:parse: bytes allocated in all grew'
printf '%s\n' 'allow rows total added 1MB until 2000-01-01 because "a test"' >>limits
status 'an allowance ends' 1 "$votreport" gate --thresholds limits base.db new.db
says 'and is remembered' out 'its allowance ended on 2000-01-01: a test'
printf '%s\n' 'allow rows total added 1MB until 9999-01-01 because "a test"' >>limits
status 'or holds' 0 "$votreport" gate --thresholds limits base.db new.db
says 'with its reason' out 'allowed until 9999-01-01: a test'
printf '%s\n' 'limit rows' >>limits
status 'a wrong line is no answer' 2 "$votreport" gate --thresholds limits base.db new.db
line 'and is named' 'votreport: limits:8: which benchmark, and which metric?'
status 'nor is a file that is not there' 2 "$votreport" gate --thresholds none base.db new.db

sqlite3 new.db "update run set allocator='libother.so'" || exit 99
status 'another allocator is no answer' 2 "$votreport" gate base.db new.db
says 'and is named' out 'another allocator: '
status 'unless it is allowed' 1 "$votreport" gate --allow-unlike base.db new.db

mkdir -p repo/report repo/.git
: >repo/report/victim.c
printf 'before\n' >job.md
GITHUB_STEP_SUMMARY=$PWD/job.md
export GITHUB_STEP_SUMMARY
status 'reports for CI' 1 "$votreport" gate --allow-unlike --summary github --junit j.xml \
    --annotate github --root repo base.db new.db
says 'the annotation has file and line' out '::error file=report/victim.c,line='
same 'the job keeps its summary' "$(head -n 1 job.md)" before
says 'and gets ours' job.md '### votrace: memory grew beyond its limits'
if command -v xmllint >/dev/null; then
    status 'the XML is well-formed' 0 xmllint --noout j.xml
fi
says 'and has the failure' j.xml '<failure message="heap added at the peak: 298 KiB, before 103 KiB'
unset GITHUB_STEP_SUMMARY
status 'no job, no summary' 2 "$votreport" gate --summary github base.db base.db
status 'a summary that cannot be written' 2 "$votreport" gate --summary none/s.md base.db base.db

status 'trend over commits' 0 "$votreport" trend --bytes all.db rows
says 'has the steps' out 'c0ffee010020'
says 'with what they added' out '105,100  105,200    +100   1.00'
status 'trend speaks JSON' 0 "$votreport" trend --json all.db rows
same 'with every commit' "$(values value | tr '\n' ' ')" '105000 105100 105200 '
status 'trend of a benchmark that is not there' 2 "$votreport" trend all.db nope
line 'is refused' "votreport: all.db: there is no run of a benchmark named 'nope'"
status 'trend of a region that is not there' 2 "$votreport" trend --region nope all.db rows
line 'is refused, too' "votreport: all.db: no run of 'rows' has a region 'nope'"
finish
