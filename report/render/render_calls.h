/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_calls.h: the calls of one region of one run, for people: as a tree, and as a list of who
 * holds most.
 */
#pragma once

#include "attributes.h"
#include "metric.h"
#include "outline.h"
#include "term.h"
#include "toplist.h"

struct render_calls {
    enum calltree_side side;
    enum metric metric; /* one that has_tree; @tree is sorted by it */
    enum calltree_by by;
    size_t lines_max;   /* entries of the list */
    const char *region; /* its name */
};

/*
 * The outline as a table: what each line stands for, its share, its names behind branches that
 * show where it hangs. 0 or -ENOMEM, likewise below.
 */
int render_calls_tree(const struct term *term, const struct calltree *tree,
                      const struct outline *outline,
                      const struct render_calls *options) _must_check_ _nonnull_;

/* The heap's tree of @region at its peak, of @lines_max lines (0: as many as are usual). */
int render_calls_region(const struct term *term, const struct profile *profile,
                        const struct profile_region *region,
                        size_t lines_max) _must_check_ _nonnull_;

/* The list, "others", and the total. */
int render_calls_top(const struct term *term, const struct calltree *tree,
                     const struct toplist *list,
                     const struct render_calls *options) _must_check_ _nonnull_;

/* The list in full; -EIO, too. */
int render_calls_top_json(FILE *stream, const struct calltree *tree, const struct toplist *list,
                          const struct render_calls *options) _must_check_ _nonnull_;
