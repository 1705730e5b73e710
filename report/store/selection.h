/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection.h: which runs of a store speak for it: of every benchmark the newest, and with it
 * the repeats that were started together with it.
 */
#pragma once

#include "attributes.h"
#include "store.h"

struct selection {
    struct run *runs; /* loaded, in order of benchmarks */
    size_t count;
};

/*
 * Load the newest runs of the benchmark @name, or of every benchmark when it is NULL. 0;
 * -ENODATA when there are none; other negative errno. On failure @fault.
 */
int selection_load_newest(struct store *store, const char *name,
                          struct selection *ret_selection, struct fault *fault) _must_check_;

/*
 * The id of the newest run of the benchmark @name, or of all when it is NULL. Errors as above.
 */
int selection_find_newest(struct store *store, const char *name, int64_t *ret_id,
                          struct fault *fault) _must_check_;

void selection_finish(struct selection *selection) _nonnull_;
