# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
#
# gate.sh: what run and renew share: which parses are measured, and how their numbers are told.
# Sourced, with $program (the name before messages) and $here (this folder) set.
#
# A parse in one thread asks the allocator for the same blocks every time, whatever compiled it and
# wherever its files lie. Only other libraries make other numbers. The documents are chosen so that
# this holds for libxml2, too: it keeps texts of three characters and less in a dictionary, which,
# once it has grown, is ordered by a hash that the clock seeds. Of these there are few here.

benchmark=votdriver.parse
region=parse
rows=2000
seed=1
preset='strings'
null_fraction=0.05
formats='tabledata binary binary2 fits'
strategies='stream buffer dom reader'

say() {
    printf '%s: %s\n' "$program" "$*" >&2
}

die() {
    say "$@"
    exit 2
}

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

# tools BUILD DRIVER: set $driver (that of BUILD where DRIVER is empty), $votreport and
# VOTRACE_LIBRARY.
tools() {
    tools_build=$(absolute "$1")
    driver=$tools_build/driver/votdriver
    [ -z "$2" ] || driver=$(absolute "$2")
    votreport=$tools_build/report/votreport
    VOTRACE_LIBRARY=$tools_build/preload/libvotrace.so
    export VOTRACE_LIBRARY
    for tools_file in "$driver" "$votreport" "$VOTRACE_LIBRARY"; do
        [ -e "$tools_file" ] || die "there is no $tools_file: build it, or name another folder" \
            "with --build"
    done
    for tools_command in sqlite3 readelf; do
        command -v "$tools_command" >/dev/null 2>&1 ||
            die "no $tools_command here: run scripts/setup build test"
    done
}

# measure FOLDER: make the documents there, and parse each in every way, into FOLDER/new.db.
measure() {
    unset LD_PRELOAD VOTRACE_OUTPUT VOTRACE_STACKS VOTRACE_DEPTH VOTRACE_CHILDREN \
        VOTRACE_USABLE VOTRACE_SIGNAL VOTRACE_REGION
    for format in $formats; do
        "$driver" generate --preset "$preset" --rows "$rows" --seed "$seed" \
            --null-fraction "$null_fraction" --format "$format" -o "$1/$format.vot" || die "votdriver cannot generate $format"
    done
    for format in $formats; do
        for strategy in $strategies; do
            (cd "$1" && exec "$votreport" run --db new.db --name "$benchmark" \
                --param "format=$format" --param "strategy=$strategy" -- \
                "$driver" --strategy "$strategy" "$format.vot") >"$1/log" 2>&1 || {
                cat "$1/log" >&2
                die "the parse of $format by $strategy could not be measured"
            }
        done
    done
}

# numbers STORE FOLDER: what STORE's runs were taken with and their numbers, as baseline.txt has
# them. FOLDER is for files on the way.
numbers() {
    numbers_json=$2/json
    rm -rf "$numbers_json"
    mkdir "$numbers_json" || die "cannot make $numbers_json"
    "$votreport" list --json "$1" >"$numbers_json/list" || die "cannot list $1"
    for numbers_run in $(sqlite3 :memory: \
        "SELECT value ->> 'run' FROM json_each(readfile('$numbers_json/list'))"); do
        "$votreport" show --json --run "$numbers_run" --region "$region" "$1" \
            >"$numbers_json/run-$numbers_run" || die "cannot read run $numbers_run of $1"
    done
    (cd "$numbers_json" && exec sqlite3 -batch -bail :memory: <"$here/numbers.sql") ||
        die "the numbers of $1 cannot be told"
}

# libraries STORE: the libraries whose code asked for memory in the runs that numbers() read last,
# by name, version and build-id.
libraries() {
    sqlite3 -readonly -separator ' ' "$1" 'SELECT DISTINCT path, build_id FROM module' |
        while read -r libraries_path libraries_id; do
            libraries_name=$(basename "$libraries_path")
            grep -qxF "$libraries_path" "$2/json/modules" || continue
            case $libraries_name in
            libc.so.*) libraries_version=$(getconf GNU_LIBC_VERSION | tr ' ' -) ;;
            *) libraries_version=$(basename "$(readlink -f "$libraries_path")") ;;
            esac
            printf 'library   %-20s %-23s %s\n' "$libraries_name" "$libraries_version" \
                "$libraries_id"
        done | LC_ALL=C sort
}

# compilers: what compiled $driver, as the compilers say in it.
compilers() {
    readelf -p .comment "$driver" | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' | LC_ALL=C sort -u |
        sed 's/^/compiler  /'
}

# listing STORE FOLDER: all of baseline.txt.
listing() {
    listing_numbers=$(numbers "$1" "$2") || exit 2
    cat <<EOT
# What votdriver asks of the allocator when it parses $rows rows of preset $preset, in bytes
# and blocks. tests/gate/run checks it, tests/gate/renew writes it, together with baseline.db,
# which has the call sites.
#
# peak_added, net, allocations, allocated: of the region. own_*: of them, what votdriver asked for
# itself, not by way of a library; own_peak is its part of the peak, own_net what it kept. Under
# other libraries than these only own_net, own_allocations and own_allocated must be the same.
#
EOT
    libraries "$1" "$2"
    compilers
    printf '\n%s\n' "$listing_numbers"
}
