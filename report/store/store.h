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

/* What was copied, and what was there already. */
struct store_merged {
    size_t added;
    size_t known;
};

/*
 * Add the runs of all @stores to @into in one transaction, oldest first, but for those that it
 * has: a run is the same in any file by its uuid, and a process by its host, pid and start.
 * @progress, which may be NULL, is told how many of all runs were looked at.
 */
int store_merge(struct store *into, struct store *const *stores, size_t count,
                void (*progress)(size_t done, size_t all), struct store_merged *ret_merged,
                struct fault *fault) _must_check_;

struct store_pruned {
    int64_t runs;   /* that lost their sites and timelines */
    int64_t stacks; /* that nobody needed any more */
};

/*
 * Drop the sites and timelines of all runs but the newest @keep of each benchmark, and the
 * stacks, frames, functions and modules that no other run needs. Totals stay. The file gets
 * smaller; when there is no room for that, it is left as large as it was, and -ENOSPC returned.
 */
int store_prune(struct store *store, int64_t keep, struct store_pruned *ret_pruned,
                struct fault *fault) _must_check_ _nonnull_;

/*
 * Look at everything: pages and indexes, references, the invariants of every run, and whether
 * the schema is what it should be. @tell is given one line for each thing that is wrong. Returns
 * 0 also when there are such; a negative errno and @fault when it could not look.
 */
int store_check(struct store *store, void (*tell)(void *context, const char *line),
                void *context, struct fault *fault) _must_check_;

void store_close(struct store *store);
