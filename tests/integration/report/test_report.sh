#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_report.sh VOTREPORT VICTIM LIBVOTRACE STATIC: votreport as its users run it, from a program
# to the gate. Prints TAP. STATIC is a statically linked program, or empty.
set -u

. "$(dirname "$0")/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
static=$(absolute "$4")
export VOTRACE_LIBRARY
begin

run() {
    "$votreport" run --db "$1" --name votable.parse --param "format=$2" -- "$victim" "$3" ${4+"$4"}
}

status 'run passes a success on' 0 run a.db binary 200000
same 'run prints nothing of its own' "$(cat out err)" ''
status 'run stores another parameter' 0 run a.db text 0
status 'run makes the other store' 0 run b.db binary 0
status 'run makes the other store, too' 0 run b.db text 0
same 'run leaves no trace behind' "$(ls tmp)" ''

status 'list lists' 0 "$votreport" list a.db
says 'list names benchmark and parameters' out 'votable.parse(format=binary)'
status 'list speaks JSON' 0 "$votreport" list --json a.db
same 'list knows the peak added' "$(values peak_added | head -n 1)" 205000

status 'show shows' 0 "$votreport" show --run 1 --bytes a.db
says 'show has the region, exact' out 'parse       205,000       1,000    206,000     3,000  +2,000'
says 'show names the buffering function' out 'buffer_rows (report/victim.c:'
says 'show names its callers' out '< parse < main'
says 'show adds up' out '100 %       3  TOTAL'
status 'show speaks JSON' 0 "$votreport" show --run 1 --region parse --json a.db
same 'live_start' "$(values live_start | head -n 1)" 1000
same 'live_peak' "$(values live_peak | head -n 1)" 206000
same 'live_end' "$(values live_end | head -n 1)" 3000
same 'net' "$(values net | head -n 1)" 2000
same 'allocations' "$(values allocations | head -n 1)" 3
same 'frees' "$(values frees | head -n 1)" 2
sum=0
for bytes in $(values at_peak); do
    sum=$((sum + bytes))
done
same 'the sites add up to live_peak' "$sum" 206000
if command -v python3 >/dev/null; then
    for listing in 'list' 'show' 'diff a.db' 'gate a.db'; do
        # shellcheck disable=SC2086
        "$votreport" $listing --json b.db >out 2>err
        python3 -m json.tool out >/dev/null 2>>err
        result $? "$listing --json is JSON"
    done
fi

status 'diff compares' 0 "$votreport" diff --bytes a.db b.db
cp out diff.txt
says 'diff marks what fell' diff.txt '-       205,000  5,000   0.02  votable.parse(format=binary)'
says 'diff marks what stayed' diff.txt '~         5,000  5,000   1.00  votable.parse(format=text)'
says 'diff names what is gone' diff.txt '-200,000  200,000      0    [GONE] buffer_rows (report/victim.c:'
says 'diff adds up' diff.txt '-200,000  205,000  5,000  TOTAL'
same 'diff says nothing of what did not change' "$(grep -c decode_rows diff.txt)" 0

status 'gate passes what fell' 0 "$votreport" gate a.db b.db
status 'gate fails what grew' 1 "$votreport" gate b.db a.db
says 'gate names what grew' out 'REGRESSION  4.88 KiB   200 KiB  41.00  votable.parse(format=binary)'
status 'gate lets pass what is below the floor' 0 "$votreport" gate --max-added 1MB b.db a.db
status 'gate lets pass what is below the ratio' 0 "$votreport" gate --max-ratio 50 b.db a.db
# 655,360 bytes are whole pages of any size; 5,000 bytes more are decoded.
status 'a run with its rows in the heap' 0 run heap.db heap 655360
status 'a run with its rows mapped' 0 "$votreport" run --db mapped.db --name votable.parse --param format=heap -- "$victim" 655360 map
status 'diff compares them' 0 "$votreport" diff --bytes heap.db mapped.db
says 'diff says where the memory went' out '  anonymous mappings: 0 -> 655,360 at their peak (+655,360); heap and mappings together: 660,360 -> 660,360 (0)'
status 'gate does not take memory that moved for more' 0 "$votreport" gate heap.db mapped.db
status 'a run without rows' 0 run without.db heap 0
status 'gate sees mappings that grew' 1 "$votreport" gate --bytes without.db mapped.db
says 'gate says which they are' out 'votable.parse(format=heap): heap and anonymous mappings together grew'
says 'gate says how much' out '  anonymous mappings: 0 -> 655,360 at their peak'
status 'gate speaks JSON' 1 "$votreport" gate --json without.db mapped.db
says 'gate has the numbers' out '"after": 660360'

