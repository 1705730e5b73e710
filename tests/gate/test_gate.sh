#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_gate.sh BUILD REGRESSED ...: is votdriver's memory what the baseline says, and would the
# gate see if it were not? REGRESSED is a votdriver that keeps a byte for each row. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 99
# meson gives paths relative to where it starts us.
build=$1
case $2 in
/*) regressed=$2 ;;
*) regressed=$PWD/$2 ;;
esac
if [ -n "${VOTDRIVER_SANITIZED-}" ]; then
    echo '1..0 # SKIP sanitizers and LD_PRELOAD refuse each other'
    exit 0
fi

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
tests=0

# expect NAME STATUS COMMAND...: run it into $work/out, and compare its exit status.
expect() {
    expect_name=$1
    expect_wanted=$2
    shift 2
    "$@" >"$work/out" 2>&1
    expect_is=$?
    [ "$1" = said ] || cp "$work/out" "$work/said"
    tests=$((tests + 1))
    if [ "$expect_is" -eq "$expect_wanted" ]; then
        echo "ok $tests - $expect_name"
    else
        echo "not ok $tests - $expect_name"
        echo "# exit status $expect_is instead of $expect_wanted"
        sed 's/^/# /' "$work/said"
    fi
}

# said PATTERN: what the last gate said has a line that matches.
said() {
    grep -Eq -- "$1" "$work/said"
}

# As if the baseline had been taken with another libxml2, which asked for more.
other_library() {
    awk '$2 == "libxml2.so.2" { $3 = "libxml2.so.2.99.1"; $4 = "00ff" }
        $2 == "dom" { $3 += 1000; $6 += 1000 }
        { print }' "$here/baseline.txt" >"$work/other.txt" &&
        cp "$here/baseline.db" "$work/other.db"
}

# As if the baseline had been taken before votdriver needed less.
fallen() {
    awk '$1 == "fits" && $2 == "stream" { $3 += 1; $6 += 1; $7 += 1 }
        { print }' "$here/baseline.txt" >"$work/fallen.txt" &&
        cp "$here/baseline.db" "$work/fallen.db"
}

gate() {
    "$here/run" --build "$build" "$@"
}

expect 'votdriver asks for what the baseline says, to the byte' 0 gate --keep "$work/new.db"

# Under other libraries than the baseline's the numbers of the tests below are not the same, but the
# verdict is.
exact=no
said 'the same to the byte as the baseline' && exact=yes

expect 'a byte more for each row fails' 1 gate --driver "$regressed" --keep "$work/grown.db"
expect 'what to do is said' 0 said 'run tests/gate/renew'
if [ "$exact" = yes ]; then
    for format in tabledata binary binary2 fits; do
        for strategy in stream buffer dom reader; do
            expect "it is seen in what $strategy of $format keeps" 0 \
                said "^  $format +$strategy +net .*\(\+2000\)\$"
        done
    done
    expect 'it is seen at the peak' 0 said '^  tabledata +stream +peak_added .*\(\+2000\)$'
    expect 'votreport gate finds it, too' 0 said '^gate: REGRESSION'
    expect 'votreport diff names the function that asked for it' 0 \
        said 'NEW.*(keep_a_byte_for_each|__wrap_consumer_rows)'
else
    tests=$((tests + 1))
    echo "ok $tests - to the byte # SKIP other libraries than the baseline's"
fi

other_library
expect 'under other libraries what is ours is compared' 0 \
    gate --measured "$work/new.db" --baseline "$work/other.db"
expect 'that is said' 0 said 'which was taken with other libraries:'
expect 'they are named' 0 said '^  libxml2.so.2: libxml2.so.2.99.1 in the baseline'
expect 'a byte more for each row fails there as well' 1 \
    gate --measured "$work/grown.db" --baseline "$work/other.db"
for format in tabledata binary binary2 fits; do
    expect "it is seen in what $format keeps of its own" 0 \
        said "^  $format +stream +own_net .*\(\+2000\)\$"
done
expect 'what is not ours is not told' 1 said '^  [a-z0-9]+ +[a-z]+ +net '

fallen
expect 'a byte less than the baseline fails' "$([ "$exact" = yes ] && echo 1 || echo 0)" \
    gate --measured "$work/new.db" --baseline "$work/fallen.db"

expect 'renew makes a baseline' 0 "$here/renew" --build "$build" \
    --measured "$work/new.db" --baseline "$work/made.db"
expect 'it has the same numbers, without this machine' 0 \
    gate --measured "$work/new.db" --baseline "$work/made.db"
expect 'to the byte' 0 said 'the same to the byte as the baseline'

expect 'without a baseline there is no answer' 2 \
    gate --measured "$work/new.db" --baseline "$work/none.db"
expect 'without a build there is no answer' 2 "$here/run" --build "$work"
sed '/^fits .*dom/d' "$here/baseline.txt" >"$work/short.txt"
cp "$here/baseline.db" "$work/short.db"
expect 'a baseline of other parses is no answer' 2 \
    gate --measured "$work/new.db" --baseline "$work/short.db"
printf '1..%d\n' "$tests"
