/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * toplist.h: which functions (files, modules, lines) hold most, in a flat list.
 *
 * `self` is what a function allocated itself, `all` that and what everything it called allocated,
 * a recursion counted once. The selfs of all entries add up to the region's total; the alls do
 * not, because callers and callees both have what the callee allocated.
 */
#pragma once

#include "attributes.h"
#include "calltree.h"

struct toplist_entry {
    const struct calltree_node *node; /* one of those that are added up here */
    size_t node_count;
    int64_t self;
    int64_t all;
};

struct toplist {
    struct toplist_entry *items; /* by self, or by all, the largest first */
    size_t count;
    bool by_all;
};

/*
 * Add up the nodes of @tree that have one name, on @side. @by_all orders by what callees hold,
 * too. The list borrows from @tree. 0 or -ENOMEM; free ret_list->items.
 */
int toplist_make(const struct calltree *tree, enum calltree_side side,
                 enum calltree_metric metric, bool by_all,
                 struct toplist *ret_list) _must_check_ _nonnull_;
