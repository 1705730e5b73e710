#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Out of memory at any allocation of the process, those of zlib, libxml2 and cfitsio too: the
# whole result, or one line and exit status 2.
set -u

driver=$1
refuse=$2
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

[ -z "${VOTDRIVER_SANITIZED-}" ] || skip_all 'sanitizers have an allocator of their own'

# Refusals are over when so many runs in a row went well: some libraries do without.
enough=12

# tried NUMBER ARGUMENT...: one run; its standard output is in $work/out.
tried() {
    tried_nth=$1
    shift
    env ${on:+REFUSE_ON=1} REFUSE_NTH="$tried_nth" LD_PRELOAD="$refuse" "$driver" "$@" \
        >"$work/out" 2>"$work/err"
}

# survives ARGUMENT...
survives() {
    "$driver" "$@" >"$work/wanted" || return 1
    nth=0
    refused=0
    well=0
    while [ "$well" -lt "$enough" ]; do
        # cfitsio's many libraries are much alike.
        nth=$((nth + (nth < 100 ? 1 : 41)))
        tried "$nth" "$@"
        case $? in
        0)
            well=$((well + 1))
            cmp "$work/out" "$work/wanted" || break
            ;;
        2)
            refused=$((refused + 1))
            well=0
            # What a library says while it is loaded is its own affair.
            [ "$(grep -vc '^Error in GnuTLS' "$work/err")" -eq 1 ] || break
            grep -q '^votdriver: .*memory ran out' "$work/err" || break
            ;;
        *) break ;;
        esac
    done
    [ "$well" -ge "$enough" ] && [ "$refused" -gt 20 ] && return 0
    printf 'allocation %s refused, %s before:\n' "$nth" "$refused"
    cat "$work/err"
    return 1
}

"$driver" generate --preset numeric --rows 10 --format tabledata -o "$work/table.vot.gz" &&
    "$driver" generate --preset numeric --rows 10 --format fits -o "$work/fits.vot" || exit 1

on=
check 'stats of a gzipped document: any allocation refused' \
    survives stats --json "$work/table.vot.gz"
check 'stats of FITS: any allocation refused' survives stats --json "$work/fits.vot"
check 'convert to FITS: any allocation refused' survives convert --format fits "$work/table.vot.gz"
check 'check of FITS: any allocation refused' survives check --json "$work/fits.vot"
# Without any memory glibc gives up in the middle of loading a library: so no FITS here.
on=on
check 'stats of a gzipped document: all allocations refused from any on' \
    survives stats --json "$work/table.vot.gz"
check 'check of a gzipped document: all allocations refused from any on' \
    survives check --json "$work/table.vot.gz"
finish
