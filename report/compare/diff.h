/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff.h: two sets of runs, benchmark by benchmark.
 *
 * What is compared is one number: peak_added of the heap in one region of one benchmark. Where
 * a region has several instances in a run the worst counts; where a benchmark was repeated the
 * median counts, and least and most say how far the repeats differ. Beside it stand the peak
 * added of the anonymous mappings and that of both together, or memory that moves from malloc to
 * mmap would pass for memory saved. Pure: no SQL, no printing.
 */
#pragma once

#include "attributes.h"
#include "callsite.h"
#include "run.h"

enum diff_status {
    DIFF_WORSE, /* this order is the order of the rows */
    DIFF_BETTER,
    DIFF_ADDED,
    DIFF_REMOVED,
    DIFF_SAME, /* to the byte */
};

/* One side of a row. */
struct diff_value {
    const struct run *run;               /* the run that counts, NULL when this side has none */
    const struct profile_region *region; /* the instance that counts */
    size_t instance_count;
    size_t repeats;
    int64_t peak_added;
    int64_t least; /* over the repeats */
    int64_t most;
    int64_t map_anon; /* peak_added of the anonymous mappings: worst and median of its own */
    int64_t combined; /* likewise of heap and anonymous mappings together */
    const struct run *unfit; /* a run of the set that is not to be trusted, NULL: all are */
};

/* A call site on either side: its share of peak_added. */
struct diff_site {
    struct callsite site; /* as it is after, or before when it is gone */
    bool in_before;
    bool in_after;
    int64_t before_bytes;
    int64_t after_bytes;
};

struct diff_row {
    enum diff_status status;
    const struct run *benchmark; /* whose name and parameters these are */
    const char *region;
    bool only_region; /* the benchmark has no other: its name can stand for both */
    struct diff_value before;
    struct diff_value after;
    double ratio;            /* after / before; infinite from zero, 1 when both are zero */
    struct diff_site *sites; /* largest difference first; those without one are left out */
    size_t site_count;
    bool *vague_before; /* what the sites borrow, see callsite_vague_modules() */
    bool *vague_after;
    bool explained; /* both sides have rows: the sites add up to the difference exactly */
};

struct diff {
    struct diff_row *rows;
    size_t row_count;
    size_t common_count; /* rows that have both sides */
};

/*
 * Compare @before with @after, each the newest runs of its benchmarks in any order.
 * @with_process compares "process" also where regions are marked. @ret_diff borrows from the
 * runs.
 *
 * Returns 0 or -ENOMEM. End with diff_finish().
 */
int diff_compare(const struct run *before, size_t before_count, const struct run *after,
                 size_t after_count, bool with_process, struct diff *ret_diff) _must_check_;

/* Are both sides there, with anonymous mappings that added another peak? */
bool diff_mappings_changed(const struct diff_row *row) _nonnull_;

void diff_finish(struct diff *diff) _nonnull_;
