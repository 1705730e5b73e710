/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outline.c: a heap of what could be shown next, then one walk over what is.
 *
 * A node is worth a line when anything differs at it or below it, even where the differences
 * cancel each other out: its weight is the sum of their sizes. Neither walk recurses: a tree
 * may be as deep as a file says.
 */
#include "outline.h"

#include "vector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define ONE_SIDE_LEAST 1000 /* a thousandth of the whole */

struct outliner {
    const struct calltree *tree;
    enum calltree_metric metric;
    uint64_t *weights; /* by node */
    uint32_t *ends;    /* by node: the end of the chain that begins here, where it is shown */
    uint32_t *heap;    /* nodes that could be shown next, the largest first */
    size_t heap_count;
    struct vector lines; /* struct outline_line */
};

static const struct calltree_node *node_at(const struct outliner *o, uint32_t node) {
    return &o->tree->nodes[node];
}

static uint64_t magnitude(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static uint64_t sum_saturated(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int64_t self_difference(const struct outliner *o, uint32_t node) {
    const struct calltree_node *at = node_at(o, node);
    return (int64_t)((uint64_t)at->self[CALLTREE_AFTER][o->metric] -
                     (uint64_t)at->self[CALLTREE_BEFORE][o->metric]);
}

/* Children stand behind their parents. */
static void weights_sum(struct outliner *o) {
    for (uint32_t i = (uint32_t)o->tree->count; i-- > 0;) {
        uint32_t parent = node_at(o, i)->parent;
        o->weights[i] = sum_saturated(o->weights[i], magnitude(self_difference(o, i)));
        if (i > 0)
            o->weights[parent] = sum_saturated(o->weights[parent], o->weights[i]);
    }
}

static bool comes_first(const struct outliner *o, uint32_t a, uint32_t b) {
    uint64_t left = magnitude(calltree_difference(node_at(o, a), o->metric));
    uint64_t right = magnitude(calltree_difference(node_at(o, b), o->metric));
    if (left != right)
        return left > right;
    return o->weights[a] != o->weights[b] ? o->weights[a] > o->weights[b] : a < b;
}

static void heap_swap(struct outliner *o, size_t i, size_t k) {
    uint32_t node = o->heap[i];
    o->heap[i] = o->heap[k];
    o->heap[k] = node;
}

static void heap_push(struct outliner *o, uint32_t node) {
    size_t i = o->heap_count++;
    o->heap[i] = node;
    for (; i > 0 && comes_first(o, o->heap[i], o->heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_swap(o, i, (i - 1) / 2);
}

static uint32_t heap_pop(struct outliner *o) {
    uint32_t node = o->heap[0];
    o->heap[0] = o->heap[--o->heap_count];
    for (size_t i = 0;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < o->heap_count && comes_first(o, o->heap[child], o->heap[first]))
                first = child;
        if (first == i)
            return node;
        heap_swap(o, i, first);
        i = first;
    }
}

static void children_push(struct outliner *o, uint32_t node) {
    for (uint32_t child = node_at(o, node)->first_child; child != CALLTREE_NONE;
         child = node_at(o, child)->next_sibling)
        if (o->weights[child] > 0)
            heap_push(o, child);
}

/* The only child that is worth a line; CALLTREE_NONE when there is none, or another. */
static uint32_t only_child(const struct outliner *o, uint32_t node) {
    uint32_t only = CALLTREE_NONE;
    for (uint32_t child = node_at(o, node)->first_child; child != CALLTREE_NONE;
         child = node_at(o, child)->next_sibling) {
        if (o->weights[child] == 0)
            continue;
        if (only != CALLTREE_NONE)
            return CALLTREE_NONE;
        only = child;
    }
    return only;
}

static bool looks_alike(const struct calltree_node *a, const struct calltree_node *b) {
    return a->in[CALLTREE_BEFORE] == b->in[CALLTREE_BEFORE] &&
           a->in[CALLTREE_AFTER] == b->in[CALLTREE_AFTER];
}

/*
 * As far as one frame hands everything on to one other, and both are new, or gone, or neither.
 */
static uint32_t chain_end(const struct outliner *o, uint32_t node) {
    while (self_difference(o, node) == 0) {
        uint32_t child = only_child(o, node);
        if (child == CALLTREE_NONE || !looks_alike(node_at(o, node), node_at(o, child)))
            break;
        node = child;
    }
    return node;
}

/* Below this nothing of one side gets a line; of a difference every byte may be the answer. */
static uint64_t weight_least(const struct outliner *o) {
    const struct calltree_node *root = node_at(o, 0);
    bool has_two_sides = root->in[CALLTREE_BEFORE] && root->in[CALLTREE_AFTER];
    return has_two_sides ? 0 : o->weights[0] / ONE_SIDE_LEAST;
}

static void lines_choose(struct outliner *o, size_t frames_max) {
    uint64_t least = weight_least(o);
    children_push(o, 0);
    for (size_t i = 0; i < frames_max && o->heap_count > 0; i++) {
        if (i > 0 && o->weights[o->heap[0]] < least)
            break;
        uint32_t node = heap_pop(o);
        o->ends[node] = chain_end(o, node);
        children_push(o, o->ends[node]);
    }
}

static bool is_shown(const struct outliner *o, uint32_t node) {
    return o->ends[node] != 0;
}

static int line_add(struct outliner *o, const struct outline_line *line) {
    struct outline_line *kept = vector_add(&o->lines);
    if (!kept)
        return -ENOMEM;
    *kept = *line;
    return 0;
}

static int frames_add(struct outliner *o, uint32_t node, uint32_t depth) {
    const struct calltree_node *at = node_at(o, node);
    return line_add(o, &(struct outline_line){
                           .kind = OUTLINE_FRAMES,
                           .depth = depth,
                           .first = node,
                           .last = o->ends[node],
                           .before = at->subtree[CALLTREE_BEFORE][o->metric],
                           .after = at->subtree[CALLTREE_AFTER][o->metric],
                       });
}

/* What @end did itself; only where there are lines below it, too, or they would not add up. */
static int self_add(struct outliner *o, uint32_t end, uint32_t depth) {
    const struct calltree_node *at = node_at(o, end);
    bool alone = end != 0 && o->weights[end] == magnitude(self_difference(o, end));
    if (self_difference(o, end) == 0 || alone)
        return 0;
    return line_add(o, &(struct outline_line){
                           .kind = OUTLINE_SELF,
                           .depth = depth,
                           .first = end,
                           .last = end,
                           .before = at->self[CALLTREE_BEFORE][o->metric],
                           .after = at->self[CALLTREE_AFTER][o->metric],
                       });
}

static int others_add(struct outliner *o, uint32_t end, uint32_t depth) {
    struct outline_line others = {.kind = OUTLINE_OTHERS, .depth = depth, .first = end};
    for (uint32_t child = node_at(o, end)->first_child; child != CALLTREE_NONE;
         child = node_at(o, child)->next_sibling) {
        const struct calltree_node *at = node_at(o, child);
        if (is_shown(o, child) || o->weights[child] == 0)
            continue;
        others.count++;
        others.before += at->subtree[CALLTREE_BEFORE][o->metric];
        others.after += at->subtree[CALLTREE_AFTER][o->metric];
    }
    others.last = end;
    return others.count > 0 ? line_add(o, &others) : 0;
}

/* The first of @node and its later siblings that is shown. */
static uint32_t next_shown(const struct outliner *o, uint32_t node) {
    while (node != CALLTREE_NONE && !is_shown(o, node))
        node = node_at(o, node)->next_sibling;
    return node;
}

/* The lines below @end begin; @path holds the first nodes of the lines above. */
static int lines_walk(struct outliner *o) {
    struct vector path = VECTOR_OF(uint32_t);
    uint32_t end = 0;
    uint32_t next = next_shown(o, node_at(o, 0)->first_child);
    int r = self_add(o, 0, 0);
    while (r == 0) {
        uint32_t depth = (uint32_t)path.count;
        if (next != CALLTREE_NONE) {
            uint32_t *above = vector_add(&path);
            r = above ? frames_add(o, next, depth) : -ENOMEM;
            if (r < 0)
                break;
            *above = next;
            end = o->ends[next];
            r = self_add(o, end, depth + 1);
            next = next_shown(o, node_at(o, end)->first_child);
            continue;
        }
        r = others_add(o, end, depth);
        if (path.count == 0)
            break;
        uint32_t first = ((const uint32_t *)path.items)[--path.count];
        next = next_shown(o, node_at(o, first)->next_sibling);
        end = path.count == 0 ? 0 : o->ends[((const uint32_t *)path.items)[path.count - 1]];
    }
    vector_finish(&path);
    return r;
}

/* What stands below each line is what the line says. */
static void outline_assert(const struct outline *outline) {
    uint64_t sum = 0;
    for (size_t i = 0; i < outline->count; i++)
        if (outline->lines[i].depth == 0)
            sum += (uint64_t)outline->lines[i].after - (uint64_t)outline->lines[i].before;
    assert(sum == (uint64_t)outline->after - (uint64_t)outline->before);
    (void)sum;
}

int outline_make(const struct calltree *tree, enum calltree_metric metric, size_t frames_max,
                 struct outline *ret_outline) {
    struct outliner o = {
        .tree = tree,
        .metric = metric,
        .weights = calloc(tree->count, sizeof(*o.weights)),
        .ends = calloc(tree->count, sizeof(*o.ends)),
        .heap = calloc(tree->count, sizeof(*o.heap)),
        .lines = VECTOR_OF(struct outline_line),
    };
    int r = o.weights && o.ends && o.heap ? 0 : -ENOMEM;
    if (r == 0) {
        weights_sum(&o);
        lines_choose(&o, frames_max);
        r = lines_walk(&o);
    }
    free(o.weights);
    free(o.ends);
    free(o.heap);
    if (r < 0) {
        vector_finish(&o.lines);
        return r;
    }
    *ret_outline = (struct outline){
        .lines = o.lines.items,
        .count = o.lines.count,
        .before = tree->nodes[0].subtree[CALLTREE_BEFORE][metric],
        .after = tree->nodes[0].subtree[CALLTREE_AFTER][metric],
    };
    outline_assert(ret_outline);
    return 0;
}

void outline_finish(struct outline *outline) {
    free(outline->lines);
    *outline = (struct outline){0};
}
