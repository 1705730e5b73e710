/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * toplist.c: sort the nodes by name, give each name a number, add up.
 *
 * A name in two files is two entries: the tree keeps them apart for the same reason.
 */
#include "toplist.h"

#include "callsite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What stands on a stack below no frame has a name of its own kind. */
static int compare_names(const struct calltree_node *a, const struct calltree_node *b) {
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int order = strcmp(a->name, b->name);
    if (order != 0 || a->kind != CALLTREE_FRAME)
        return order;
    return strcmp(callsite_file(a->profile, a->frame), callsite_file(b->profile, b->frame));
}

static int compare_nodes(const void *a, const void *b) {
    const struct calltree_node *left = *(const struct calltree_node *const *)a;
    const struct calltree_node *right = *(const struct calltree_node *const *)b;
    int order = compare_names(left, right);
    return order != 0 ? order : (left > right) - (left < right);
}

static int64_t magnitude(int64_t number) {
    return number < 0 ? -number : number;
}

static int compare_entries(const struct toplist_entry *left, const struct toplist_entry *right,
                           bool by_all) {
    int64_t a = magnitude(by_all ? left->all : left->self);
    int64_t b = magnitude(by_all ? right->all : right->self);
    if (a != b)
        return a > b ? -1 : 1;
    a = magnitude(by_all ? left->self : left->all);
    b = magnitude(by_all ? right->self : right->all);
    if (a != b)
        return a > b ? -1 : 1;
    return compare_names(left->node, right->node);
}

static int compare_by_self(const void *a, const void *b) {
    return compare_entries(a, b, false);
}

static int compare_by_all(const void *a, const void *b) {
    return compare_entries(a, b, true);
}

/* Is a node above @node of the same entry, so that its subtree has this one's? */
static bool is_within_itself(const struct calltree *tree, const uint32_t *entries,
                             uint32_t node) {
    for (uint32_t at = tree->nodes[node].parent; at != 0; at = tree->nodes[at].parent)
        if (entries[at] == entries[node])
            return true;
    return false;
}

/* Number the names in the order of @sorted, and make an entry of each. */
static size_t entries_begin(const struct calltree *tree,
                            const struct calltree_node *const *sorted,
                            struct toplist_entry *items, uint32_t *entries) {
    size_t count = 0;
    for (size_t i = 0; i + 1 < tree->count; i++) {
        if (count == 0 || compare_names(items[count - 1].node, sorted[i]) != 0)
            items[count++].node = sorted[i];
        entries[sorted[i] - tree->nodes] = (uint32_t)count - 1;
    }
    return count;
}

int toplist_make(const struct calltree *tree, enum calltree_side side,
                 enum calltree_metric metric, bool by_all, struct toplist *ret_list) {
    const struct calltree_node **sorted = calloc(tree->count, sizeof(*sorted));
    struct toplist_entry *items = calloc(tree->count, sizeof(*items));
    uint32_t *entries = calloc(tree->count, sizeof(*entries));
    int r = sorted && items && entries ? 0 : -ENOMEM;
    if (r < 0)
        goto out;
    for (size_t i = 1; i < tree->count; i++)
        sorted[i - 1] = &tree->nodes[i];
    qsort(sorted, tree->count - 1, sizeof(*sorted), compare_nodes);
    size_t count = entries_begin(tree, sorted, items, entries);
    for (uint32_t i = 1; i < tree->count; i++) {
        struct toplist_entry *entry = &items[entries[i]];
        const struct calltree_node *node = &tree->nodes[i];
        entry->node_count++;
        entry->self += node->self[side][metric];
        if (!is_within_itself(tree, entries, i))
            entry->all += node->subtree[side][metric];
        if (magnitude(node->self[side][metric]) > magnitude(entry->node->self[side][metric]))
            entry->node = node; /* its line is that of the largest */
    }
    qsort(items, count, sizeof(*items), by_all ? compare_by_all : compare_by_self);
    *ret_list = (struct toplist){items, count, by_all};
    items = NULL;
out:
    free(sorted);
    free(items);
    free(entries);
    return r;
}
