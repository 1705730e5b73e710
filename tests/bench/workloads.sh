# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
#
# workloads.sh: what tests/bench/run runs, and under what. Sourced, never run; run has set
# $build, $scratch, $samples, $age_seconds and what lib.sh needs.
#
# A figure is one line of $samples: WORKLOAD TOOL MEASURE VALUE. Measures: `seconds` of the whole
# command, `kib` resident at the peak, `trace` and `disk` bytes of a trace (st_size, st_blocks),
# `heap` bytes requested at the peak.

# run reads these two.
# shellcheck disable=SC2034
all_workloads='churn-1 churn-fp churn-live churn-2 churn-2-live hand-over xmllint astropy trace-age'
# shellcheck disable=SC2034
all_tools='plain votrace-none votrace-region votrace-all votrace-python memusage heaptrack dhat'

xml_bytes=42000000
astropy_rows=60000

note() {
    printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" >>"$samples"
}

# ---- the workloads ----

# run_workload WORKLOAD PREFIX...: the workload's command after the words of the prefix.
run_workload() {
    workload=$1
    shift
    churn=$build/tests/bench/churn
    case $workload in
    churn-1) "$@" "$churn" --live 1 ;;
    churn-fp) "$@" "${churn}_fp" --live 1 ;;
    churn-live) "$@" "$churn" --live 1000 ;;
    churn-2) "$@" "$churn" --live 1 --threads 2 --count 2500000 ;;
    churn-2-live) "$@" "$churn" --live 1000 --threads 2 --count 2500000 ;;
    hand-over) "$@" "$churn" --live 1000 --threads 2 --count 2500000 --hand-over ;;
    xmllint) "$@" xmllint --noout "$xml_table" ;;
    astropy)
        # In the environment of all, not by env(1) after the prefix: a tool would profile env.
        # Away from the home folder, where astropy looks for settings of its own.
        (
            export PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 HOME="$scratch"
            "$@" "$python" "$here/astropy_parse.py" "$astropy_table"
        )
        ;;
    age-*) "$@" "$churn" --live 1000 --threads 2 --seconds "${workload#age-}" ;;
    esac
}

# Rows of preset numeric in TABLEDATA form, $2 of them, into file $1 unless it is there already.
make_table() {
    [ -z "$(find "$1" -newer "$build/driver/votdriver" 2>/dev/null)" ] || return 0
    say "generating $2 rows of preset numeric"
    "$build/driver/votdriver" generate --preset numeric --rows "$2" --format tabledata --seed 1 \
        -o "$1.part" >&2 || die "votdriver cannot generate a table"
    mv "$1.part" "$1" || die "cannot write $1"
}

# A table as near to $xml_bytes as whole rows allow; kept for the next time.
prepare_xmllint() {
    command -v xmllint >/dev/null 2>&1 || return 1
    make_table "$build/bench/numeric-1000.vot" 1000
    xml_rows=$((xml_bytes / ($(wc -c <"$build/bench/numeric-1000.vot") / 1000)))
    xml_table=$build/bench/numeric-$xml_rows.vot
    make_table "$xml_table" "$xml_rows"
}

# The system's package belongs to the system's interpreter, which need not be first in PATH.
prepare_astropy() {
    for python in python3 /usr/bin/python3; do
        python=$(command -v "$python") || continue
        # A front such as pyenv's would be profiled in place of the interpreter.
        python=$("$python" -c 'import astropy, sys; print(sys.executable)' 2>/dev/null) || continue
        astropy_table=$build/bench/numeric-$astropy_rows.vot
        make_table "$astropy_table" "$astropy_rows"
        return 0
    done
    return 1
}

# Can this workload run here? Says no with a reason.
prepare_workload() {
    case $1 in
    xmllint) prepare_xmllint || missing_package=libxml2-utils ;;
    astropy) prepare_astropy || missing_package=python3-astropy ;;
    esac
    [ -n "${missing_package-}" ] || return 0
    say "no $missing_package here, $1 is left out (scripts/setup bench installs it)"
    unset missing_package
    return 1
}

# ---- the tools ----

have_tool() {
    case $1 in
    memusage | heaptrack) command -v "$1" >/dev/null 2>&1 ;;
    dhat) command -v valgrind >/dev/null 2>&1 ;;
    esac
}

