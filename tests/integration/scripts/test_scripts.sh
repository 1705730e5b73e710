#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the scripts promise and no C test sees: that failures are counted, that setup names what
# is missing and leaves apt alone when nothing is. Prints TAP.
#
# Usage: test_scripts.sh SOURCE_ROOT
set -u

root=$1
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0

# expect NAME WANTED GOT
expect() {
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        printf 'ok %d - %s\n' "$number" "$1"
    else
        printf 'not ok %d - %s\n' "$number" "$1"
        printf 'wanted:\n%s\ngot:\n%s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

# ---- tally.awk ----

# tally RESULT RETURNCODE STDOUT: what one test with this output counts; STDOUT as in JSON.
tally() {
    printf '{"name": "t", "stdout": "%s", "result": "%s", "returncode": %s, "env": {}}\n' \
        "$3" "$1" "$2" | awk -f "$root/scripts/tally.awk"
}

test_tally() {
    expect tally_counts_each_subtest '2 0 1' \
        "$(tally OK 0 '1..3\\nok 1 - a\\nok 2\\nok 3 # SKIP b\\n')"
    expect tally_counts_a_failed_subtest_once '1 1 0' \
        "$(tally FAIL 1 '1..2\\nok 1\\nnot ok 2 - b\\n')"
    expect tally_counts_a_timeout_after_good_subtests_as_a_failure '1 1 0' \
        "$(tally TIMEOUT -15 '1..2\\nok 1\\n')"
    expect tally_counts_a_crash_after_the_last_subtest_as_a_failure '1 1 0' \
        "$(tally ERROR -11 '1..1\\nok 1\\n')"
    expect tally_counts_a_silent_tap_test_as_a_failure '0 1 0' "$(tally SKIP 0 '')"
    expect tally_counts_a_test_without_tap_once '1 0 0' "$(tally OK 0 'hello\\n')"
    expect tally_is_not_fooled_by_results_inside_the_output '0 1 0' \
        "$(tally FAIL 1 '\\"result\\": \\"OK\\"\\n')"
    expect tally_skips_a_program_that_skips_all '0 0 1' "$(tally SKIP 0 '1..0 # SKIP none\\n')"
}

# ---- table.awk ----

# table TARGETS: the tables of the samples that come in.
table() {
    printf '%s\n' '# a comment' "$1" >"$scratch/targets"
    awk -v tools='plain votrace-none votrace-all heaptrack' -v workloads='churn-1 xmllint trace-age' \
        -v "targets=$scratch/targets" -f "$root/tests/bench/samples.awk" \
        -f "$root/tests/bench/table.awk"
}

test_table() {
    printf 'churn-1 %s\n' 'plain seconds 3' 'plain seconds 1' 'plain seconds 2' \
        'votrace-none seconds 2.5' 'votrace-all seconds 4' 'heaptrack seconds 6' \
        'plain kib 1024' 'votrace-all kib 3072' 'heaptrack kib 5120' 'memusage heap 8388608' \
        'votrace-all trace 262144' 'votrace-all disk 131072' >"$scratch/samples"
    table "churn-1 votrace-all of-heaptrack 0.50 time added, of heaptrack's
churn-1 votrace-none x-plain 1.20 x plain
churn-1 votrace-none x-plain - for information
churn-1 votrace-all of-heap 0.15 of the heap
churn-1 votrace-all of-heaptrack-kib 1 of heaptrack's memory
churn-1 votrace-all disk-mib 4 on disk
xmllint votrace-all of-heaptrack 0.25 not there" <"$scratch/samples" >"$scratch/table"
    expect table_takes_medians_and_divides_by_heaptracks_added_time \
        '| churn-1 | votrace, all stacks | 4.000 | 4.000-4.000 | 2.00 | 2.000 | 0.50 | 3.0 | 2.0 |' \
        "$(grep 'all stacks *|' "$scratch/table" | tr -s ' ')"
    expect table_says_which_target_is_met_missed_or_not_measured \
        "| churn-1 | time added, of heaptrack's | 0.50 | <= 0.50 | met |
| churn-1 | x plain | 1.25 | <= 1.20 | missed |
| churn-1 | for information | 1.25 | - | |
| churn-1 | of the heap | 0.25 | <= 0.15 | missed |
| churn-1 | of heaptrack's memory | 0.50 | <= 1 | met |
| churn-1 | on disk | 0.12 | <= 4 | met |
| xmllint | not there | - | <= 0.25 | not measured |" \
        "$(tr -s ' ' <"$scratch/table" | sed -n '3,9p')"
    expect table_shows_the_sizes_of_traces '| churn-1 | 256 | 128 |' \
        "$(tr -s ' ' <"$scratch/table" | tail -n 1)"
    expect table_compares_the_trace_of_a_long_churn_with_that_of_a_second '1.50 missed' \
        "$(printf 'age-%s\n' '1 votrace-all trace 100' '30 votrace-all trace 150' |
            table 'trace-age votrace-all x-second 1.00 size' |
            awk '/ size / { print $6, $11 }')"
    table 'churn-1 votrace-all of-luck 1 figure' <"$scratch/samples" >"$scratch/table" 2>&1
    expect table_refuses_a_measure_that_it_does_not_know \
        '2 table.awk: targets: no measure is called of-luck' "$? $(cat "$scratch/table")"
}

