/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_speedscope.c: https://www.speedscope.app/file-format-schema.json
 *
 * A sampled profile for each metric: a stack is a sample, its bytes are its weight. Weights
 * must not be negative, so a metric that has such stacks is left out; the one that was asked for has
 * none (export.c). Frames are numbers of one list, in which a frame must stand once: speedscope
 * takes two for two functions.
 */
#include "export_formats.h"
#include "json.h"
#include "render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame {
    char *name;
    const char *file; /* "" when not known */
    uint32_t lineno;  /* 0 when not known, or when lines are merged */
    uint32_t node;    /* one node of the tree that it stands for */
};

struct frames {
    struct frame *items; /* a frame once, in order */
    size_t count;
    uint32_t *by_node; /* index into items */
};

static int compare_frames(const void *a, const void *b) {
    const struct frame *left = a;
    const struct frame *right = b;
    int order = strcmp(left->name, right->name);
    if (order == 0)
        order = strcmp(left->file, right->file);
    return order != 0 ? order : (left->lineno > right->lineno) - (left->lineno < right->lineno);
}

static int frame_make(const struct calltree_node *node, const struct export_request *request,
                      struct frame *ret_frame) {
    bool is_place = node->kind == CALLTREE_FRAME && request->by != CALLTREE_BY_MODULE;
    *ret_frame = (struct frame){
        .name = export_node_words(node, request, false),
        .file = is_place ? node->frame->file : "",
        .lineno = is_place && request->by == CALLTREE_BY_LINE ? node->frame->lineno : 0,
    };
    return ret_frame->name ? 0 : -ENOMEM;
}

static void frames_finish(struct frames *frames) {
    for (size_t i = 0; i < frames->count; i++)
        free(frames->items[i].name);
    free(frames->items);
    free(frames->by_node);
}

/* Sort them, and keep one of each. */
static void frames_merge(struct frames *frames) {
    size_t kept = 0;
    qsort(frames->items, frames->count, sizeof(*frames->items), compare_frames);
    for (size_t i = 0; i < frames->count; i++) {
        struct frame frame = frames->items[i];
        if (kept > 0 && compare_frames(&frames->items[kept - 1], &frame) == 0)
            free(frame.name);
        else
            frames->items[kept++] = frame;
        frames->by_node[frame.node] = (uint32_t)kept - 1;
    }
    frames->count = kept;
}

static int frames_collect(const struct calltree *tree, const struct export_request *request,
                          struct frames *ret_frames) {
    struct frames frames = {
        .items = calloc(tree->count, sizeof(*frames.items)),
        .by_node = calloc(tree->count, sizeof(*frames.by_node)),
    };
    int r = frames.items && frames.by_node ? 0 : -ENOMEM;
    for (uint32_t i = 1; r == 0 && i < tree->count; i++) {
        r = frame_make(&tree->nodes[i], request, &frames.items[frames.count]);
        frames.items[frames.count].node = i;
        frames.count += r == 0;
    }
    if (r < 0) {
        frames_finish(&frames);
        return r;
    }
    frames_merge(&frames);
    *ret_frames = frames;
    return 0;
}

static void write_frames(struct json *json, const struct frames *frames) {
    json_begin(json, "shared", '{');
    json_begin(json, "frames", '[');
    for (size_t i = 0; i < frames->count; i++) {
        const struct frame *frame = &frames->items[i];
        json_begin(json, NULL, '{');
        json_text(json, "name", frame->name);
        if (frame->file[0] != '\0')
            json_text(json, "file", frame->file);
        if (frame->lineno != 0)
            json_int(json, "line", frame->lineno);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static bool metric_fits(const struct calltree *tree, enum calltree_metric metric) {
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].self[CALLTREE_AFTER][metric] < 0)
            return false;
    return true;
}

/* Outermost first; @path has room for the deepest stack. */
static void write_sample(struct json *json, const struct calltree *tree, uint32_t node,
                         const struct frames *frames, uint32_t *path) {
    size_t depth = 0;
    for (; node != 0; node = tree->nodes[node].parent)
        path[depth++] = node;
    json_begin(json, NULL, '[');
    while (depth-- > 0)
        json_int(json, NULL, frames->by_node[path[depth]]);
    json_end(json, ']');
}

static void write_profile(struct json *json, const struct calltree *tree,
                          const struct frames *frames, uint32_t *path,
                          enum export_metric metric) {
    const struct export_metric_text *text = export_metric_text(metric);
    enum calltree_metric column = export_tree_metric(metric);
    json_begin(json, NULL, '{');
    json_text(json, "type", "sampled");
    json_text(json, "name", text->name);
    json_text(json, "unit", metric == EXPORT_COUNT ? "none" : text->unit);
    json_int(json, "startValue", 0);
    json_int(json, "endValue", tree->nodes[0].subtree[CALLTREE_AFTER][column]);
    json->compact = true;
    json_begin(json, "samples", '[');
    for (uint32_t i = 1; i < tree->count; i++)
        if (tree->nodes[i].self[CALLTREE_AFTER][column] != 0)
            write_sample(json, tree, i, frames, path);
    json_end(json, ']');
    json_begin(json, "weights", '[');
    for (size_t i = 1; i < tree->count; i++)
        if (tree->nodes[i].self[CALLTREE_AFTER][column] != 0)
            json_int(json, NULL, tree->nodes[i].self[CALLTREE_AFTER][column]);
    json_end(json, ']');
    json->compact = false;
    json_end(json, '}');
}

static int write_file(FILE *stream, const struct calltree *tree, const struct frames *frames,
                      uint32_t *path, const struct export_request *request) {
    struct json json = {.stream = stream};
    char *benchmark = render_benchmark(request->after.run);
    int active = 0;
    int written = 0;
    if (!benchmark)
        return -ENOMEM;
    json_begin(&json, NULL, '{');
    json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_text(&json, "exporter", "votreport");
    json_text(&json, "name", benchmark);
    free(benchmark);
    write_frames(&json, frames);
    json_begin(&json, "profiles", '[');
    for (int i = 0; i < EXPORT_METRICS; i++) {
        enum export_metric metric = (enum export_metric)i;
        if (!metric_fits(tree, export_tree_metric(metric)))
            continue;
        if (metric == request->metric)
            active = written;
        write_profile(&json, tree, frames, path, metric);
        written++;
    }
    json_end(&json, ']');
    json_int(&json, "activeProfileIndex", active);
    json_end(&json, '}');
    return 0;
}

int export_speedscope(FILE *stream, const struct export_request *request, struct fault *fault) {
    struct calltree tree;
    struct frames frames = {0};
    int r = export_tree(request, &tree, fault);
    if (r < 0)
        return r;
    uint32_t *path = calloc(tree.count, sizeof(*path));
    r = path ? frames_collect(&tree, request, &frames) : -ENOMEM;
    if (r == 0) {
        r = write_file(stream, &tree, &frames, path, request);
        frames_finish(&frames);
    }
    free(path);
    calltree_finish(&tree);
    return r < 0 ? export_no_memory(fault) : 0;
}
