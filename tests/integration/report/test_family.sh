#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_family.sh VOTREPORT VICTIM LIBVOTRACE OWN_MALLOC OLD_STORE: children, programs that replace
# themselves or bring their own malloc, regions by signal, and stores of an earlier version.
# Prints TAP. OLD_STORE is such a store as SQL.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
own_malloc=$(absolute "$4")
old_store=$(absolute "$5")
export VOTRACE_LIBRARY
begin

# Two children of one program, one of another.
printf '#!/bin/sh\n"%s" 10\n"%s" 20\n/bin/true\nexit 0\n' "$victim" "$victim" >family.sh
chmod +x family.sh
status 'children are stored when asked for' 0 \
    "$votreport" run --db f.db --name fam --children exec -- ./family.sh
says 'each is said to be a child' err "note: run 1 is fam/victim, a child of run 4"
says 'the second of a program has a number' err "note: run 2 is fam/victim#2, a child of run 4"
status 'list has them' 0 "$votreport" list --json f.db
same 'as benchmarks of their own, the program last' "$(values benchmark | tr '\n' ' ')" \
    '"fam/victim" "fam/victim#2" "fam/true" "fam" '
same 'in one set' "$(values set | sort -u | wc -l)" 1
status 'the newest run is the program itself' 0 "$votreport" show f.db
says 'by its name' out 'run 4: fam'
status 'a child' 0 "$votreport" show --run 2 --bytes f.db
says 'names its parent' out '(run 4)'
says 'and has its own numbers' out 'parse         5,020'
cp f.db g.db
status 'families are compared child by child' 0 "$votreport" diff f.db g.db
says 'each with its own' out 'fam/victim#2'
same 'none of them varies' "$(grep -c varies out)" 0

status 'no child is stored when told so' 0 \
    "$votreport" run --db n.db --children none -- ./family.sh
status 'only the program is there' 0 "$votreport" list --json n.db
same 'once' "$(values run | wc -l)" 1
status 'children are counted when nothing is asked for' 0 "$votreport" run --db d.db -- ./family.sh
says 'and how to have them is said' err '--children exec or follow stores them'

status 'forks are followed' 0 "$votreport" run --db fork.db --name forks --children follow -- \
    /bin/sh -c '(:); :'
says 'and said to be forks' err 'a forked child of run 2'
status 'the forked child' 0 "$votreport" show --run 1 fork.db
says 'names its parent' out 'forked child of pid'
says 'and its run' out '(run 2)'
status 'its parent' 0 "$votreport" show --run 2 fork.db
says 'missed nothing' out 'complete  yes'

status 'an exec is followed' 0 "$votreport" run --db e.db --name e --children exec -- \
    "$victim" 10 exec
says 'and said' err 'note: run 1 is e/victim, which was replaced by run 2'
status 'what was before it' 0 "$votreport" show --run 1 e.db
says 'ended by it' out 'replaced by another program (exec)'
says 'and is whole' out 'complete  yes'
status 'gate judges it' 0 "$votreport" gate e.db e.db

# sh sends itself the signal twice: one region of what is between.
# shellcheck disable=SC2016 # for the shell that is measured
status 'signals mark a region' 0 "$votreport" run --db s.db --signal USR2 --region load -- \
    /bin/sh -c 'kill -USR2 $$; x=$(printf %0500d 1); kill -USR2 $$; :'
status 'which is there' 0 "$votreport" show --json --region load s.db
same 'by its name, ended' "$(values open | head -n 1)" false

status 'a program that brings its own malloc' 0 "$votreport" run --db m.db -- "$own_malloc"
says 'is warned of' err "warning: it brings its own malloc: what it allocates by that is not seen"

status 'children of an unknown kind' 2 "$votreport" run --db x.db --children all -- "$victim"
same 'are no option' "$(cat err)" \
    "votreport: run: --children takes none, exec or follow, not 'all' (votreport run --help explains)"
status 'an unknown signal' 2 "$votreport" run --db x.db --signal NOPE -- "$victim"
says 'is none' err "--signal takes the name of a signal, like USR2, not 'NOPE'"
status 'a signal that cannot be caught' 2 "$votreport" run --db x.db --signal SIGKILL -- "$victim"
status 'a region without a signal' 2 "$votreport" run --db x.db --region load -- "$victim"
says 'is said' err '--region names what --signal marks, which is missing'
[ ! -e x.db ]
result $? 'no store was made'

if command -v sqlite3 >/dev/null; then
    sqlite3 old.db <"$old_store"
    before=$(cksum <old.db)
    status 'a store of version 1 is listed' 0 "$votreport" list old.db
    says 'with its runs' out 'votable.parse(format=binary)'
    status 'and shown' 0 "$votreport" show --bytes --run 1 old.db
    says 'to the byte' out 'parse        25,000       1,000     26,000'
    status 'and compared' 0 "$votreport" diff old.db old.db
    same 'without being changed' "$(cksum <old.db)" "$before"
    status 'a run is added to it' 0 "$votreport" run --db old.db --name new -- "$victim" 10
    same 'and makes it one of this version' "$(sqlite3 old.db 'PRAGMA user_version')" 3
    same 'that holds together' "$(sqlite3 old.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" ok
    status 'the old runs are still there' 0 "$votreport" show --bytes --run 1 old.db
    says 'to the byte, too' out 'parse        25,000       1,000     26,000'
    chmod a-w old.db
    sqlite3 old2.db <"$old_store"
    chmod a-w old2.db .
    status 'an old store that cannot be written is read' 0 "$votreport" list old2.db
    chmod u+w .
fi

same 'nothing was left behind' "$(ls tmp)" ''
finish
