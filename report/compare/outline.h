/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outline.h: which part of a tree of calls to show, so that the largest is seen first and no
 * byte is lost.
 *
 * A line is a frame, or a chain of frames each of which did nothing itself and called one other
 * only. Lines are taken one after the other, always the largest that stands below one that is
 * shown already; what is left over below a line is one line, "others". So the numbers below a
 * line add up to its own, at every level. Pure: no printing.
 */
#pragma once

#include "attributes.h"
#include "calltree.h"

enum outline_kind {
    OUTLINE_FRAMES, /* first ... last */
    OUTLINE_SELF,   /* what the line above did itself, where it called others, too */
    OUTLINE_OTHERS, /* what else it called: count frames */
};

struct outline_line {
    enum outline_kind kind;
    uint32_t depth; /* 0 for the outermost */
    uint32_t first; /* nodes of the tree: last is first, or the end of the chain below it */
    uint32_t last;
    size_t count;
    int64_t before; /* the metric, with all below it */
    int64_t after;
};

struct outline {
    struct outline_line *lines; /* in the order to print them */
    size_t count;
    int64_t before; /* of the whole tree: the lines of depth 0 add up to it */
    int64_t after;
};

/*
 * The outline of @tree, which calltree_sort() sorted by @metric, with at most @frames_max lines
 * of frames. A tree of one side shows its values, but none below a thousandth of the whole; one
 * of two sides what differs. Returns 0 or -ENOMEM. End with outline_finish().
 */
int outline_make(const struct calltree *tree, enum calltree_metric metric, size_t frames_max,
                 struct outline *ret_outline) _must_check_ _nonnull_;

void outline_finish(struct outline *outline) _nonnull_;