# ---- setup ----

# A PATH that holds what a shell script lives on and nothing that votrace needs.
make_path() {
    mkdir -p "$scratch/bin"
    for tool in sh awk sed tail head sort tr cat rm mktemp dirname id env grep; do
        ln -sf "$(command -v "$tool")" "$scratch/bin/$tool"
    done
}

# An apt-get that installs nothing and notes that it was called.
fake_apt() {
    printf '#!/bin/sh\necho "$*" >>"%s/apt-calls"\nexit 100\n' "$scratch" >"$scratch/bin/apt-get"
    printf '#!/bin/sh\nexit 0\n' >"$scratch/bin/apt-cache"
    chmod +x "$scratch/bin/apt-get" "$scratch/bin/apt-cache"
}

setup() {
    env PATH="$scratch/bin" "$scratch/bin/sh" "$root/scripts/setup" "$@" 2>&1 </dev/null
}

test_setup() {
    make_path
    output=$(setup build)
    status=$?
    expect setup_without_apt_exits_2 2 "$status"
    expect setup_without_apt_names_the_packages 1 \
        "$(printf '%s\n' "$output" | grep -c 'missing: .*gcc.*meson.*libunwind-dev.*apt-get')"

    # Root, or a user without sudo: either way the packages are named and the exit status is 2.
    fake_apt
    output=$(setup build)
    status=$?
    expect setup_that_cannot_install_exits_2 2 "$status"
    expect setup_that_cannot_install_names_what_is_missing 1 \
        "$(printf '%s\n' "$output" | grep -c 'missing.* gcc .*libcmocka-dev')"

    for tool in gcc meson ninja pkg-config; do
        # shellcheck disable=SC2016 # the $1 is the stub's
        printf '#!/bin/sh\n[ "$1" != --version ] || echo 1.0.1\nexit 0\n' >"$scratch/bin/$tool"
        chmod +x "$scratch/bin/$tool"
    done
    rm -f "$scratch/apt-calls"
    setup build >"$scratch/output"
    expect setup_with_everything_there_succeeds 0 $?
    expect setup_with_everything_there_is_silent '' "$(cat "$scratch/output")"
    expect setup_with_everything_there_does_not_call_apt no \
        "$([ -e "$scratch/apt-calls" ] && echo yes || echo no)"

    printf '#!/bin/sh\necho 0.61.2\n' >"$scratch/bin/meson"
    output=$(setup build)
    status=$?
    expect setup_refuses_a_meson_that_is_too_old '2 1' \
        "$status $(printf '%s\n' "$output" | grep -c 'meson 0.61.2 is too old')"
    setup nonsense >"$scratch/output"
    expect setup_refuses_an_unknown_group 2 $?
}

test_usage() {
    for script in scripts/setup scripts/demo scripts/test scripts/format scripts/lint \
        scripts/ci tests/bench/run tests/gate/run tests/gate/renew; do
        expect "$(basename "$script")_prints_its_usage" "Usage: $script" \
            "$("$root/$script" --help | sed -n '1s/^\(Usage: [^ ]*\).*/\1/p')"
    done
}

test_tally
test_table
test_setup
test_usage
printf '1..%d\n' "$number"
