/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection.h: which runs of a store are meant.
 *
 * Commands take STORE, or STORE@WHAT. STORE alone stands for the newest run of every benchmark,
 * each with the repeats that were started together with it. WHAT is tried in this order:
 *
 *   1. the number of a run, or the beginning of its uuid: this one run
 *   2. the beginning of a commit: of every benchmark the newest runs of that commit
 *   3. the name of a benchmark: its newest runs, with all its parameters
 *
 * Beginnings have four characters at least. What could be two of these is refused, and
 * `run:WHAT`, `commit:WHAT` or `name:WHAT` says which; `branch:WHAT` stands for the newest runs
 * of a branch. A file that is called like that, @ and all, is the store; otherwise the last @
 * with a file before it counts.
 */
#pragma once

#include "attributes.h"
#include "store.h"

struct selection {
    struct run *runs; /* loaded, in order of benchmarks */
    size_t count;
};

/*
 * Open the store of @where for reading. @ret_what is what follows its @, in @where; NULL when
 * nothing does. Returns as store_open() does.
 */
int selection_open(const char *where, struct store **ret_store, const char **ret_what,
                   struct fault *fault) _must_check_ _nonnull_;

/*
 * Load the runs that @what means (NULL: the newest), of the benchmark @name only unless that is
 * NULL. 0; -ENODATA when there are none, -EEXIST when it could mean several things; other
 * negative errno. On failure @fault. End with selection_finish().
 */
int selection_load(struct store *store, const char *what, const char *name,
                   struct selection *ret_selection, struct fault *fault) _must_check_;

/* The id of the newest of these runs. Errors as above. */
int selection_find(struct store *store, const char *what, const char *name, int64_t *ret_id,
                   struct fault *fault) _must_check_;

/* selection_open() and selection_load(). */
int selection_load_from(const char *where, const char *name, struct selection *ret_selection,
                        struct fault *fault) _must_check_;

/* The same for a store that is open, and its newest runs. */
int selection_load_newest(struct store *store, const char *name,
                          struct selection *ret_selection, struct fault *fault) _must_check_;
int selection_find_newest(struct store *store, const char *name, int64_t *ret_id,
                          struct fault *fault) _must_check_;

/* Have the interpreters' frames back in its runs: profile_unfold_interpreters(). */
void selection_unfold(struct selection *selection) _nonnull_;

void selection_finish(struct selection *selection) _nonnull_;
