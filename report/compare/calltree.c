/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calltree.c: walk every stack from its caller of malloc outwards, and come back building
 * nodes.
 *
 * A profile's node is looked up once: its tree node is remembered, and its callers' are there
 * before it. Nodes of one parent are told apart by the number that calltree_keys.c gave their
 * frame, found in a hash table of (parent, key).
 */
#include "calltree.h"

#include "calltree_keys.h"
#include "vector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    const struct calltree_settings *settings;
    struct calltree_keys keys;
    struct vector nodes; /* struct calltree_node */
    struct vector ids;   /* uint32_t: the key of each node; those of the root's kinds follow */
    uint32_t *slots;     /* node + 1, 0: free; a power of two of them */
    size_t slot_count;
};

/* Sums of a hostile store may be anything; they wrap on both sides of an assertion alike. */
static void sum_add(int64_t *sum, int64_t value) {
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

static int64_t less(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static struct calltree_node *node_at(const struct builder *b, uint32_t node) {
    return &((struct calltree_node *)b->nodes.items)[node];
}

static uint32_t id_at(const struct builder *b, uint32_t node) {
    return ((const uint32_t *)b->ids.items)[node];
}

/* The slot of a child, or the free one where it belongs. */
static uint32_t *slot_find(const struct builder *b, uint32_t parent, uint32_t id) {
    uint64_t hash = (((uint64_t)parent << 32) | id) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (b->slot_count - 1);
    for (; b->slots[at] != 0; at = (at + 1) & (b->slot_count - 1)) {
        uint32_t node = b->slots[at] - 1;
        if (id_at(b, node) == id && node_at(b, node)->parent == parent)
            break;
    }
    return &b->slots[at];
}

/* Twice as many slots; no more than half of them are ever taken. */
static int slots_grow(struct builder *b) {
    uint32_t *old = b->slots;
    size_t count = b->slot_count == 0 ? 1024 : 2 * b->slot_count;
    b->slots = calloc(count, sizeof(*b->slots));
    if (!b->slots) {
        b->slots = old;
        return -ENOMEM;
    }
    b->slot_count = count;
    for (uint32_t node = 1; node < b->nodes.count; node++)
        *slot_find(b, node_at(b, node)->parent, id_at(b, node)) = node + 1;
    free(old);
    return 0;
}

static struct calltree_node *node_add(struct builder *b, uint32_t id) {
    struct calltree_node *node = vector_add(&b->nodes);
    uint32_t *kept = node ? vector_add(&b->ids) : NULL;
    if (!kept)
        return NULL;
    *kept = id;
    node->name = "";
    node->first_child = CALLTREE_NONE;
    node->next_sibling = CALLTREE_NONE;
    return node;
}

/* The child of @parent with the key @id: numbers after the keys stand for the root's kinds. */
static int child_get(struct builder *b, uint32_t parent, uint32_t id, uint32_t *ret_node) {
    if (2 * (b->nodes.count + 1) > b->slot_count) {
        int r = slots_grow(b);
        if (r < 0)
            return r;
    }
    uint32_t *slot = slot_find(b, parent, id);
    if (*slot != 0) {
        *ret_node = *slot - 1;
        return 0;
    }
    uint32_t number = (uint32_t)b->nodes.count;
    struct calltree_node *node = node_add(b, id);
    if (!node)
        return -ENOMEM;
    *slot = number + 1;
    node->parent = parent;
    node->depth = node_at(b, parent)->depth + 1;
    node->kind = CALLTREE_FRAME;
    if (id < b->keys.key_count) {
        const struct calltree_key *key = &b->keys.keys[id];
        node->name = key->name;
        node->profile = key->profile;
        node->frame = key->frame;
    } else {
        node->kind = (enum calltree_kind)(id - b->keys.key_count);
    }
    *ret_node = number;
    return 0;
}

static bool stays_in_its_caller(const struct builder *b, uint32_t caller, uint32_t id) {
    bool groups = b->settings->by == CALLTREE_BY_FILE || b->settings->by == CALLTREE_BY_MODULE;
    return caller != 0 && id_at(b, caller) == id && (groups || !b->settings->keep_recursion);
}

/*
 * The tree's node of the stack that ends in @innermost. @known has it for each node of the
 * profile, 0 where it is not there yet; @path has room for the deepest stack.
 */
static int stack_get(struct builder *b, const struct profile *profile, enum calltree_side side,
                     uint32_t innermost, uint32_t *known, uint32_t *path, uint32_t *ret_node) {
    size_t depth = 0;
    uint32_t node = innermost;
    for (; node != 0 && known[node] == 0; node = profile->nodes[node].parent)
        path[depth++] = node;
    uint32_t at = node == 0 ? 0 : known[node];
    while (depth > 0) {
        node = path[--depth];
        uint32_t id = b->keys.by_frame[side][profile->nodes[node].frame];
        if (!stays_in_its_caller(b, at, id)) {
            int r = child_get(b, at, id, &at);
            if (r < 0)
                return r;
        }
        known[node] = at;
    }
    *ret_node = at;
    return 0;
}

static void row_book(struct calltree_node *node, enum calltree_side side,
                     const struct profile_row *row) {
    int64_t *self = node->self[side];
    node->in[side] = true;
    sum_add(&self[CALLTREE_PEAK_ADDED], less(row->peak.bytes, row->start.bytes));
    sum_add(&self[CALLTREE_NET], less(row->end.bytes, row->start.bytes));
    sum_add(&self[CALLTREE_LIVE_END], row->end.bytes);
    sum_add(&self[CALLTREE_TOTAL], row->allocated.bytes);
    sum_add(&self[CALLTREE_COUNT], row->allocated.blocks);
    sum_add(&self[CALLTREE_PEAK_BLOCKS], row->peak.blocks);
    sum_add(&self[CALLTREE_LIVE_PEAK], row->peak.bytes);
}

static int row_add(struct builder *b, const struct profile *profile, enum calltree_side side,
                   const struct profile_row *row, uint32_t *known, uint32_t *path) {
    const struct profile_site *site = &profile->sites[row->site];
    uint32_t node = 0;
    int r;
    if (site->space != b->settings->space)
        return 0;
    if (site->node == 0) {
        enum calltree_kind kind =
            site->flags & TRACE_SITE_OTHER ? CALLTREE_OTHER : CALLTREE_NO_STACK;
        r = child_get(b, 0, (uint32_t)b->keys.key_count + kind, &node);
    } else {
        r = stack_get(b, profile, side, calltree_innermost(profile, row, b->settings), known,
                      path, &node);
    }
    if (r == 0)
        row_book(node_at(b, node), side, row);
    return r;
}

static int source_add(struct builder *b, const struct calltree_source *source,
                      enum calltree_side side) {
    const struct profile *profile = source->profile;
    uint32_t *known = calloc(2 * profile->node_count + 2, sizeof(*known));
    int r = known ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < source->region->rows_count; i++)
        r = row_add(b, profile, side, &source->region->rows[i], known,
                    known + profile->node_count + 1);
    free(known);
    return r;
}

/* Children come after their parents, so that one way back sums everything up. */
static void subtrees_sum(struct calltree *tree) {
    for (size_t i = 0; i < tree->count; i++)
        memcpy(tree->nodes[i].subtree, tree->nodes[i].self, sizeof(tree->nodes[i].self));
    for (size_t i = tree->count; i-- > 1;) {
        const struct calltree_node *node = &tree->nodes[i];
        struct calltree_node *parent = &tree->nodes[node->parent];
        for (size_t side = 0; side < CALLTREE_SIDES; side++) {
            parent->in[side] |= node->in[side];
            for (size_t m = 0; m < CALLTREE_METRICS; m++)
                sum_add(&parent->subtree[side][m], node->subtree[side][m]);
        }
    }
}

/* profile_check() saw to it that the rows add up to the totals: so does the tree. */
static void root_assert(const struct calltree *tree, enum calltree_side side,
                        const struct profile_totals *totals) {
    const int64_t *sums = tree->nodes[0].subtree[side];
    assert(sums[CALLTREE_PEAK_ADDED] == less(totals->peak_bytes, totals->start.bytes));
    assert(sums[CALLTREE_NET] == less(totals->end.bytes, totals->start.bytes));
    assert(sums[CALLTREE_LIVE_END] == totals->end.bytes);
    assert(sums[CALLTREE_TOTAL] == totals->allocated.bytes);
    assert(sums[CALLTREE_COUNT] == totals->allocated.blocks);
    assert(sums[CALLTREE_LIVE_PEAK] == totals->peak_bytes);
    (void)sums;
    (void)totals;
}

static bool rows_are_there(const struct calltree_source sources[CALLTREE_SIDES]) {
    for (size_t side = 0; side < CALLTREE_SIDES; side++)
        if (sources[side].profile && !sources[side].region->has_rows)
            return false;
    return true;
}

int calltree_build(const struct calltree_source sources[CALLTREE_SIDES],
                   const struct calltree_settings *settings, struct calltree *ret_tree) {
    struct calltree tree = {0};
    struct builder b = {
        .settings = settings,
        .nodes = VECTOR_OF(struct calltree_node),
        .ids = VECTOR_OF(uint32_t),
    };
    if (!rows_are_there(sources))
        return -ENODATA;
    int r = calltree_keys_collect(sources, settings, &tree.arena, &b.keys);
    if (r == 0)
        r = node_add(&b, CALLTREE_NONE) ? 0 : -ENOMEM;
    for (size_t side = 0; r == 0 && side < CALLTREE_SIDES; side++)
        if (sources[side].profile)
            r = source_add(&b, &sources[side], (enum calltree_side)side);
    calltree_keys_finish(&b.keys);
    free(b.slots);
    vector_finish(&b.ids);
    tree.nodes = b.nodes.items;
    tree.count = b.nodes.count;
    if (r < 0) {
        calltree_finish(&tree);
        return r;
    }
    subtrees_sum(&tree);
    for (size_t side = 0; side < CALLTREE_SIDES; side++)
        if (sources[side].profile)
            root_assert(&tree, (enum calltree_side)side,
                        &sources[side].region->totals[settings->space]);
    calltree_sort(&tree, CALLTREE_PEAK_ADDED);
    *ret_tree = tree;
    return 0;
}

int64_t calltree_difference(const struct calltree_node *node, enum calltree_metric metric) {
    return less(node->subtree[CALLTREE_AFTER][metric], node->subtree[CALLTREE_BEFORE][metric]);
}

static bool stands_before(const struct calltree_node *a, const struct calltree_node *b,
                          enum calltree_metric metric) {
    int64_t left = calltree_difference(a, metric);
    int64_t right = calltree_difference(b, metric);
    uint64_t left_size = left < 0 ? -(uint64_t)left : (uint64_t)left;
    uint64_t right_size = right < 0 ? -(uint64_t)right : (uint64_t)right;
    if (left_size != right_size)
        return left_size > right_size;
    return strcmp(a->name, b->name) < 0;
}

/* Join two sorted lists of siblings. */
static uint32_t lists_join(struct calltree *tree, uint32_t a, uint32_t b,
                           enum calltree_metric metric) {
    uint32_t first = CALLTREE_NONE;
    uint32_t *end = &first;
    while (a != CALLTREE_NONE && b != CALLTREE_NONE) {
        uint32_t *next = stands_before(&tree->nodes[b], &tree->nodes[a], metric) ? &b : &a;
        *end = *next;
        end = &tree->nodes[*next].next_sibling;
        *next = *end;
    }
    *end = a != CALLTREE_NONE ? a : b;
    return first;
}

/* Merge sort: list k of the pile is empty or has 2^k siblings, earlier ones in higher lists. */
static void children_sort(struct calltree *tree, struct calltree_node *parent,
                          enum calltree_metric metric) {
    uint32_t pile[32];
    memset(pile, 0xff, sizeof(pile)); /* CALLTREE_NONE */
    for (uint32_t child = parent->first_child; child != CALLTREE_NONE;) {
        uint32_t list = child;
        child = tree->nodes[child].next_sibling;
        tree->nodes[list].next_sibling = CALLTREE_NONE;
        size_t k = 0;
        for (; pile[k] != CALLTREE_NONE; k++) {
            list = lists_join(tree, pile[k], list, metric);
            pile[k] = CALLTREE_NONE;
        }
        pile[k] = list;
    }
    parent->first_child = CALLTREE_NONE;
    for (size_t k = 0; k < 32; k++)
        parent->first_child = lists_join(tree, pile[k], parent->first_child, metric);
}

void calltree_sort(struct calltree *tree, enum calltree_metric metric) {
    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].first_child = CALLTREE_NONE;
    for (uint32_t i = (uint32_t)tree->count; i-- > 1;) {
        struct calltree_node *parent = &tree->nodes[tree->nodes[i].parent];
        tree->nodes[i].next_sibling = parent->first_child;
        parent->first_child = i;
    }
    for (size_t i = 0; i < tree->count; i++)
        children_sort(tree, &tree->nodes[i], metric);
}

void calltree_finish(struct calltree *tree) {
    free(tree->nodes);
    arena_finish(&tree->arena);
    *tree = (struct calltree){0};
}
