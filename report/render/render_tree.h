/* SPDX-License-Identifier: BSD-3-Clause */
/* render_tree.h: an outline of a tree of calls, as lines for a terminal. */
#pragma once

#include "attributes.h"
#include "metric.h"
#include "outline.h"
#include "term.h"

/*
 * What a line of @outline stands for, indented by its depth and no wider than @width where that
 * can be: "main > read_document > [NEW] buffer_append (driver/buffer.c:20)", "(itself)",
 * "[3 others]". Frames of one library of the system in a row are one. NULL when there is no
 * memory, else free() it.
 */
char *render_tree_label(const struct calltree *tree, enum calltree_by by,
                        const struct outline_line *line, size_t width) _must_check_ _nonnull_;

/* The same without indentation, and without a word on which side it is. */
char *render_tree_path(const struct calltree *tree, enum calltree_by by,
                       const struct outline_line *line, size_t width) _must_check_ _nonnull_;

/*
 * The table of a difference: what each line of @outline added, before, after, its label, and a
 * last line TOTAL. Returns 0 or -ENOMEM.
 */
int render_tree_difference(const struct term *term, const struct calltree *tree,
                           enum calltree_by by, const struct outline *outline,
                           enum metric_unit unit) _must_check_ _nonnull_;
