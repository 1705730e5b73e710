# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# complete.bash SCRIPT WORD...: what SCRIPT offers for the last word, one a line.
# shellcheck source=/dev/null
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"_$1" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
