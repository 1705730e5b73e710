/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scopes.h: what encloses an address, and what encloses a function's name.
 *
 * The two differ: "ns::table::fill" may be inlined into "main", and its definition may stand
 * anywhere, with a reference to its declaration in the class.
 */
#pragma once

#include "attributes.h"
#include "vector.h"

#include <elfutils/libdw.h>

/* The names of units that were asked for; zero-initialised it knows none. */
struct scopes {
    struct vector units;
};

/*
 * The DIEs around @address in @unit, innermost first, in the nesting of the machine code. How
 * many they are, at most 0 when there are none; free @ret_scopes when they are.
 */
int scopes_at(Dwarf_Die *unit, Dwarf_Addr address,
              Dwarf_Die **ret_scopes) _must_check_ _nonnull_;

/*
 * The name of @function (a subprogram, or one that was inlined) with those of its classes and
 * namespaces, "ns::table::fill"; NULL when it has none. It is @scopes' or libdw's. A class
 * within a function is not looked for: its functions go by their plain names.
 *
 * The first call for a unit walks the unit. Returns 0 or -ENOMEM.
 */
int scopes_name(struct scopes *scopes, Dwarf_Die *function,
                const char **ret_name) _must_check_ _nonnull_;

void scopes_finish(struct scopes *scopes) _nonnull_;