if command -v strip >/dev/null && strip -o stripped "$victim" 2>err; then
    status 'a stripped program runs' 0 "$votreport" run --db stripped.db -- ./stripped 200000
    status 'show shows it' 0 "$votreport" show --bytes --sites 9 --region parse stripped.db
    grep ' % .* stripped+0x' out | sed 's/^ *//; s/ .*//' >sizes
    same 'its calls are told apart' "$(tr '\n' ' ' <sizes)" '200,000 3,000 2,000 '
fi

status 'gate has no answer without a store' 2 "$votreport" gate a.db missing.db
line 'gate says which' 'votreport: missing.db: there is no such store'
[ ! -e missing.db ]
result $? 'gate creates nothing'

status 'run passes a failure on' 3 run f.db x 10 fail
status 'gate has no answer for failed runs' 2 "$votreport" gate f.db f.db
says 'gate says why' out 'the program failed'
status 'gate answers when told to' 0 "$votreport" gate --allow-incomplete f.db f.db
status 'run passes a signal on' 137 run k.db x 10 kill
status 'a killed run is there' 0 "$votreport" show --bytes k.db
says 'with its peak so far' out 'parse, open       5,010'
says 'and says so' out 'end not seen, peaks so far'

status 'run repeats' 0 "$votreport" run --db r.db --repeat 3 -- "$victim" 10
status 'repeats are there' 0 "$votreport" list r.db
same 'each of them' "$(grep -c ' victim$' out)" 3
status 'repeats agree' 0 "$votreport" diff r.db r.db
same 'to the byte' "$(grep -c varies out)" 0

printf '#!/bin/sh\nexit 0\n' >one.sh
chmod +x one.sh
status 'run takes a script' 0 "$votreport" run --db one.db -- ./one.sh
status 'which is listed' 0 "$votreport" list --json one.db
same 'by its own name, not by that of its interpreter' "$(values benchmark)" '"one.sh"'

status 'run takes no stacks when told not to' 0 "$votreport" run --db ns.db --stacks none -- "$victim" 10
status 'show speaks JSON of it' 0 "$votreport" show --json --region parse ns.db
same 'without a stack' "$(sed -n 's/^ *"stack": //p' out | sort -u)" '[]'
for key in function file module; do
    same "and with a $key at each site" "$(values $key | sort | uniq -c)" \
        "$(values at_peak | sed 's/.*/""/' | sort | uniq -c)"
done
for key in line offset; do
    same "and with a $key at each site" "$(values $key | sort | uniq -c)" \
        "$(values at_peak | sed 's/.*/0/' | sort | uniq -c)"
done

status 'run measures the worst of two instances' 0 run t.db x 10 twice
status 'diff says so' 0 "$votreport" diff t.db t.db
says 'which one' out 'the worst of 2 instances counts, #2'

status 'run follows an exec' 0 run e.db x 10 exec
says 'and says so' err 'it replaced itself by another program (exec) 1 time'
status 'run counts other processes' 0 run s.db x 10 spawn
says 'without importing them' err 'left traces, which were not imported'
status 'one run was stored' 0 "$votreport" list --json s.db
same 'only one' "$(values run | wc -l)" 1

status 'run tells what it could not measure' 0 "$votreport" run --db fork.db --keep-trace \
    -- /bin/sh -c '(:); :'
says 'in words' err 'votreport: /bin/sh: note: incomplete: 1 forked child not measured'
trace=$(sed -n 's/^votreport: the trace is //p' err)
status 'import tells it' 0 "$votreport" import --db fork2.db "$trace"
line 'too' "votreport: $trace: note: incomplete: 1 forked child not measured"
status 'list tells it' 0 "$votreport" list fork.db
says 'too' out '  1 forked child not measured'