# heaptrack's own script, with a stopwatch around its interpreter: what that needs of memory is
# part of what heaptrack needs, and only whoever starts it can measure it.
make_heaptrack() {
    heaptrack_script=$(readlink -f "$(command -v heaptrack)") || return 1
    heaptrack_library=$(sed -n 's/^LIB_REL_PATH="\(.*\)"$/\1/p' "$heaptrack_script")
    heaptrack_programs=$(sed -n 's/^LIBEXEC_REL_PATH="\(.*\)"$/\1/p' "$heaptrack_script")
    heaptrack_home=$(dirname "$heaptrack_script")
    [ -x "$heaptrack_home/$heaptrack_programs/heaptrack_interpret" ] || return 1

    kit=$scratch/kit/bin
    mkdir -p "$kit" "$scratch/kit/lib" || return 1
    mkdir -p "$kit/$heaptrack_library" "$kit/$heaptrack_programs" || return 1
    cp "$heaptrack_script" "$kit/heaptrack" || return 1
    ln -s "$heaptrack_home/$heaptrack_library"/*.so "$kit/$heaptrack_library" || return 1
    ln -s "$heaptrack_home/$heaptrack_programs/heaptrack_env" "$kit/$heaptrack_programs" || return 1
    printf '#!/bin/sh\nexec "%s" "%s" "%s"\n' "$build/tests/bench/stopwatch" \
        "$scratch/interpreter" "$heaptrack_home/$heaptrack_programs/heaptrack_interpret" \
        >"$kit/$heaptrack_programs/heaptrack_interpret" || return 1
    chmod +x "$kit/$heaptrack_programs/heaptrack_interpret"
}

# run_under TOOL WORKLOAD: once. The figures of the whole command go to $scratch/whole; where a
# launcher stands in between, those of the program to $scratch/program, and those of heaptrack's
# interpreter to $scratch/interpreter.
run_under() {
    watch=$build/tests/bench/stopwatch
    case $1 in
    plain) run_workload "$2" "$watch" "$scratch/whole" ;;
    votrace-python)
        run_workload "$2" "$watch" "$scratch/whole" env "LD_PRELOAD=$build/preload/libvotrace.so" \
            VOTRACE_STACKS=all "VOTRACE_OUTPUT=$scratch/%p.vtr"
        ;;
    votrace-*)
        # The stacks that the others take, too: Python's functions have a row of their own.
        run_workload "$2" "$watch" "$scratch/whole" env "LD_PRELOAD=$build/preload/libvotrace.so" \
            "VOTRACE_STACKS=${1#votrace-}" VOTRACE_PYTHON=no "VOTRACE_OUTPUT=$scratch/%p.vtr"
        ;;
    memusage)
        run_workload "$2" "$watch" "$scratch/whole" memusage "$watch" "$scratch/program"
        ;;
    heaptrack)
        run_workload "$2" "$watch" "$scratch/whole" "$scratch/kit/bin/heaptrack" \
            -o "$scratch/heaptrack" "$watch" "$scratch/program"
        ;;
    dhat)
        run_workload "$2" "$watch" "$scratch/whole" valgrind --tool=dhat \
            "--dhat-out-file=$scratch/dhat"
        ;;
    esac >"$scratch/output" 2>&1 </dev/null
}

# figure FILE N: the Nth word of the file.
figure() {
    awk -v n="$2" 'NR == 1 { print $n }' "$scratch/$1"
}

note_trace() {
    trace=$(find "$scratch" -maxdepth 1 -name '*.vtr' -size +0)
    [ -f "$trace" ] || die "$1 under $2 left no trace, or several"
    note "$1" "$2" trace "$(stat -c %s "$trace")"
    note "$1" "$2" disk "$(($(stat -c '%b * %B' "$trace")))"
}

note_heaptrack() {
    [ -s "$scratch/interpreter" ] || die "heaptrack's interpreter left no figures for $1"
    note "$1" heaptrack kib "$(($(figure program 2) + $(figure interpreter 2)))"
    note "$1" heaptrack-program seconds "$(figure program 1)"
    note "$1" heaptrack-program kib "$(figure program 2)"
}

note_memusage() {
    note "$1" memusage kib "$(figure program 2)"
    note "$1" memusage heap "$(sed -n 's/.*heap peak: \([0-9]*\).*/\1/p' "$scratch/output")"
}

# sample TOOL WORKLOAD: run it and note its figures.
sample() {
    rm -rf "$scratch"/*.vtr "$scratch"/heaptrack.* "$scratch/whole" "$scratch/program" \
        "$scratch/interpreter" "$scratch/dhat"
    if ! run_under "$1" "$2"; then
        tail -n 5 "$scratch/output" | sed 's/^/    /' >&2
        die "$2 under $1 failed"
    fi
    note "$2" "$1" seconds "$(figure whole 1)"
    case $1 in
    votrace-*) note_trace "$2" "$1" ;;
    heaptrack) note_heaptrack "$2" ;;
    memusage) note_memusage "$2" ;;
    esac
    case $1 in
    memusage | heaptrack) ;;
    *) note "$2" "$1" kib "$(figure whole 2)" ;;
    esac
}
