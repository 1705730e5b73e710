/* SPDX-License-Identifier: BSD-3-Clause */
/* one_run.h: what the commands about one run have in common: which run, which of its regions. */
#pragma once

#include "attributes.h"
#include "fault.h"
#include "run.h"

#include <stddef.h>

/*
 * Load run @id of the store of @where, STORE or STORE@WHAT (selection.h); where @id is 0 the newest
 * of those runs, of the benchmark @name only unless that is NULL. 0; a negative errno and @fault.
 * End with run_finish().
 */
int one_run_load(const char *where, size_t id, const char *name, struct run *ret_run,
                 struct fault *fault) _must_check_;

/*
 * The instance of the region @name that added most at its peak; of all marked regions when it is
 * NULL, of "process" where none is marked. NULL when there is no such region.
 */
const struct profile_region *one_run_region(const struct run *run,
                                            const char *name) _must_check_;