status 'run keeps a trace when told to' 0 "$votreport" run --db kt.db --keep-trace -- "$victim" 10
trace=$(sed -n 's/^votreport: the trace is //p' err)
[ -f "$trace" ]
result $? 'and says where'
status 'dump prints it' 0 "$votreport" dump "$trace"
says 'with its regions' out '"parse" #1'
status 'import takes it' 0 "$votreport" import --db i.db --param a=1 "$trace"
status 'import names it by its program' 0 "$votreport" list i.db
says 'and its parameters' out 'victim(a=1)'
before=$(cksum <i.db)
status 'import does not take it again' 2 "$votreport" import --db i.db --param a=1 "$trace"
says 'and says so' err '(victim) is stored already, as run 1'
same 'with the store as it was' "$(cksum <i.db)" "$before"
status 'nor twice at once' 2 "$votreport" import --db twice.db "$trace" "$trace"
[ ! -e twice.db ]
result $? 'and makes no store for it'
head -c 9000 "$trace" >cut.vtr
status 'import refuses a trace without its tables' 2 "$votreport" import --db i.db "$trace" cut.vtr
line 'in one line' 'votreport: cut.vtr: trace truncated: its table of stack nodes is not all there'
echo hello >foreign.vtr
status 'import refuses a foreign file' 2 "$votreport" import --db i.db foreign.vtr
line 'in one line, too' 'votreport: foreign.vtr: this is not a votrace trace'
status 'import refuses a missing file' 2 "$votreport" import --db i.db missing.vtr
same 'and the store is as it was' "$(cksum <i.db)" "$before"
status 'import into a file that is no store' 2 "$votreport" import --db foreign.vtr "$trace"
line 'is refused in one line' 'votreport: foreign.vtr: this is not a votrace store'
same 'and leaves it alone' "$(cat foreign.vtr)" hello

