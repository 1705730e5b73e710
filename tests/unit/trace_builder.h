/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_builder.h: traces written by hand, in memory, for the tests of the reader.
 *
 * It follows the rules of trace_layout.h on its own, without a line of the recorder: regions,
 * rows and peaks as threads would book them one event after the other, each in its lane.
 * Everything is open to be bent by a test before trace_builder_write(). Limits are small and
 * asserted.
 */
#pragma once

#include "trace_layout.h"

#include <stdbool.h>
#include <stddef.h>

#define BUILDER_NODES   64
#define BUILDER_SITES   64
#define BUILDER_REGIONS 16
#define BUILDER_MODULES 8
#define BUILDER_LANES   4
#define BUILDER_POINTS  16
#define BUILDER_CODES   4

struct trace_builder {
    struct trace_header header;
    struct trace_node nodes[BUILDER_NODES];
    struct trace_site sites[BUILDER_SITES];
    struct trace_region regions[BUILDER_REGIONS];
    struct trace_row rows[BUILDER_REGIONS][BUILDER_SITES];
    struct trace_row lane_rows[BUILDER_LANES][BUILDER_SITES]; /* of region 0; lane 0 is above */
    struct trace_lane lanes[BUILDER_LANES];
    bool has_lane[BUILDER_LANES];
    struct trace_sizes sizes[BUILDER_REGIONS];
    bool has_sizes[BUILDER_REGIONS];
    struct trace_point points[BUILDER_REGIONS][BUILDER_POINTS];
    uint32_t point_count[BUILDER_REGIONS];
    bool has_timeline[BUILDER_REGIONS];
    uint32_t lane;        /* where the next events are booked */
    uint32_t thread;      /* who they are of */
    uint64_t slack_bytes; /* what the allocator gives a block on top, with TRACE_USABLE */
    struct trace_module modules[BUILDER_MODULES];
    const char *module_paths[BUILDER_MODULES];
    uint32_t module_count;
    struct trace_code codes[BUILDER_CODES];
    const char *code_texts[BUILDER_CODES][2]; /* function and path */
    uint32_t code_count;
    const char *exe;
    const char *command; /* command_bytes */
    size_t command_bytes;
    const char *cwd;
    const char *parent;   /* of a forked child; NULL: none */
    uint32_t stores_left; /* the process dies when this reaches 0; UINT32_MAX: it lives */
};

/* A running program "victim" with pid 4711, its process region, and the six fixed sites. */
void trace_builder_init(struct trace_builder *builder);

/* Code at [start, end); the path is borrowed. */
void trace_builder_module(struct trace_builder *builder, const char *path, uint64_t start,
                          uint64_t end, uint64_t bias);
/* A function of interpreted code; the texts are borrowed. Returns its id. */
uint32_t trace_builder_code(struct trace_builder *builder, const char *function,
                            const char *path, uint32_t first_line);
uint32_t trace_builder_node(struct trace_builder *builder, uint32_t parent, uint64_t address);
uint32_t trace_builder_site(struct trace_builder *builder, uint32_t node,
                            enum trace_space space);

/* Events. Returns the region's id. */
uint32_t trace_builder_begin(struct trace_builder *builder, const char *name);
void trace_builder_end(struct trace_builder *builder, uint32_t region);
void trace_builder_allocate(struct trace_builder *builder, uint32_t site, uint64_t bytes);
void trace_builder_free(struct trace_builder *builder, uint32_t site, uint64_t bytes);
void trace_builder_exit(struct trace_builder *builder);

/* A region of the thread that events are of. */
uint32_t trace_builder_begin_thread(struct trace_builder *builder, const char *name);

/*
 * Book what follows in @lane, which is made when it is new. Only while no marked region is open;
 * when one begins, and at the end, all is in lane 0 again.
 */
void trace_builder_use_lane(struct trace_builder *builder, uint32_t lane);

/* A point of a region's timeline; one it has from then on. */
void trace_builder_point(struct trace_builder *builder, uint32_t region, uint64_t elapsed_ns,
                         int64_t live_bytes);

/* Regions that begin from now on have sizes, and "process" has them from here. */
void trace_builder_count_sizes(struct trace_builder *builder);

/* The file; free() it. */
unsigned char *trace_builder_write(const struct trace_builder *builder, size_t *ret_size);
