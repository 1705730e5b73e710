/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_data.c: choose the nodes, number them anew, write one list for each of their numbers.
 *
 * A node weighs the largest share that it and all below it have of any metric, differences of
 * sign not cancelling each other. A child weighs no more than its parent, so that the heaviest
 * nodes are a tree again.
 */
#include "tree_data.h"

#include "calltree.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    const char *key;
    enum calltree_metric metric;
} shown_metrics[] = {
    {"peak", CALLTREE_PEAK_ADDED},
    {"net", CALLTREE_NET},
    {"total", CALLTREE_TOTAL},
    {"count", CALLTREE_COUNT},
    {"peak_blocks", CALLTREE_PEAK_BLOCKS},
};

#define SHOWN_METRICS (sizeof(shown_metrics) / sizeof(shown_metrics[0]))

struct shown_node {
    int64_t numbers[CALLTREE_SIDES][SHOWN_METRICS]; /* self */
    uint32_t parent;                                /* among those that are shown */
    int64_t frame;                                  /* or enum tree_data_kind */
};

struct choice {
    const struct calltree *tree;
    double (*sizes)[SHOWN_METRICS]; /* of each node's subtree, absolute */
    double *weights;                /* of each node */
    uint32_t *numbers;   /* of each node among those shown; CALLTREE_NONE: not shown */
    struct vector shown; /* struct shown_node */
    size_t left_out;
};

static double absolute(int64_t number) {
    return number < 0 ? -(double)number : (double)number;
}

static void choice_weigh(struct choice *choice) {
    const struct calltree *tree = choice->tree;
    for (size_t i = tree->count; i-- > 0;) {
        const struct calltree_node *node = &tree->nodes[i];
        for (size_t m = 0; m < SHOWN_METRICS; m++) {
            for (size_t side = 0; side < CALLTREE_SIDES; side++)
                choice->sizes[i][m] += absolute(node->self[side][shown_metrics[m].metric]);
            if (i > 0)
                choice->sizes[node->parent][m] += choice->sizes[i][m];
        }
    }
    for (size_t i = 0; i < tree->count; i++) {
        for (size_t m = 0; m < SHOWN_METRICS; m++) {
            double whole = choice->sizes[0][m];
            double share = whole > 0 ? choice->sizes[i][m] / whole : 0;
            if (share > choice->weights[i])
                choice->weights[i] = share;
        }
    }
}

static int compare_weights(const void *a, const void *b) {
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left > right ? -1 : left < right;
}

