/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_index.h: what selecting runs looks at, of every run of a store: a fraction of a
 * listing.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "store.h"

struct store_index_entry {
    int64_t id;
    int64_t benchmark_id;   /* the same for the same name and parameters */
    const char *benchmark;  /* its name */
    const char *parameters; /* as a JSON object with sorted keys */
    const char *uuid;
    const char *set_uuid;
    const char *commit; /* "" when not known, likewise branch */
    const char *branch;
};

/* All runs, oldest first, in @arena. 0, or a negative errno and @fault. */
int store_index(struct store *store, struct arena *arena,
                struct store_index_entry **ret_entries, size_t *ret_count,
                struct fault *fault) _must_check_ _nonnull_;
