/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.h: the database of runs, one SQLite file. schema.sql describes it.
 *
 * Only store*.c know SQL. A file that is not a store of ours is never written to. One call of
 * store_add() is one transaction: its runs are in the file whole, or not at all.
 */
#pragma once

#include "attributes.h"
#include "fault.h"
#include "run.h"

struct store;

enum store_mode {
    STORE_READ,  /* an existing store */
    STORE_WRITE, /* an existing store, or a new one; gone again when nothing was added */
};

/* A run without its tables, for listings; the numbers are of its headline region. */
struct store_entry {
    struct run run;       /* the profile has no regions, sites and stacks */
    const char *region;   /* the marked region with the largest peak_added, or "process" */
    int64_t region_count; /* instances of marked regions */
    int64_t peak_added;
};

/*
 * Open the store at @path. Returns 0, or a negative errno and @fault: -ENOENT, -EMEDIUMTYPE
 * when it is something else, -ENOTSUP when it is of a newer version, -EBUSY when another program
 * holds its lock for too long, -ENOSPC, -EIO when SQLite says no.
 */
int store_open(const char *path, enum store_mode mode, struct store **ret_store,
               struct fault *fault) _must_check_ _nonnull_;

/* Could runs be added at @path? Changes nothing and creates nothing. */
int store_probe(const char *path, struct fault *fault) _must_check_ _nonnull_;

/*
 * Add @count runs in one transaction and set their ids. -EEXIST when the benchmark has a run of
 * the same process already (host, pid and start), unless that was a snapshot.
 */
int store_add(struct store *store, struct run *const *runs, size_t count,
              struct fault *fault) _must_check_ _nonnull_;

/* All runs, oldest first, in @arena. */
int store_list(struct store *store, struct arena *arena, struct store_entry **ret_entries,
               size_t *ret_count, struct fault *fault) _must_check_ _nonnull_;

/*
 * One run with everything. -ENOENT when there is none of that id, -EBADMSG when what is stored
 * contradicts itself. End with run_finish().
 */
int store_load(struct store *store, int64_t id, struct run *ret_run,
               struct fault *fault) _must_check_ _nonnull_;

void store_close(struct store *store);