/* What a node must weigh more than to stay, when there are too many. */
static int weight_least(const struct choice *choice, size_t nodes_most, double *ret_least) {
    size_t count = choice->tree->count;
    *ret_least = -1;
    if (count <= nodes_most)
        return 0;
    double *sorted = calloc(count, sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = choice->weights[i];
    qsort(sorted, count, sizeof(*sorted), compare_weights);
    *ret_least = sorted[nodes_most];
    free(sorted);
    return 0;
}

static void numbers_add(struct shown_node *shown, const struct calltree_node *node,
                        bool with_all_below) {
    for (size_t side = 0; side < CALLTREE_SIDES; side++) {
        const int64_t *from = with_all_below ? node->subtree[side] : node->self[side];
        for (size_t m = 0; m < SHOWN_METRICS; m++)
            shown->numbers[side][m] += from[shown_metrics[m].metric];
    }
}

static int shown_frame(struct context *context, const struct calltree_node *node,
                       int64_t *ret_frame) {
    static const enum tree_data_kind kinds[] = {
        [CALLTREE_ROOT] = TREE_DATA_ROOT,
        [CALLTREE_NO_STACK] = TREE_DATA_NO_STACK,
        [CALLTREE_OTHER] = TREE_DATA_OTHER,
    };
    uint32_t number;
    if (node->kind != CALLTREE_FRAME) {
        *ret_frame = kinds[node->kind];
        return 0;
    }
    int r = context_frame(context, node->profile, node->frame, node->name, &number);
    if (r == 0)
        *ret_frame = number;
    return r;
}

/* The children of @node that stay go into the list; one node has the sums of the others. */
static int children_take(struct choice *choice, struct context *context, uint32_t node,
                         double least) {
    const struct calltree_node *nodes = choice->tree->nodes;
    struct shown_node rest = {.parent = choice->numbers[node], .frame = TREE_DATA_REST};
    size_t rest_count = 0;
    for (uint32_t child = nodes[node].first_child; child != CALLTREE_NONE;
         child = nodes[child].next_sibling) {
        if (choice->weights[child] <= least) {
            numbers_add(&rest, &nodes[child], true);
            rest_count++;
            continue;
        }
        struct shown_node shown = {.parent = choice->numbers[node]};
        int r = shown_frame(context, &nodes[child], &shown.frame);
        struct shown_node *added = r == 0 ? vector_add(&choice->shown) : NULL;
        if (!added)
            return -ENOMEM;
        numbers_add(&shown, &nodes[child], false);
        *added = shown;
        choice->numbers[child] = (uint32_t)choice->shown.count - 1;
    }
    choice->left_out += rest_count;
    if (rest_count == 0)
        return 0;
    struct shown_node *added = vector_add(&choice->shown);
    if (!added)
        return -ENOMEM;
    *added = rest;
    return 0;
}

static int choice_make(struct choice *choice, struct context *context, size_t nodes_most) {
    double least;
    int r = weight_least(choice, nodes_most, &least);
    struct shown_node *root = r == 0 ? vector_add(&choice->shown) : NULL;
    if (!root)
        return -ENOMEM;
    *root = (struct shown_node){.frame = TREE_DATA_ROOT};
    numbers_add(root, &choice->tree->nodes[0], false);
    for (size_t i = 0; i < choice->tree->count; i++)
        choice->numbers[i] = i == 0 ? 0 : CALLTREE_NONE;
    for (uint32_t i = 0; r == 0 && i < choice->tree->count; i++)
        if (choice->numbers[i] != CALLTREE_NONE)
            r = children_take(choice, context, i, least);
    return r;
}

static void write_side(struct json *json, const char *key, const struct choice *choice,
                       enum calltree_side side) {
    const struct shown_node *shown = choice->shown.items;
    json_begin(json, key, '{');
    for (size_t m = 0; m < SHOWN_METRICS; m++) {
        json_begin(json, shown_metrics[m].key, '[');
        for (size_t i = 0; i < choice->shown.count; i++)
            json_int(json, NULL, shown[i].numbers[side][m]);
        json_end(json, ']');
    }
    json_end(json, '}');
}

static void write_choice(struct json *json, const char *key, const struct choice *choice,
                         const struct calltree_source *sources) {
    static const char *const sides[] = {"before", "after"};
    const struct shown_node *shown = choice->shown.items;
    json_begin(json, key, '{');
    json_int(json, "left_out", (int64_t)choice->left_out);
    json_begin(json, "parent", '[');
    for (size_t i = 0; i < choice->shown.count; i++)
        json_int(json, NULL, shown[i].parent);
    json_end(json, ']');
    json_begin(json, "frame", '[');
    for (size_t i = 0; i < choice->shown.count; i++)
        json_int(json, NULL, shown[i].frame);
    json_end(json, ']');
    for (size_t side = 0; side < CALLTREE_SIDES; side++) {
        if (sources[side].profile)
            write_side(json, sides[side], choice, side);
        else
            json_null(json, sides[side]);
    }
    json_end(json, '}');
}

static int write_tree(struct context *context, const char *key, const struct calltree *tree,
                      const struct calltree_source *sources, size_t nodes_most) {
    struct choice choice = {
        .tree = tree,
        .sizes = calloc(tree->count, sizeof(*choice.sizes)),
        .weights = calloc(tree->count, sizeof(*choice.weights)),
        .numbers = calloc(tree->count, sizeof(*choice.numbers)),
        .shown = VECTOR_OF(struct shown_node),
    };
    int r = choice.sizes && choice.weights && choice.numbers ? 0 : -ENOMEM;
    if (r == 0) {
        choice_weigh(&choice);
        r = choice_make(&choice, context, nodes_most);
    }
    if (r == 0)
        write_choice(&context->json, key, &choice, sources);
    free(choice.sizes);
    free(choice.weights);
    free(choice.numbers);
    vector_finish(&choice.shown);
    return r;
}

int tree_data_write(struct context *context, const char *key, const struct diff_row *row,
                    size_t nodes_most) {
    static const struct calltree_settings settings = {
        .by = CALLTREE_BY_FUNCTION,
        .space = TRACE_HEAP,
    };
    const struct diff_value *values[] = {&row->before, &row->after};
    struct calltree_source sources[CALLTREE_SIDES] = {0};
    struct calltree tree;
    for (size_t side = 0; side < CALLTREE_SIDES; side++)
        if (values[side]->run)
            sources[side] =
                (struct calltree_source){&values[side]->run->profile, values[side]->region};
    int r = calltree_build(sources, &settings, &tree);
    if (r == -ENODATA) {
        json_null(&context->json, key);
        return 0;
    }
    if (r < 0)
        return r;
    r = write_tree(context, key, &tree, sources, nodes_most);
    calltree_finish(&tree);
    return r;
}
