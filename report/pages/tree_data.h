/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_data.h: the call tree of a row as data of a page.
 *
 * A page has room for some thousand boxes. The smallest are left out and their sums put in one
 * node beside those that stay, so that every total is exact.
 */
#pragma once

#include "attributes.h"
#include "context.h"

#define TREE_DATA_NODES_MAX 5000

/* What a node is where it is no frame: in place of a frame's number. */
enum tree_data_kind {
    TREE_DATA_ROOT = -1,
    TREE_DATA_REST = -2,
    TREE_DATA_NO_STACK = -3,
    TREE_DATA_OTHER = -4,
};

/*
 * Write the tree of @row under @key, of some @nodes_most nodes; null where call sites were not
 * kept. 0 or -ENOMEM.
 */
int tree_data_write(struct context *context, const char *key, const struct diff_row *row,
                    size_t nodes_most) _must_check_ _nonnull_;
