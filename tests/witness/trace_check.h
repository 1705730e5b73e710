/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_check.h: does a trace keep what trace_layout.h promises?
 *
 * Written from the layout's opening comment alone, without a line of the reader in report/, so
 * that one mistake cannot hide in both.
 */
#pragma once

#include "trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_CHECK_FAULT_BYTES 256

/* Sums over the rows of one region and space, all lanes together. */
struct trace_check_sums {
    int64_t start_blocks, start_bytes;
    int64_t live_blocks, live_bytes;
    int64_t peak_bytes;
    uint64_t allocations, allocated_bytes;
    uint64_t frees, freed_bytes;
    uint64_t temporary;
    uint64_t sites; /* touched in at least one lane */
};

/* One site in one region, all lanes together. */
struct trace_check_site {
    bool touched;
    int64_t start_blocks, start_bytes;
    int64_t live_blocks, live_bytes;
    int64_t peak_blocks, peak_bytes;
    uint64_t allocations, allocated_bytes;
    uint64_t frees, freed_bytes;
    uint64_t temporary;
};

struct trace_rows {
    uint32_t owner;
    uint32_t first;
    uint32_t lane;
    const struct trace_row *rows;
};

/* TIMELINE or SIZES chunks, and whose they are. */
struct trace_extra {
    uint32_t owner;
    const void *payload;
};
struct trace_extras {
    struct trace_extra *items;
    size_t count;
};

struct trace_check {
    const unsigned char *bytes;
    size_t size;
    const struct trace_header *header;
    const struct trace_node **nodes; /* by chunk of `nodes_per_chunk` */
    const struct trace_site **sites; /* one pointer for each site */
    const struct trace_region **regions;
    struct trace_rows *rows; /* sorted by owner, first, lane */
    size_t row_chunk_count;
    size_t lane_row_chunks;                          /* of lanes beyond 0 */
    uint32_t lanes_with_rows;                        /* bit n: lane n */
    const struct trace_lane *lanes[TRACE_LANES_MAX]; /* NULL: there is none of that number */
    uint32_t lane_count;
    uint32_t updating; /* how many of header and lanes were inside an event */
    struct trace_extras timelines;
    struct trace_extras sizes;
    uint32_t generations; /* the greatest of a module */
    uint32_t node_capacity, site_capacity, region_capacity;
    uint32_t module_count, text_count, code_count;
    bool cut; /* the file was refused: what the header counts is not all here */
    /* With one event unfinished: what it has moved in rows but not in totals. */
    int lag_space; /* -1: nothing */
    int64_t lag_blocks, lag_bytes;
    char fault[TRACE_CHECK_FAULT_BYTES];
};

/*
 * Check a whole trace. @check borrows @bytes (8-byte aligned). Returns 0, or -1 with
 * check->fault saying what does not hold. In both cases trace_check_finish() is due.
 */
int trace_check(struct trace_check *check, const void *bytes, size_t size);
void trace_check_finish(struct trace_check *check);

/* The row of a site in a region, of lane 0 or another; NULL when it has none. */
const struct trace_row *trace_check_row(const struct trace_check *check, uint32_t region,
                                        uint32_t site);
const struct trace_row *trace_check_lane_row(const struct trace_check *check, uint32_t region,
                                             uint32_t lane, uint32_t site);

/* Its row derived and summed over all lanes. */
struct trace_check_site trace_check_site(const struct trace_check *check, uint32_t region,
                                         uint32_t site);

/* The sums of a region that has rows. */
struct trace_check_sums trace_check_sum(struct trace_check *check, uint32_t region,
                                        enum trace_space space);

/*
 * Heap allocations of a region by size. Returns 0, or -1 when the region has none, or (and
 * then check->fault says it) when fewer were counted than before it began.
 */
int trace_check_sizes(struct trace_check *check, uint32_t region,
                      int64_t ret_counts[TRACE_SIZE_BUCKETS]);

/* The points of a region; NULL when it has none. */
const struct trace_timeline *trace_check_timeline(const struct trace_check *check,
                                                  uint32_t region);

/* The frames of a site, innermost first. Returns how many, at most @room. */
size_t trace_check_frames(const struct trace_check *check, uint32_t site, uint64_t *ret_frames,
                          size_t room);