# A process that is killed in the middle of a region, and looked at before.
LD_PRELOAD=$VOTRACE_LIBRARY VOTRACE_OUTPUT=$work/live.%p.vtr "$victim" 777 wait >wait.out 2>wait.err &
child=$!
tries=0
until grep -qs waiting wait.out || [ $tries -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
status 'import refuses a trace still being written' 2 "$votreport" import --db l.db "$work/live.$child.vtr"
says 'and says what to do' err 'is still writing this trace'
[ ! -e l.db ]
result $? 'and makes no store'
status 'import --force takes a snapshot' 0 "$votreport" import --force --db l.db "$work/live.$child.vtr"
kill -9 "$child"
wait "$child" 2>/dev/null
status 'import takes the trace of a killed process' 0 "$votreport" import --db l.db "$work/live.$child.vtr"
says 'and says so' err "the program's end was not seen"
status 'show has it' 0 "$votreport" show --json l.db
says 'marked as killed' out '"killed": true'
says 'its peak so far is there, to the byte' out '"peak_added": 5777'
status 'gate does not judge it' 2 "$votreport" gate l.db l.db

# A store that cannot be written once the program has run: here the program itself takes it away.
mkdir gone
status 'run that cannot be stored is trouble' 2 "$votreport" run --db gone/x.db --name "it's" \
    --param 'a=b c' -- /bin/sh -c 'rmdir gone'
says 'and says why' err 'votreport: gone/x.db: cannot be created: No such file or directory'
says 'and that nothing is lost' err 'votreport: the trace is kept, to store it: votreport import '
[ "$(wc -l <err)" -eq 2 ]
result $? 'in a line each'
mkdir gone
sed -n "s|.*to store it: votreport|'$votreport'|p" err >store_it
status 'what it says to do does it' 0 sh store_it
status 'and the run is there' 0 "$votreport" list gone/x.db
says 'by its name' out "it's(a=b c)"

status 'no such program' 2 "$votreport" run --db n.db -- ./no-such-program
line 'is one line' 'votreport: ./no-such-program: there is no program of this name'
cp /bin/true setuid
chmod u+s setuid
status 'a setuid program' 2 "$votreport" run --db n.db -- ./setuid
says 'is refused' err 'votreport: ./setuid: it is setuid'
if [ -n "$static" ]; then
    status 'a static program' 2 "$votreport" run --db n.db -- "$static"
    says 'is refused' err 'it is statically linked'
fi
[ ! -e n.db ]
result $? 'and no store was made'

status 'no command' 2 "$votreport"
status 'a wrong command' 2 "$votreport" frobnicate
line 'is said' "votreport: there is no command 'frobnicate': votreport --help lists them"
status 'a wrong option' 2 "$votreport" list --frobnicate a.db
says 'is said' err "votreport: list: there is no option '--frobnicate'"
status 'a wrong letter among others' 2 "$votreport" list -xyz a.db
says 'is said' err "votreport: list: there is no option '-x'"
status 'an option without its value' 2 "$votreport" gate a.db b.db --max-ratio
says 'is said' err "option '--max-ratio' needs a value"
status 'a wrong ratio' 2 "$votreport" gate a.db b.db --max-ratio 0.9
for ratio in 0x2 1e1 1.2.3 .5e1 inf +2 ' 2' ''; do
    status "a ratio that is no decimal number: '$ratio'" 2 "$votreport" gate a.db b.db --max-ratio "$ratio"
    line 'is said' "votreport: gate: --max-ratio takes a number from 1, not '$ratio' (votreport gate --help explains)"
done
status 'a wrong size' 2 "$votreport" gate a.db b.db --max-added lots
status 'a depth that libvotrace.so does not take' 2 "$votreport" run --db n.db --depth 257 -- "$victim"
line 'is said' "votreport: run: --depth takes a number from 1 to 256, not '257' (votreport run --help explains)"
status 'the largest depth' 0 "$votreport" run --db depth.db --depth 256 -- "$victim"
status 'is stored' 0 "$votreport" list --json depth.db
same 'and was taken' "$(values settings_ignored)" 0
status 'a parameter without value' 2 "$votreport" run --db n.db --param x -- "$victim"
status 'a run that is not there' 2 "$votreport" show --run 99 a.db
line 'is said' 'votreport: a.db: there is no run 99'
status 'a benchmark that is not there' 2 "$votreport" diff --name nope a.db b.db
line 'is said' "votreport: a.db: there is no run of a benchmark named 'nope'"
status 'a benchmark by its name' 0 "$votreport" show --name votable.parse a.db
status 'a hostile file name' 2 "$votreport" list "$(printf 'x\033[31m')"
line 'does not reach the terminal' 'votreport: x?[31m: there is no such store'
status 'a region that is not there' 2 "$votreport" show --region nope a.db
status 'help is no mistake' 0 "$votreport" gate --help
status 'version is no mistake' 0 "$votreport" --version
if [ -e /dev/full ]; then
    "$votreport" list a.db >/dev/full 2>err
    same 'output that cannot be written is trouble' $? 2
fi

evil=$(printf 'x\033[31m"\n<b>')
status 'a hostile name is kept' 0 "$votreport" run --db h.db --name "$evil" -- "$victim" 10
status 'and listed' 0 "$votreport" list h.db
says 'without its control characters' out 'x?[31m"?<b>'
status 'and written as JSON' 0 "$votreport" list --json h.db
says 'escaped' out '"benchmark": "x\u001b[31m\"\u000a<b>"'
status 'color comes when asked for' 0 "$votreport" list --color=always a.db
grep -q "$(printf '\033')" out
result $? 'and is there'
status 'color stays away from files' 0 "$votreport" list a.db
! grep -q "$(printf '\033')" out
result $? 'and is not there'

# A path that LD_PRELOAD could not hold, and a termination that must leave nothing behind.
mkdir 'blank folder'
cp "$VOTRACE_LIBRARY" 'blank folder/libvotrace.so'
status 'a library with blanks in its path works' 0 \
    env VOTRACE_LIBRARY="$work/blank folder/libvotrace.so" "$votreport" run --db bl.db -- "$victim" 10
rm -rf tmp/*
rm -f wait.out
"$votreport" run --db term.db -- "$victim" 777 wait >wait.out 2>err &
child=$!
tries=0
until grep -qs waiting wait.out || [ $tries -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM "$child"
wait "$child"
same 'a termination is passed on and its status back' $? 143
same 'and leaves no trace behind' "$(ls tmp)" ''
status 'what it had is stored' 0 "$votreport" list --json term.db
same 'as ended by the signal' "$(values status)" 15

finish
