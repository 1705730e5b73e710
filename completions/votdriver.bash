# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completion of votdriver for bash. Commands, options and the words that options take are what
# --help says at the moment.

# The usage of a command, without brackets.
_votdriver_usage() {
    "$program" "$1" --help 2>/dev/null | sed -n '/^usage:/,/^    [a-z]/p' | tr -d '[]'
}

_votdriver_commands() {
    "$program" --help | sed -n 's/^votdriver \([a-z]*\) .*/\1/p'
}

# What stands behind an option: `stream|buffer|dom|reader`, or a word in capitals.
_votdriver_value() {
    _votdriver_usage "$1" | sed -n "s/^.*$2 \([^ ]*\).*/\1/p" | head -n 1
}

_votdriver() {
    local program=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command value
    COMPREPLY=()
    if [ "$current" = = ]; then
        current=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # Without a command it is parse.
    command=parse
    if [ "$COMP_CWORD" -gt 1 ] && _votdriver_commands | grep -qxF -- "${COMP_WORDS[1]}"; then
        command=${COMP_WORDS[1]}
    fi
    if [[ $previous == -* ]]; then
        value=$(_votdriver_value "$command" "$previous")
        [ "$previous" = --preset ] &&
            value=$("$program" generate --help | sed -n 's/^presets: //p' | tr ' ' '|')
        case $value in
        [A-Z]*) return ;;
        *'|'*)
            mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$current")
            return
            ;;
        esac
    fi
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_votdriver_usage "$command" |
            grep -oE -- '--[a-z-]+') --help" -- "$current")
    elif [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_votdriver_commands)" -- "$current")
    fi
}

# Files where nothing else fits.
complete -o default -F _votdriver votdriver
