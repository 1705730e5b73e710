#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_exports.sh LIBVOTRACE VERSION-SCRIPT
#
# What the library shows to the dynamic loader: the names of its version script, all of them and
# nothing else, without a version. malloc@@NAME would satisfy no program that asks for
# malloc@GLIBC_2.2.5, and nothing would be traced.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
script=$(absolute "$2")

sed -n '/^global:/,/^local:/p' "$script" | tr -d ' \n' | sed 's/global://; s/local://' |
    tr ';' '\n' | sed '/^$/d' | sort >"$work/wanted"
nm -D --defined-only "$lib" | awk '{ print $NF }' | sort >"$work/exported"
diff "$work/wanted" "$work/exported" >"$work/log"
result 'exported is what the version script lists, and nothing has a version' $? "$work/log"

grep -qx malloc "$work/exported"
result 'malloc is among it, by its bare name' $? "$work/log"

readelf -V "$lib" | grep -i 'version definition' >"$work/log"
[ $? -eq 1 ]
result 'no versions are defined' $? "$work/log"

readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v -e '^libc\.so' -e '^libunwind' -e '^ld-linux' >"$work/log"
[ $? -eq 1 ]
result 'nothing is linked but libc and libunwind' $? "$work/log"

# Under the recorder's lock nothing may enter the loader, which takes locks of its own.
readelf -d "$lib" >"$work/log"
grep -q -e BIND_NOW -e 'FLAGS_1.*NOW' "$work/log"
result 'symbols are bound at load' $? "$work/log"

readelf -d "$lib" | grep TEXTREL >"$work/log"
[ $? -eq 1 ]
result 'no relocations in the text' $? "$work/log"

# The static block of thread-local storage is small, and all libraries share it.
tls_bytes=$(readelf -lW "$lib" | awk '$1 == "TLS" { print $6 }')
echo "$tls_bytes bytes" >"$work/log"
[ $((tls_bytes)) -le 64 ]
result 'at most 64 bytes for each thread' $? "$work/log"
finish
