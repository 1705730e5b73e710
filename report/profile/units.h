/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.h: which compilation unit of a module an address is in.
 *
 * libdwfl finds units by .debug_aranges, which gcc writes and clang does not; the units' own ranges
 * (DWARF 5, section 3.1.1, DW_AT_ranges) are always there.
 */
#pragma once

#include "attributes.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

struct units_range;

/* Zero-initialised it is of no module yet. */
struct units {
    struct units_range *ranges; /* sorted by begin */
    size_t count;
    size_t room;
    Dwarf_Addr bias; /* address in libdwfl - address in the DWARF */
    bool read;
};

/*
 * The unit of @module that @address (as libdwfl counts) is in, with @ret_address as the DWARF
 * counts. The first call reads the ranges of all units. Returns 1; 0 when there is none, and when
 * the module has no DWARF; -ENOMEM.
 */
int units_find(struct units *units, Dwfl_Module *module, Dwarf_Addr address,
               Dwarf_Die *ret_unit, Dwarf_Addr *ret_address) _must_check_ _nonnull_;

void units_finish(struct units *units) _nonnull_;
