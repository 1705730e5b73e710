/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.h: names for the frames of a profile.
 *
 * Module + offset is what was measured; function, file and line are read from the module's
 * symbol table and DWARF, and are "" and 0 where there are none. No number depends on them.
 */
#pragma once

#include "attributes.h"
#include "profile.h"

/*
 * Name the frames of @profile. A place where functions were inlined becomes several frames, so
 * its nodes are numbered anew (sites follow). A module whose build-id is no longer that of the
 * trace is left without names; @ret_changed counts those.
 *
 * Returns 0 or -ENOMEM; then @profile is unchanged.
 */
int symbols_resolve(struct profile *profile, size_t *ret_changed) _must_check_ _nonnull_;
