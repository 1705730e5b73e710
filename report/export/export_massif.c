/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_massif.c: what massif writes (valgrind's manual, "Massif: a heap profiler"): the live
 * heap over time, and at its peak the tree of who holds it, from the caller of malloc outwards.
 *
 * Bytes are those requested; what an allocator adds is not known for every moment, so it stands
 * as 0 throughout. Stacks are sorted from the inside, so that the rows of one node of the tree
 * are neighbours; a node is printed when its first row is met. No recursion: a hostile store
 * may hold stacks as deep as it likes.
 */
#include "callsite.h"
#include "export_formats.h"
#include "render.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_MAX    200
#define SNAPSHOTS_MAX 100 /* as many as massif takes when nothing is said */
#define NS_PER_MS     1000000
#define SHORT_REGION_NS                                                                        \
    (INT64_C(1000) * NS_PER_MS) /* whole milliseconds would hide its shape */

/* A row that holds memory at the peak. */
struct leaf {
    uint32_t node;  /* the innermost; 0: no stack */
    uint16_t flags; /* why not */
    int64_t bytes;
    size_t depth;  /* frames of its stack; 1 where there is none: the reason */
    size_t common; /* of which so many are those of the leaf before it */
};

struct leaves {
    const struct run *run;
    struct leaf *items;
    size_t count;
};

static int compare_leaves(const void *a, const void *b, void *context) {
    const struct profile *profile = context;
    const struct leaf *left = a;
    const struct leaf *right = b;
    uint32_t x = left->node;
    uint32_t y = right->node;
    if (x == 0 && y == 0)
        return (left->flags > right->flags) - (left->flags < right->flags);
    for (; x != y && x != 0 && y != 0;
         x = profile->nodes[x].parent, y = profile->nodes[y].parent) {
        uint32_t one = profile->nodes[x].frame;
        uint32_t other = profile->nodes[y].frame;
        if (one != other)
            return one < other ? -1 : 1;
    }
    return x == y ? 0 : (x != 0) - (y != 0);
}

/* How many frames two neighbours have in common, from the inside. */
static size_t common_depth(const struct profile *profile, const struct leaf *a,
                           const struct leaf *b) {
    size_t depth = 0;
    uint32_t x = a->node;
    uint32_t y = b->node;
    if (x == 0 || y == 0)
        return x == y && a->flags == b->flags ? 1 : 0;
    while (x != 0 && y != 0 && profile->nodes[x].frame == profile->nodes[y].frame) {
        x = profile->nodes[x].parent;
        y = profile->nodes[y].parent;
        depth++;
    }
    return depth;
}

static size_t node_depth(const struct profile *profile, uint32_t node) {
    size_t depth = 0;
    for (; node != 0; node = profile->nodes[node].parent)
        depth++;
    return depth > 0 ? depth : 1;
}

static int leaves_collect(const struct export_source *source, struct leaves *ret_leaves) {
    const struct profile *profile = &source->run->profile;
    const struct profile_region *region = source->region;
    struct leaves leaves = {.run = source->run};
    leaves.items = calloc(region->rows_count + 1, sizeof(*leaves.items));
    if (!leaves.items)
        return -ENOMEM;
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        const struct profile_site *site = &profile->sites[row->site];
        if (site->space != TRACE_HEAP || row->peak.bytes == 0)
            continue;
        leaves.items[leaves.count++] = (struct leaf){
            .node = site->node,
            .flags = site->node == 0 ? site->flags & TRACE_SITE_OTHER : 0,
            .bytes = row->peak.bytes,
            .depth = node_depth(profile, site->node),
        };
    }
    qsort_r(leaves.items, leaves.count, sizeof(*leaves.items), compare_leaves, (void *)profile);
    for (size_t i = 1; i < leaves.count; i++)
        leaves.items[i].common = common_depth(profile, &leaves.items[i - 1], &leaves.items[i]);
    *ret_leaves = leaves;
    return 0;
}

