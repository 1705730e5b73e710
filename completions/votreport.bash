# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completion of votreport for bash. Commands and options are what --help says at the moment;
# only the words that an option takes are written here.

_votreport_values() {
    case "$1 $2" in
    *' --color') echo auto always never ;;
    *' --by') echo function file module line ;;
    'diff --metric' | 'trend --metric')
        echo peak_added live_end total count peak_map combined rss time
        ;;
    'top --metric') echo peak_added live_end total count peak_map ;;
    'gate --annotate') echo github ;;
    'diff --format') echo text markdown json csv html ;;
    'export --metric') echo peak_added live_peak live_end net total count ;;
    'export --space') echo heap map_anon map_file map_reserved ;;
    'export --format' | 'export -f')
        "$program" export --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
        ;;
    'run --stacks') echo none region all ;;
    'run --children') echo none exec follow ;;
    'run --addresses') echo fixed random ;;
    'run --signal') compgen -A signal SIG | sed -n 's/^SIG\([A-Z0-9]*\)$/\1/p' ;;
    esac
}

# Does the option take a value? In --help a word follows it, one blank behind it.
_votreport_takes_value() {
    "$program" "$1" --help 2>/dev/null |
        grep -qE -- "^  (-[a-z], )?$2 [^ ]|^  $2, --[a-z-]+ [^ ]"
}

_votreport() {
    local program=$1 command=${COMP_WORDS[1]-} current=${COMP_WORDS[COMP_CWORD]} previous i
    previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # `--color=never` comes as three words.
    if [ "$current" = = ]; then
        current=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help |
            sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') --help --version" -- "$current")
        return
    fi
    # Behind -- stands the program that is run, with what it takes.
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        if [ "$i" -eq $((COMP_CWORD - 1)) ]; then
            mapfile -t COMPREPLY < <(compgen -A command -- "$current")
        fi
        return
    done
    if [[ $previous == -* ]] && _votreport_takes_value "$command" "$previous"; then
        mapfile -t COMPREPLY < <(compgen -W "$(_votreport_values "$command" "$previous")" -- \
            "$current")
        return
    fi
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null |
            sed -n 's/^  *\(-[a-z], \)*\(--[a-z-]*\).*/\2/p')" -- "$current")
    fi
}

# Files where nothing else fits.
complete -o default -F _votreport votreport
