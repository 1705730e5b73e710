#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_frames.sh VOTREPORT LIBVOTRACE SCRIPT
#
# Python's functions and lines in stacks, exactly, for every interpreter from 3.9 to 3.14 that is
# here: those on the PATH, and pyenv's.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u

# shellcheck source=tests/integration/report/tap.sh
. "$(dirname "$0")/../report/tap.sh"
votreport=$(absolute "$1")
lib=$(absolute "$2")
script=$(absolute "$3")
begin
export PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

# The stacks that test, from the script's outermost function on: names as 3.11 and later have
# them, and since 3.12 without a function for a list comprehension.
expected() {
    cat <<'EOT'
<module>:76;main:62;Table.parse:18;Table.rows:21;keep:13 1000003
<module>:76;main:63;by_key:25;by_key.<locals>.<lambda>:25;keep:13 1000033
<module>:76;main:64;generated:29;keep:13 1000037
<module>:76;main:66;recursive:35;recursive:35;recursive:35;recursive:37;keep:13 1000039
<module>:76;main:67;größe:41;keep:13 1000081
<module>:76;main:69;after_an_error:58;keep:13 1000117
<module>:76;main:68;made:49;first:2;keep:13 1000121
<module>:76;main:68;made:49;second:2;keep:13 1000123
<module>:76;main:68;made:49;third:2;keep:13 1000125
Thread.run;keep:13 1000133
<module>:76;main:73;main.<locals>.<lambda>:73;main.<locals>.<lambda>.<locals>.<listcomp>:73;keep:13 1000151
EOT
}

# expected_of MINOR
expected_of() {
    case $1 in
    9 | 10) expected | sed 's/[^;]*<locals>\.//g; s/Table\.//g; s/Thread\.//' ;;
    11) expected ;;
    *) expected | sed 's/;[^;]*<listcomp>:73//' ;;
    esac
}

# What of the stacks is to be compared: not how the thread module and the interpreter begin, nor
# what the interpreter does below the last function.
found() {
    "$votreport" export "$1" --format folded --by line --metric live_peak |
        grep ';keep:13;.* 10001*[0-9]*$' |
        sed 's/;keep:13;.* /;keep:13 /; s/^_start;[^<]*<module>:76/<module>:76/
             s/^.*;\(Thread\.\)*run:[0-9]*;keep/\1run;keep/' |
        sort -n -k 2 -t ' '
}

interpreters() {
    for name in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 python3; do
        for place in /usr/bin /usr/local/bin; do
            [ -x "$place/$name" ] && echo "$place/$name"
        done
    done
    for place in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
        [ -x "$place" ] && echo "$place"
    done
}

tested=
last=
interpreters >list
while read -r python; do
    version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)
    case $version in
    3.9.* | 3.10.* | 3.11.* | 3.12.* | 3.13.* | 3.14.*) ;;
    *) continue ;;
    esac
    case " $tested" in
    *" $version "*) continue ;;
    esac
    tested="$tested$version "
    minor=${version#3.}
    minor=${minor%%.*}
    rm -f ./*.vtr runs.db
    status "Python $version runs as it does alone" 0 \
        env LD_PRELOAD="$lib" VOTRACE_STACKS=all VOTRACE_DEPTH=256 VOTRACE_OUTPUT=t.vtr \
        "$python" "$script"
    status "Python $version: the trace holds" 0 "$votreport" import t.vtr --db runs.db
    found runs.db >out 2>err
    expected_of "$minor" >wanted
    diff wanted out >err
    result $? "Python $version: functions and lines are those that ran"
    last=$python
done <list
[ -n "$tested" ] || skip_all 'there is no Python 3.9 to 3.14 here'

env LD_PRELOAD="$lib" VOTRACE_STACKS=all VOTRACE_PYTHON=no VOTRACE_OUTPUT=n.vtr \
    "$last" "$script" >out 2>err
"$votreport" dump n.vtr >out 2>>err && ! grep -q 'interpreted code' out
result $? 'VOTRACE_PYTHON=no leaves them out'
finish