/* A node of the tree: the leaves from @first on that share @depth frames. */
struct span {
    int64_t bytes;
    int64_t own_bytes; /* of leaves whose stack ends here */
    size_t children;   /* other than those */
};

static struct span span_measure(const struct leaves *leaves, size_t first, size_t depth) {
    struct span span = {0};
    for (size_t i = first; i < leaves->count; i++) {
        const struct leaf *leaf = &leaves->items[i];
        if (i > first && leaf->common < depth)
            break;
        span.bytes += leaf->bytes;
        if (leaf->depth == depth)
            span.own_bytes += leaf->bytes;
        else if (i == first || leaf->common <= depth)
            span.children++;
    }
    return span;
}

static int write_clean(FILE *stream, const char *text) {
    char *clean = strdup(text);
    if (!clean)
        return -ENOMEM;
    utf8_clean(clean);
    fputs(clean, stream);
    free(clean);
    return 0;
}

/* "0x4005FA: grow (table.c:12)", "0x4005FA: ??? (in /usr/lib/libc.so.6)". */
static int write_frame(FILE *stream, const struct profile *profile, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(profile, node);
    const char *path = profile->modules[frame->module].path;
    char line[16] = "";
    fprintf(stream, "0x%" PRIX64 ": ", frame->offset);
    int r = write_clean(stream, frame->function[0] != '\0' ? frame->function : "???");
    fputs(frame->file[0] != '\0' ? " (" : " (in ", stream);
    if (r == 0 && frame->file[0] != '\0')
        r = write_clean(stream, callsite_basename(frame->file));
    else if (r == 0)
        r = write_clean(stream, path[0] != '\0' ? path : "no file");
    if (frame->file[0] != '\0')
        snprintf(line, sizeof(line), ":%" PRIu32, frame->lineno);
    fprintf(stream, "%s)\n", line);
    return r;
}

static void write_lead(FILE *stream, size_t depth, size_t children, int64_t bytes) {
    int indent = depth < INDENT_MAX ? (int)depth : INDENT_MAX;
    fprintf(stream, "%*sn%zu: %" PRId64 " ", indent, "", children, bytes);
}

/* The nodes that begin with leaf @first: those that it does not share with the one before. */
static int write_nodes(FILE *stream, const struct leaves *leaves, size_t first) {
    const struct profile *profile = &leaves->run->profile;
    const struct leaf *leaf = &leaves->items[first];
    uint32_t node = leaf->node;
    int r = 0;
    for (size_t depth = 1; r == 0 && depth <= leaf->depth; depth++) {
        if (depth > leaf->common) {
            struct span span = span_measure(leaves, first, depth);
            bool is_split = span.children > 0 && leaf->depth == depth;
            write_lead(stream, depth, span.children + is_split, span.bytes);
            if (node == 0)
                fprintf(stream, "0x0: %s\n", export_no_stack(leaves->run, leaf->flags));
            else
                r = write_frame(stream, profile, node);
            if (is_split) {
                write_lead(stream, depth + 1, 0, span.own_bytes);
                fputs("0x0: (its outermost frame)\n", stream);
            }
        }
        node = node != 0 ? profile->nodes[node].parent : 0;
    }
    return r;
}

static int write_tree(FILE *stream, const struct export_source *source) {
    struct leaves leaves;
    int r = leaves_collect(source, &leaves);
    if (r < 0)
        return r;
    size_t children = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < leaves.count; i++) {
        children += leaves.items[i].common == 0;
        bytes += leaves.items[i].bytes;
    }
    write_lead(stream, 0, children, bytes);
    fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n", stream);
    for (size_t i = 0; r == 0 && i < leaves.count; i++)
        r = write_nodes(stream, &leaves, i);
    free(leaves.items);
    return r;
}

