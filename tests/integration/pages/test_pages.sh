#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_pages.sh VOTREPORT VICTIM LIBVOTRACE HOSTILE_PAGE SELFTEST: the page of votreport html in a
# browser, and the pictures of votreport flame. Prints TAP. Without Chromium what needs it is
# skipped.
set -u

# shellcheck source=tests/integration/report/tap.sh
. "$(dirname "$0")/../report/tap.sh"
votreport=$(absolute "$1")
victim=$(absolute "$2")
VOTRACE_LIBRARY=$(absolute "$3")
hostile_page=$(absolute "$4")
selftest=$(absolute "$5")
export VOTRACE_LIBRARY
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

begin

# browse PAGE: open it from disk; what became of it into dom, what was complained of into console.
# A sandbox needs rights that a container may not have, and these pages are ours.
browse() {
    timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --window-size=1200,900 --virtual-time-budget=2000 \
        --enable-logging=stderr --dump-dom "file://$work/$1" >dom 2>log
    browse_status=$?
    grep CONSOLE log >console
    return "$browse_status"
}

# quiet NAME PAGE: opened as it is, it draws, and nothing is complained of.
quiet() {
    browse "$2" && grep -q 'class="frame' dom && [ ! -s console ]
    result $? "$1"
}

# used NAME PAGE: every check of selftest.js in a copy of the page is a test here. Its policy
# would let no script in but its own.
used() {
    sed '/http-equiv="Content-Security-Policy"/d; s/^<\/body>$//; s/^<\/html>$//' "$2" >used.html
    { printf '<script>\n' && cat "$selftest" && printf '</script></body></html>\n'; } >>used.html
    browse used.html
    sed -n '/<pre id="selftest">/,/<\/pre>/p' dom | sed 's/.*<pre id="selftest">//; s/<\/pre>.*//' >checks
    [ -s checks ] && [ ! -s console ]
    result $? "$1: used without a complaint"
    while read -r verdict name; do
        if [ "$verdict" = ok ]; then
            result 0 "$1: $name"
        else
            result 1 "$1: ${name#ok }"
        fi
    done <checks
}

for run in a:binary:200000 a:text:0 b:binary:0 b:text:4000; do
    IFS=: read -r store format bytes <<EOT
$run
EOT
    "$votreport" run --db "$store.db" --name votable.parse --param "format=$format" -- \
        "$victim" "$bytes" || exit 1
done

status 'a page of one store' 0 "$votreport" html a.db -o one.html
status 'a page of two' 0 "$votreport" html a.db b.db -o two.html
says 'says in words who needs less' two.html 'benchmarks need'
says 'and whether to worry' two.html 'class="advice'
says 'whose policy lets nothing in' two.html "default-src 'none'"
[ "$(wc -c <two.html)" -lt 1048576 ]
result $? 'and is below a MiB'
cp two.html before.html
"$votreport" html a.db b.db >after.html
cmp -s before.html after.html
result $? 'the same stores make the same page, on standard output, too'
status 'a page of one benchmark' 0 "$votreport" html a.db --name votable.parse -o named.html
status 'a page of no store' 2 "$votreport" html nowhere.db -o two.html
cmp -s before.html two.html
result $? 'leaves the page that was there'
status 'a page of three stores' 2 "$votreport" html a.db b.db a.db -o x.html
says 'is too much' err 'it takes one store, or two to compare'
status 'a benchmark that is not there' 2 "$votreport" html a.db --name nobody -o x.html
[ ! -e x.html ]
result $? 'makes no page'

status 'a flame graph of one store' 0 "$votreport" flame a.db -o one.svg
status 'and of two' 0 "$votreport" flame a.db b.db -o two.svg
says 'has titles' one.svg '<title>main: '
lacks 'and no script' one.svg '<script'
status 'of a region, at a width' 0 "$votreport" flame a.db --region parse --width 700 -o narrow.svg
says 'which it has' narrow.svg 'width="700"'
status 'a region that is not there' 2 "$votreport" flame a.db --region nowhere -o x.svg
says 'is said' err "no run has a region 'nowhere'"
status 'a width of nothing' 2 "$votreport" flame a.db --width 10 -o x.svg
[ ! -e x.svg ]
result $? 'makes no picture'

status 'a page of hostile names' 0 "$hostile_page" html
cp out hostile.html
[ "$(grep -c '</script' hostile.html)" -eq 2 ]
result $? 'ends only its own scripts'
[ "$(grep -c '<script' hostile.html)" -eq 2 ] && [ "$(grep -c '<img' hostile.html)" -eq 0 ]
result $? 'begins no other element'
[ "$(wc -c <hostile.html)" -lt 300000 ]
result $? 'and is not as long as the names'
status 'a flame graph of hostile names' 0 "$hostile_page" svg
cp out hostile.svg
lacks 'has no element of theirs' hostile.svg '<script'
if command -v xmllint >/dev/null; then
    for picture in one two narrow hostile; do
        status "$picture.svg is well-formed" 0 xmllint --noout "$picture.svg"
    done
fi

if [ -z "$chromium" ]; then
    tests=$((tests + 1))
    echo "ok $tests # SKIP there is no Chromium: the pages were not opened"
    finish
    exit 0
fi
quiet 'the page of two opens from disk without a complaint' two.html
"$votreport" run --db other.db --name other -- "$victim" 10 || exit 1
"$votreport" html a.db other.db -o apart.html
quiet 'and that of two that have nothing in common' apart.html
says 'which says so' dom 'no benchmark in common'
quiet 'so does that of hostile names' hostile.html
lacks 'none of which became a script' dom '<title>owned'
says 'and which are all there as text' dom 'not UTF-8'
used 'one store' one.html
used 'two stores' two.html
finish
