#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_man.sh DOCS VOTREPORT VOTDRIVER LIBVOTRACE: every command has a manual page, which has the
# options that its --help has, and no other; pages are as mandoc wants them; and the examples of
# every --help do what they say. Prints TAP.
set -u

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}
docs=$1
votreport=$(absolute "$2")
votdriver=$(absolute "$3")
VOTRACE_LIBRARY=$(absolute "$4")
export VOTRACE_LIBRARY
unset LD_PRELOAD VOTRACE_OUTPUT VOTRACE_STACKS NO_COLOR

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
tests=0

# same NAME A B: one test, passed when the texts are the same.
same() {
    tests=$((tests + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        printf '%s\n--- is not ---\n%s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

skip() {
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

commands=$("$votreport" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
driver_commands=$("$votdriver" --help | sed -n 's/^votdriver \([a-z]*\) .*/\1/p')

# ---- pages ----

# Long options that come at the begin of a line of a --help; --help itself is in no page.
help_options() {
    "$votreport" "$1" --help | sed -n 's/^ *\(-[a-z], \)\{0,1\}--\([a-z-]*\).*/\2/p' |
        grep -vx help | LC_ALL=C sort -u
}

# Those that a page explains: .It Fl -option ..., also behind a short one.
page_options() {
    grep '^\.It.* Fl -' "$1" | grep -o 'Fl -[a-z][a-z-]*' | sed 's/^Fl -//' | LC_ALL=C sort -u
}

# Those of its synopsis; a short one stands for its long one.
synopsis_options() {
    sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/| -/| Fl -/g; /^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' \
        "$1" | grep -o 'Fl -\{0,1\}[a-z][a-z-]*' | sed 's/^Fl -\{0,1\}//' | while read -r option; do
        case $option in
        ?) sed -n "s/^\.It Fl $option .*, Fl -\([a-z-]*\).*/\1/p" "$1" ;;
        *) printf '%s\n' "$option" ;;
        esac
    done | LC_ALL=C sort -u
}

for command in $commands; do
    page=$docs/man/votreport-$command.1
    if [ ! -f "$page" ]; then
        same "$command has a page" yes no
        continue
    fi
    options=$(help_options "$command")
    same "the page of $command explains the options of its --help" \
        "$options" "$(page_options "$page")"
    same "its synopsis has them" "$options" "$(synopsis_options "$page")"
done
same 'no --help is wider than a terminal of 80 columns' '' "$(
    for command in '' $commands; do
        # The empty one is votreport --help.
        # shellcheck disable=SC2086
        "$votreport" $command --help | awk 'length($0) > 80'
    done
)"
same 'votreport(1) names the page of every command' \
    "$(for command in $commands; do echo "votreport-$command"; done | LC_ALL=C sort)" \
    "$(sed -n 's/^\.It Xr \(votreport-[a-z]*\) 1.*/\1/p' "$docs/man/votreport.1" | LC_ALL=C sort)"

options=$("$votdriver" --help | sed -n '1,/^presets/p' | grep -o -- '--[a-z][a-z-]*' |
    sed 's/^--//' | LC_ALL=C sort -u)
# Its usage has -o alone; the page says that --output is the same.
same 'votdriver(1) explains the options of its --help' "$options" \
    "$(page_options "$docs/man/votdriver.1" | grep -vx output)"
# What several commands have, the limits of reading, is LIMITS there.
same 'its synopsis has them and --help and --version' \
    "$(printf '%s\nhelp\nversion\n' "$options" | grep -v '^max-' | LC_ALL=C sort)" \
    "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$docs/man/votdriver.1" |
        sed 's/| -/| Fl -/g' | grep -o 'Fl -[a-z][a-z-]*' | sed 's/^Fl -//' | LC_ALL=C sort -u)"
same 'every page is installed' "$(cd "$docs/man" && LC_ALL=C ls)" \
    "$(sed -n "s/^ *'\(.*\.[1-9]\)',\$/\1/p" "$docs/meson.build" | LC_ALL=C sort)"
same 'every page that another names is there' '' "$(
    grep -h '^\.\(It \)\{0,1\}Xr \(votreport\|votdriver\|libvotrace\|votrace\.h\)' "$docs"/man/* |
        sed 's/.*Xr \([^ ]*\) \([0-9]\).*/\1.\2/' | sort -u | while read -r named; do
        [ -f "$docs/man/$named" ] || echo "$named"
    done
)"
# What the sources have, the pages of the library have.
include=$docs/../include/votrace.h
same 'libvotrace(7) has every setting' \
    "$(grep -ho '"VOTRACE_[A-Z]*"' "$docs"/../preload/recorder/settings.c | tr -d '"' | LC_ALL=C sort -u)" \
    "$(grep -o '^\.It Ev VOTRACE_[A-Z]*' "$docs/man/libvotrace.7" | sed 's/.* //' | LC_ALL=C sort -u)"
