# SPDX-License-Identifier: BSD-3-Clause
# complete.zsh SCRIPT WORD...: what SCRIPT offers for the last word, one a line. What the
# completion system of zsh would do with it is said instead.
zmodload zsh/parameter
say() {
    local word
    for word in "$@"; do
        [[ $word == $PREFIX* ]] && print -r -- $word
    done
}
compadd() {
    [[ $1 == -a ]] && say ${(P)2}
}
_describe() {
    [[ $1 == -o ]] && shift
    say ${${(P)2}%%:*}
}
_files() {
    :
}
_normal() {
    print "normal $CURRENT $words"
}
script=$1
shift
words=("$@")
CURRENT=$#
PREFIX=$words[CURRENT]
. $script