static int write_header(FILE *stream, const struct export_source *source) {
    const struct profile *profile = &source->run->profile;
    char *benchmark = render_benchmark(source->run);
    if (!benchmark)
        return -ENOMEM;
    fprintf(stream, "desc: votreport, requested bytes of %s, region ", benchmark);
    free(benchmark);
    int r = write_clean(stream, source->region->name);
    fputs("\ncmd:", stream);
    for (size_t i = 0; r == 0 && i < profile->argument_count; i++) {
        fputc(' ', stream);
        r = write_clean(stream, profile->arguments[i]);
    }
    fputs("\ntime_unit: ms\n", stream);
    return r;
}

static void write_snapshot(FILE *stream, size_t number, int64_t elapsed_ns, bool is_short,
                           int64_t live_bytes, const char *tree) {
    static const char rule[] = "#-----------\n";
    fprintf(stream, "%ssnapshot=%zu\n%stime=%" PRId64, rule, number, rule,
            elapsed_ns / NS_PER_MS);
    if (is_short)
        fprintf(stream, ".%06" PRId64, elapsed_ns % NS_PER_MS);
    fprintf(stream,
            "\nmem_heap_B=%" PRId64 "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
            live_bytes, tree);
}

/* Its timeline; where none was kept, its start, peak and end. @room is for those. */
static const struct profile_point *points_of(const struct export_source *source,
                                             struct profile_point room[3], size_t *ret_count) {
    const struct profile_region *region = source->region;
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    int64_t end = region->open ? source->run->profile.elapsed_ns : region->end_elapsed_ns;
    if (end < region->begin_elapsed_ns)
        end = region->begin_elapsed_ns;
    int64_t peak = region->peak_elapsed_ns;
    peak = peak < region->begin_elapsed_ns ? region->begin_elapsed_ns : peak > end ? end : peak;
    room[0] = (struct profile_point){region->begin_elapsed_ns, heap->start.bytes};
    room[1] = (struct profile_point){peak, heap->peak_bytes};
    room[2] = (struct profile_point){end, heap->end.bytes};
    *ret_count = region->points_count > 0 ? region->points_count : 3;
    return region->points_count > 0 ? region->points : room;
}

/* The point that is the peak; they always have one (profile.h). */
static size_t peak_find(const struct profile_point *points, size_t count, int64_t peak_bytes) {
    size_t at = 0;
    while (at + 1 < count && points[at].live_bytes != peak_bytes)
        at++;
    return at;
}

static int write_snapshots(FILE *stream, const struct export_source *source) {
    struct profile_point room[3];
    size_t count;
    const struct profile_point *points = points_of(source, room, &count);
    int64_t begin = points[0].elapsed_ns;
    bool is_short = points[count - 1].elapsed_ns - begin < SHORT_REGION_NS;
    size_t peak = peak_find(points, count, source->region->totals[TRACE_HEAP].peak_bytes);
    size_t step = (count + SNAPSHOTS_MAX - 3) / (SNAPSHOTS_MAX - 2);
    size_t number = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        if (i % step != 0 && i != peak && i + 1 != count)
            continue;
        write_snapshot(stream, number++, points[i].elapsed_ns - begin, is_short,
                       points[i].live_bytes, i == peak ? "peak" : "empty");
        if (i == peak)
            r = write_tree(stream, source);
    }
    return r;
}

static bool has_negative_point(const struct export_source *source) {
    struct profile_point room[3];
    size_t count;
    const struct profile_point *points = points_of(source, room, &count);
    for (size_t i = 0; i < count; i++)
        if (points[i].live_bytes < 0)
            return true;
    return false;
}

int export_massif(FILE *stream, const struct export_request *request, struct fault *fault) {
    if (has_negative_point(&request->after))
        return fault_set(fault, -ERANGE,
                         "--format massif has no room for a live heap below zero, as a region "
                         "of one thread may have it: use --format pprof");
    int r = write_header(stream, &request->after);
    if (r == 0)
        r = write_snapshots(stream, &request->after);
    return r < 0 ? export_no_memory(fault) : 0;
}
