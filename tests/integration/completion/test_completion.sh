#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_completion.sh VOTREPORT VOTDRIVER COMPLETIONS: what bash and zsh offer is what --help lists,
# and words for an option are words that the program takes. Prints TAP.
set -u

. "$(dirname "$0")/../report/tap.sh"
here=$(absolute "$(dirname "$0")")
votreport=$(absolute "$1")
votdriver=$(absolute "$2")
completions=$(absolute "$3")
begin
mkdir bin
ln -s "$votreport" bin/votreport
ln -s "$votdriver" bin/votdriver
PATH=$work/bin:$PATH
export PATH
: >out

# offered WORD...: what the shell offers for the last word, sorted on one line.
offered() {
    case $shell in
    bash) script=$completions/$1.bash ;;
    zsh) script=$completions/_$1 ;;
    esac
    "$shell" ${shell_flags:+"$shell_flags"} "$here/complete.$shell" "$script" "$@" 2>>err | sort -u | tr '\n' ' '
}

# Options of votreport's commands, as a person reads them in --help.
options_of() {
    votreport "$1" --help | grep -oE '^  +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u |
        grep "^${2-}" | tr '\n' ' '
}

try_votreport() {
    commands=$(votreport --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
    # zsh is not offered them: `votreport --help` has one meaning there.
    same "$shell: the commands" "$(offered votreport '' | sed 's/--[a-z]* //g')" "$(echo "$commands" | sort | tr '\n' ' ')"
    same "$shell: those that begin alike" "$(offered votreport di)" 'diff '
    for command in $commands; do
        same "$shell: options of $command" "$(offered votreport "$command" --)" "$(options_of "$command")"
    done
    same "$shell: options that begin alike" "$(offered votreport run --de)" '--depth '
    same "$shell: no option of a command that is none" "$(offered votreport nothing --)" ''
    same "$shell: when there is colour" "$(offered votreport show --color '')" 'always auto never '
    same "$shell: a file after -o" "$(offered votreport export -o '')" ''
    same "$shell: formats" "$(offered votreport export -f 'asv')" 'asv asv-benchmarks asv-machine '
    same "$shell: formats, the long way" "$(offered votreport export --format sp)" 'speedscope '
    same "$shell: signals" "$(offered votreport run --signal USR)" 'USR1 USR2 '
}

# What is offered for OPTION of COMMAND: what bash offers is tried, zsh offers the same.
try_words() {
    words=$(offered votreport "$1" "$2" '')
    if [ "$shell" = bash ]; then
        echo "$words" >"words$1$2"
    elif [ -e "words$1$2" ]; then
        same "$shell: $1 $2 takes the same words" "$words" "$(cat "words$1$2")"
        return
    fi
    refused=
    for word in $words; do
        case $1 in
        export) votreport export -f folded "$2" "$word" none.db 2>err ;;
        diff | gate) votreport "$1" "$2" "$word" none.db none.db 2>err ;;
        top) votreport top "$2" "$word" none.db 2>err ;;
        trend) votreport trend "$2" "$word" none.db name 2>err ;;
        run) votreport run "$2" "$word" --db none/none.db -- true 2>err ;;
        esac
        grep -qF -e 'none.db: there is no such store' -e 'none/none.db: ' err || refused="$refused $word"
    done
    same "$shell: $1 takes every word that is offered for $2" "$refused" ''
}

try_votdriver() {
    for command in parse stats convert generate check; do
        same "$shell: options of votdriver $command" "$(offered votdriver "$command" --)" \
            "$(votdriver "$command" --help | sed -n '/^usage:/,/^    [a-z]/p' |
                grep -oE -- '--[a-z-]+' | cat - "$work/help" | sort -u | tr '\n' ' ')"
    done
    same "$shell: commands of votdriver" "$(offered votdriver '')" \
        'check convert generate parse stats strategies '
    same "$shell: options of parse without its name" "$(offered votdriver --str)" '--strategy --strict '
    same "$shell: strategies" "$(offered votdriver parse --strategy '')" 'buffer dom reader stream '
    same "$shell: formats of votdriver" "$(offered votdriver generate --format bin)" 'binary binary2 '
    same "$shell: a name is not offered" "$(offered votdriver parse --columns '')" ''
    same "$shell: presets" "$(offered votdriver generate --preset '')" \
        "$(votdriver generate --help | sed -n 's/^presets: //p' | tr ' ' '\n' | sort | tr '\n' ' ')"
}
echo --help >help

for shell in bash zsh; do
    shell_flags=
    [ "$shell" = zsh ] && shell_flags=-f
    if ! command -v "$shell" >/dev/null; then
        skip 1 "there is no $shell"
        continue
    fi
    : >err
    try_votreport
    try_votdriver
    for option in --metric --space --by; do
        try_words export $option
    done
    for option in --metric --by --format; do
        try_words diff $option
    done
    for option in --metric --by; do
        try_words top $option
    done
    try_words trend --metric
    try_words gate --annotate
    for option in --stacks --children; do
        try_words run $option
    done
done

if command -v bash >/dev/null; then
    shell=bash
    shell_flags=
    same 'bash: a value behind =' "$(offered votreport show --color = al)" 'always '
    same 'bash: nothing yet behind =' "$(offered votreport show --color =)" 'always auto never '
    case $(offered votreport run --db a.db -- votrep) in
    *votreport*) result 0 'bash: a program to run' ;;
    *) result 1 'bash: a program to run' ;;
    esac
    same 'bash: and not its options' "$(offered votreport run --db a.db -- votdriver --)" ''
fi
if command -v zsh >/dev/null; then
    shell=zsh
    shell_flags=-f
    same 'zsh: a program to run, as if it were alone' \
        "$(offered votreport run --db a.db -- votdriver --str)" 'normal 2 votdriver --str '
fi
finish