same 'votrace.h(3) has every function of the header' \
    "$(sed -n 's/^[a-z].* \(votrace_[a-z_]*\)(.*/\1/p' "$include" | LC_ALL=C sort -u)" \
    "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[no] \(votrace_[a-z_]*\).*/\1/p' \
        "$docs/man/votrace.h.3" | LC_ALL=C sort -u)"
# Members are the words in front of the first semicolon of a line.
members() {
    sed -n '/^struct votrace_region_totals {/,/^};/s/^[^;]*[^a-z_]\([a-z_]*\);.*/\1/p' "$1"
}
same 'and every member of its structure, in their order' \
    "$(members "$include")" "$(members "$docs/man/votrace.h.3")"
sed -n '/^\.Sh EXAMPLES/,/^\.Ed/{/^\./d;s/\\e/\\/g;p}' "$docs/man/votrace.h.3" >"$work/example.c"
same 'the example of votrace.h(3) compiles' '' "$(
    cc -fsyntax-only -Wall -Wno-implicit-function-declaration -I"$docs/../include" \
        "$work/example.c" 2>&1 || grep -n . "$work/example.c"
)"
if command -v mandoc >/dev/null 2>&1; then
    same 'mandoc has no remark' '' "$(cd "$docs/man" && mandoc -T lint -W warning ./* 2>&1)"
else
    skip 'mandoc has no remark' 'no mandoc here'
fi

# ---- examples ----

# The lines of a program's example, what is continued on the next line in one.
example() {
    "$@" --help | sed -n '/^[Ee]xample:/,$p' | sed 's/^[Ee]xample: *//; s/^ *//; /^$/d'
}

# run_example NAME COMMAND...: all lines of its example end with status 0.
run_example() {
    run_name=$1
    shift
    example "$@" | sed "s|/usr/lib/votrace/libvotrace.so|$VOTRACE_LIBRARY|" >"$work/script"
    if [ ! -s "$work/script" ]; then
        same "$run_name has an example" yes no
        return
    fi
    run_said=
    (cd "$work/folder" && PATH=$work/bin:$PATH sh -e ../script) >"$work/out" 2>&1 </dev/null ||
        run_said="exit status $? of: $(cat "$work/script" "$work/out")"
    same "the example of $run_name works" '' "$run_said"
}

# The files that the examples name.
example_files() {
    mkdir "$work/bin" "$work/folder"
    ln -s "$votreport" "$work/bin/votreport"
    ln -s "$votdriver" "$work/bin/votdriver"
    # It draws what it is given; that it understands it is for other tests.
    printf '#!/bin/sh\ncat\n' >"$work/bin/flamegraph.pl"
    chmod +x "$work/bin/flamegraph.pl"
    (
        cd "$work/folder" &&
            "$votdriver" generate --preset small --rows 100 --format binary -o f.vot &&
            VOTRACE_OUTPUT=votrace.votdriver.4711.vtr LD_PRELOAD=$VOTRACE_LIBRARY \
                "$votdriver" f.vot &&
            "$votreport" run --db a.db --repeat 3 --name votable.parse --param format=binary -- \
                "$votdriver" f.vot &&
            for store in b main branch monday tuesday; do
                cp a.db "$store.db"
            done
    ) >"$work/out" 2>&1
}

if [ -n "${VOTRACE_SANITIZED-}" ]; then
    skip 'examples' 'sanitizers and LD_PRELOAD refuse each other'
elif example_files; then
    run_example votreport "$votreport"
    for command in $commands; do
        run_example "votreport $command" "$votreport" "$command"
    done
    run_example votdriver "$votdriver"
    for command in $driver_commands; do
        run_example "votdriver $command" "$votdriver" "$command"
    done
else
    same 'the files of the examples could be made' '' "$(cat "$work/out")"
fi
printf '1..%d\n' "$tests"
