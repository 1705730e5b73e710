/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calltree.h: the sites of one region as a tree of calls, from the outermost caller inwards,
 * with two sides to compare, or one.
 *
 * Frames are merged below the same caller by function, file, module or line. Two frames are of
 * the same function when their names are the same, whatever the line, the address or the
 * folder. The file's name matters only for a name that one side has in several files, so that a
 * renamed file is no difference; by file, what a function did before counts for the file that
 * it is in after. Calls within one group (a recursion, a function of the same file) stay in it.
 *
 * Every node has what was allocated by itself and with all below it; the sums of the root are
 * those of the region, exactly. Pure: no SQL, no printing.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calltree_by {
    CALLTREE_BY_FUNCTION,
    CALLTREE_BY_FILE,
    CALLTREE_BY_MODULE,
    CALLTREE_BY_LINE, /* the function and the line in it: moved lines are a difference here */
};

enum calltree_metric {
    CALLTREE_PEAK_ADDED,  /* bytes at the peak - at the start */
    CALLTREE_NET,         /* bytes at the end - at the start */
    CALLTREE_LIVE_END,    /* bytes at the end */
    CALLTREE_TOTAL,       /* bytes allocated */
    CALLTREE_COUNT,       /* blocks allocated */
    CALLTREE_PEAK_BLOCKS, /* blocks at the peak */
    CALLTREE_LIVE_PEAK,   /* bytes at the peak, those of the start with them */
    CALLTREE_METRICS,
};

enum calltree_side { CALLTREE_BEFORE, CALLTREE_AFTER, CALLTREE_SIDES };

enum calltree_kind {
    CALLTREE_ROOT,     /* node 0 only */
    CALLTREE_FRAME,    /* a call */
    CALLTREE_NO_STACK, /* child of the root: no stack was taken */
    CALLTREE_OTHER,    /* child of the root: the recorder's table of stacks was full */
};

#define CALLTREE_NONE UINT32_MAX

struct calltree_node {
    enum calltree_kind kind;
    /*
     * What the frame goes by, borrowed from a profile or from the tree, "" unless kind is
     * CALLTREE_FRAME: function, else "module+0x1f" or "module"; last component of the file,
     * else of the module; module, else "(no file)". Not made fit for any output.
     */
    const char *name;
    /* One frame of those merged, of AFTER where that has any; NULL unless CALLTREE_FRAME. */
    const struct profile *profile;
    const struct profile_frame *frame;
    bool in[CALLTREE_SIDES]; /* a site of that side is here or below */
    uint32_t depth;          /* 0 for the root */
    uint32_t parent;         /* smaller than the node's own index; 0 for the root itself */
    uint32_t first_child;    /* CALLTREE_NONE: none; in the order of calltree_sort() */
    uint32_t next_sibling;
    int64_t self[CALLTREE_SIDES][CALLTREE_METRICS];
    int64_t subtree[CALLTREE_SIDES][CALLTREE_METRICS]; /* with self */
};

struct calltree {
    struct calltree_node *nodes;
    size_t count; /* at least 1 */
    struct arena arena;
};

/* One side: a region of a profile, which has_rows. Both borrowed. */
struct calltree_source {
    const struct profile *profile; /* NULL: there is no such side */
    const struct profile_region *region;
};

struct calltree_settings {
    enum calltree_by by;
    enum trace_space space;
    /*
     * Leave out what is between the telling frame and malloc (callsite.h): xrealloc(), libc's
     * strdup(). What they allocated is their caller's own.
     */
    bool fold_helpers;
    bool keep_recursion; /* by function or line: a function below itself is a node of its own */
};

/*
 * The tree of @sources, of which at least one is there, sorted by peak_added. Returns 0;
 * -ENODATA when a region has no rows; -ENOMEM. End with calltree_finish().
 */
int calltree_build(const struct calltree_source sources[CALLTREE_SIDES],
                   const struct calltree_settings *settings,
                   struct calltree *ret_tree) _must_check_ _nonnull_;

/* subtree of AFTER - that of BEFORE. */
int64_t calltree_difference(const struct calltree_node *node,
                            enum calltree_metric metric) _nonnull_;

/*
 * Put every node's children in order: the largest absolute difference first (with one side: the
 * largest absolute value), then by name.
 */
void calltree_sort(struct calltree *tree, enum calltree_metric metric) _nonnull_;

void calltree_finish(struct calltree *tree) _nonnull_;
