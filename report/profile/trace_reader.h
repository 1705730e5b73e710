/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_reader.h: a trace file, loaded and checked, as tables.
 *
 * The file is hostile until trace_open() has returned 0. Then every id, offset, count and
 * string below lies inside its table: node parents are smaller than the node, sites name a node
 * and a space, regions name an older parent, rows belong to a region and to sites that exist,
 * rows of a lane beyond 0 to the process region and to a lane whose record is there, timelines
 * hold no more points than they have. Whether the numbers agree with each other is profile.h's question.
 */
#pragma once

#include "attributes.h"
#include "fault.h"
#include "trace_layout.h"

#include <stdbool.h>
#include <stddef.h>

/* The counters of sites first .. first+count-1 in one region, kept by one lane. */
struct trace_rows {
    uint32_t region;
    uint32_t lane;
    uint32_t first;
    uint32_t count;
    const struct trace_row *rows;
};

/* Bytes inside the loaded file; not NUL-terminated. {NULL, 0} when the trace has none. */
struct trace_bytes {
    const char *data;
    size_t length;
};

struct trace_loaded_module {
    const struct trace_module *module;
    struct trace_bytes path;
};

/* A function of interpreted code. */
struct trace_loaded_code {
    uint32_t first_line; /* 0: not known */
    struct trace_bytes function;
    struct trace_bytes path;
};

struct trace {
    const struct trace_header *header;
    const struct trace_node *nodes;     /* header->node_count */
    const struct trace_site *sites;     /* header->site_count */
    const struct trace_region *regions; /* header->region_count, at least 1 */
    const struct trace_rows
        *rows; /* by region, lane, first site; never overlapping in a lane */
    size_t rows_count;
    const struct trace_lane *lanes[TRACE_LANES_MAX]; /* NULL: there is none of that number */
    const struct trace_timeline *const *timelines;   /* by region; NULL: it has none */
    const struct trace_sizes *const *sizes;          /* likewise */
    const struct trace_loaded_module *modules;       /* in the order they were seen */
    size_t module_count;
    const struct trace_loaded_code *codes; /* id 1 is codes[0] */
    size_t code_count;
    struct trace_bytes exe;
    struct trace_bytes command; /* arguments, each ended by NUL */
    struct trace_bytes cwd;
    struct trace_bytes parent; /* path of the trace of a forked child's parent */
    const void *bytes;         /* the file itself, as far as it is in use */
    size_t size;
    bool truncated; /* the file ends early: regions are all there, rows are not to be trusted */
};

/*
 * Load and check the trace at @path.
 *
 * Returns 0; -EBADMSG when the file is damaged, -ENOMSG when it is no trace, -ENOTSUP when its
 * version or byte order is not ours, another negative errno when reading fails. On failure
 * @fault says it in words.
 */
int trace_open(const char *path, struct trace **ret_trace,
               struct fault *fault) _must_check_ _nonnull_;

/* The same for a file that is in memory; the bytes are copied. */
int trace_from_bytes(const void *bytes, size_t size, struct trace **ret_trace,
                     struct fault *fault) _must_check_ _nonnull_;

/* The same without a copy: @take_bytes has to come from malloc, and is gone whatever happens. */
int trace_from_taken_bytes(void *take_bytes, size_t size, struct trace **ret_trace,
                           struct fault *fault) _must_check_ _nonnull_;

/* What a whole file says first; the rest of it is @ret_header->used_bytes long. */
int trace_header_check(const void *bytes, size_t size, struct trace_header *ret_header,
                       struct fault *fault) _must_check_ _nonnull_;

/* How many of its threads were inside an event when this was written. */
unsigned trace_events_in_flight(const struct trace *trace) _nonnull_;

/*
 * Did threads keep rows of the process region for themselves, so that its record may be behind?
 */
bool trace_has_lanes(const struct trace *trace) _nonnull_;

/* Was the end of the program seen: exit or exec? Then no record is behind. */
bool trace_has_ended(const struct trace *trace) _nonnull_;

/* Is the process that writes @path still alive and writing it? */
bool trace_is_being_written(const struct trace *trace, const char *path) _nonnull_;

void trace_close(struct trace *trace);
