/* SPDX-License-Identifier: BSD-3-Clause */
/* store_loader.h: one run on its way out of the store; only store_load*.c include it. */
#pragma once

#include "store_reader.h"
#include "store_sets.h"

#include "vector.h"

/* What makes a site one: its stack and what kind of memory it is, see struct store_site. */
struct site_key {
    int64_t stack;
    int64_t kind;
};

struct loader {
    struct store_reader reader;
    struct run *run;
    struct store_sets sets;
    struct vector sites;      /* struct site_key, sorted and unique: the run's sites */
    struct vector nodes;      /* struct profile_node */
    struct vector node_ids;   /* int64_t, ascending: the store's ids */
    struct vector frame_ids;  /* int64_t by node, then sorted and unique */
    struct vector module_ids; /* int64_t by frame, then sorted and unique */
};

/* Ask @sql, whose ?1 is the run. */
int loader_query(struct loader *loader, const char *sql,
                 sqlite3_stmt **ret_statement) _must_check_ _nonnull_;

/* Returns 1 for a row, 0 at the end. */
int loader_step(struct loader *loader, sqlite3_stmt *statement) _must_check_ _nonnull_;

/* The place of a stack among those of the profile, or UINT32_MAX. */
uint32_t loader_node_of(const struct loader *loader, int64_t stack) _nonnull_;

/*
 * The stacks that `sites` need and all that they go through, as nodes, frames and modules of the
 * profile. 0; -EBADMSG when they lead nowhere; -ENOMEM.
 */
int loader_load_stacks(struct loader *loader) _must_check_ _nonnull_;
