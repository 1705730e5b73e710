#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_top.sh VOTREPORT VICTIM LIBVOTRACE: who holds most, as a list and as a tree. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
. "$here/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
export VOTRACE_LIBRARY
begin

"$votreport" run --db a.db --name votable.parse -- "$victim" 200000 || exit 1
"$votreport" run --db bare.db --stacks none -- "$victim" 10 || exit 1

# The bytes in the first column of the lines that a pattern matches, added up.
sum_of() {
    sed -n "/$1/!d;s/^ *\\([0-9,]*\\) .*/\\1/p" out | tr -d , | awk '{ sum += $1 } END { print sum + 0 }'
}

status 'top lists' 0 "$votreport" top --bytes a.db
says 'the run' out 'run 1: votable.parse'
says 'the region and what is added up' out 'parse: heap added at the peak'
says 'the function that buffers' out 'buffer_rows'
same 'what each holds itself adds up to the total' "$(sum_of '\.c:')" "$(sum_of TOTAL)"
same 'which is the region'"'"'s' "$(sum_of TOTAL)" 205000
status 'with callees main is first' 0 "$votreport" top --callees --lines 3 a.db
says 'and has all' out '100.0 %'
says 'what has no line is among the others' out 'others]'
status 'by module' 0 "$votreport" top --by module a.db
says 'there is the program' out victim
status 'by file' 0 "$votreport" top --by file a.db
says 'there is its source' out victim.c
status 'by line' 0 "$votreport" top --by line a.db
says 'there is a line of it' out 'victim.c:'
status 'allocations are counted' 0 "$votreport" top --metric count --tree a.db
says 'and said to be' out 'parse: allocations'
status 'of one region' 0 "$votreport" top --region process a.db
says 'the process' out 'process: heap added'
status 'JSON' 0 "$votreport" top --json --metric total a.db
same 'has the metric' "$(values metric)" '"total"'
same 'and adds up' "$(values self | awk '{ sum += $1 } END { print sum }')" "$(values total)"

status 'a tree' 0 "$votreport" top --tree --bytes a.db
says 'has the function at the end of its calls' out 'buffer_rows ('
same 'and the total' "$(sum_of TOTAL)" 205000
LC_ALL=C.UTF-8 "$votreport" top --tree --lines 50 a.db >out 2>err
says 'has branches' out '└─ '
LC_ALL=C "$votreport" top --tree --lines 50 a.db >out 2>err
says 'of ASCII where there is no other' out '`- '
status 'show has the tree, too' 0 "$votreport" show --tree --bytes a.db
says 'by call' out 'added at its peak, by call'
same 'with its total' "$(sum_of TOTAL)" 205000

status 'a run without stacks' 0 "$votreport" top bare.db
says 'says so' out '(no call stack taken)'
status 'a region that is not there' 2 "$votreport" top --region nowhere a.db
line 'is said' "votreport: a.db: run 1 has no region 'nowhere'"
status 'a run that is not there' 2 "$votreport" top --run 77 a.db
status 'a metric without call sites' 2 "$votreport" top --metric time a.db
says 'is none' err "--metric takes peak_added, live_end, total, count or peak_map, not 'time'"
status 'a wrong --by' 2 "$votreport" top --by color a.db
says 'is none, too' err "--by takes function, file, module or line, not 'color'"
status 'a tree in JSON' 2 "$votreport" top --tree --json a.db
status 'no store' 2 "$votreport" top
status 'two stores' 2 "$votreport" top a.db a.db
finish
