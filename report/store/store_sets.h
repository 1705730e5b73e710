/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_sets.h: sets of sites in the file, each once; only store_*.c include it.
 *
 * A set is like one that is there already, or differs from another in few sites, or is whole.
 */
#pragma once

#include "store_sites.h"
#include "store_sql.h"

struct store_sets {
    struct store *store;
    struct fault *fault;
    sqlite3_stmt *get;      /* one by its id */
    sqlite3_stmt *find;     /* by digest */
    sqlite3_stmt *add;      /* a new one */
    struct vector unpacked; /* struct store_set: the last that were read */
    size_t next;            /* the one to be forgotten next */
};

/* Where a region's sites are: its set, and what is to be added to the stacks of that. */
struct store_set_place {
    int64_t id; /* 0: nowhere */
    int64_t origin;
};

/* Prepare statements. End with store_sets_close(), also when this fails. */
int store_sets_open(struct store_sets *sets, struct store *store,
                    struct fault *fault) _must_check_ _nonnull_;

/*
 * The sites of set @id as they are in it, without an origin. They belong to @sets and are good
 * until the next call. 0; -EBADMSG when it is not there or is no such list; -ENOMEM.
 */
int store_sets_get(struct store_sets *sets, int64_t id,
                   const struct store_sites **ret_sites) _must_check_ _nonnull_;

/*
 * Put @sites in, if they are not there. @like is where the sites of the same region in an
 * earlier run are, or those of an earlier region: the set that is looked at for differences.
 */
int store_sets_put(struct store_sets *sets, const struct store_sites *sites,
                   struct store_set_place like,
                   struct store_set_place *ret_place) _must_check_ _nonnull_;

void store_sets_close(struct store_sets *sets) _nonnull_;
