/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_builder.h: traces written by hand, in memory, for the tests of the reader.
 *
 * It follows the rules of trace_layout.h on its own, without a line of the recorder: regions,
 * rows and peaks as one thread would book them. Everything is open to be bent by a test before
 * trace_builder_write(). Limits are small and asserted.
 */
#pragma once

#include "trace_layout.h"

#include <stdbool.h>
#include <stddef.h>

#define BUILDER_NODES   64
#define BUILDER_SITES   64
#define BUILDER_REGIONS 16
#define BUILDER_MODULES 8

struct trace_builder {
    struct trace_header header;
    struct trace_node nodes[BUILDER_NODES];
    struct trace_site sites[BUILDER_SITES];
    struct trace_region regions[BUILDER_REGIONS];
    struct trace_row rows[BUILDER_REGIONS][BUILDER_SITES];
    struct trace_module modules[BUILDER_MODULES];
    const char *module_paths[BUILDER_MODULES];
    uint32_t module_count;
    const char *exe;
    const char *command; /* command_bytes */
    size_t command_bytes;
    const char *cwd;
    uint32_t stores_left; /* the process dies when this reaches 0; UINT32_MAX: it lives */
};

/* A running program "victim" with pid 4711, its process region, and the six fixed sites. */
void trace_builder_init(struct trace_builder *builder);

/* Code at [start, end); the path is borrowed. */
void trace_builder_module(struct trace_builder *builder, const char *path, uint64_t start,
                          uint64_t end, uint64_t bias);
uint32_t trace_builder_node(struct trace_builder *builder, uint32_t parent, uint64_t address);
uint32_t trace_builder_site(struct trace_builder *builder, uint32_t node,
                            enum trace_space space);

/* Events. Returns the region's id. */
uint32_t trace_builder_begin(struct trace_builder *builder, const char *name);
void trace_builder_end(struct trace_builder *builder, uint32_t region);
void trace_builder_allocate(struct trace_builder *builder, uint32_t site, uint64_t bytes);
void trace_builder_free(struct trace_builder *builder, uint32_t site, uint64_t bytes);
void trace_builder_exit(struct trace_builder *builder);

/* The file; free() it. */
unsigned char *trace_builder_write(const struct trace_builder *builder, size_t *ret_size);
