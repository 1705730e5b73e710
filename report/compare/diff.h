/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff.h: two sets of runs, benchmark by benchmark.
 *
 * What is compared is one number (metric.h) in one region of one benchmark. Where a region has
 * several instances in a run the worst counts; where a benchmark was repeated the median. Where
 * repeats differ, or always for a metric that varies by nature, statistics.h says whether the
 * difference is more than noise. Beside the metric stand the peak added of the anonymous
 * mappings and that of heap and mappings together, or memory that moves from malloc to mmap
 * would pass for memory saved. Pure: no SQL, no printing.
 */
#pragma once

#include "attributes.h"
#include "callsite.h"
#include "calltree.h"
#include "metric.h"
#include "run.h"
#include "statistics.h"

enum diff_status {
    DIFF_WORSE, /* more: this order is the order of the rows */
    DIFF_BETTER,
    DIFF_ADDED,
    DIFF_REMOVED,
    DIFF_SAME,    /* to the byte */
    DIFF_UNKNOWN, /* both sides are there, but not both numbers */
};

/* How far a difference can be believed. */
enum diff_certainty {
    DIFF_EXACT,   /* each side gave the same number each time: any byte is a difference */
    DIFF_SURE,    /* it varies, and this is more than noise */
    DIFF_NOISE,   /* it varies, and this may be chance */
    DIFF_TOO_FEW, /* it varies, and this many repeats could never tell */
};

struct diff_settings {
    enum metric metric;
    bool with_process;   /* compare "process" also where regions are marked */
    enum calltree_by by; /* what the trees merge */
};

/* One side of a row. */
struct diff_value {
    const struct run *run;               /* the run that counts, NULL when this side has none */
    const struct profile_region *region; /* the instance that counts */
    size_t instance_count;
    size_t repeats;
    bool known;         /* the metric is, in every repeat */
    int64_t value;      /* of the metric: the median of the repeats */
    int64_t peak_added; /* of the heap, in the run and the instance that count */
    int64_t least;      /* of value, over the repeats */
    int64_t most;
    struct statistics_sample sample; /* all of them, where known */
    int64_t map_anon; /* peak_added of the anonymous mappings: worst and median of its own */
    int64_t combined; /* likewise of heap and anonymous mappings together */
    const struct run *unfit; /* a run of the set that is not to be trusted, NULL: all are */
};

/* A call site on either side: its share of the metric. */
struct diff_site {
    struct callsite site; /* as it is after, or before when it is gone */
    bool in_before;
    bool in_after;
    int64_t before_bytes; /* blocks, when the metric counts those */
    int64_t after_bytes;
};

struct diff_row {
    enum diff_status status;
    enum diff_certainty certainty; /* where the status is worse, better or same */
    double p;                      /* statistics_p(), where it varies */
    int64_t interval_low;          /* of the difference, 95 of 100; likewise */
    int64_t interval_high;
    size_t need; /* repeats on each side that would tell; 0: none that could be asked for */
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
    bool explained; /* the sites add up to the difference exactly, and so does the tree */
    struct calltree
        tree; /* where explained and not the same: sorted by the metric; else empty */
};

struct diff {
    enum metric metric;
    struct diff_row *rows;
    size_t row_count;
    size_t common_count; /* rows that have both sides */
    int64_t *samples;    /* of all rows */
};

/*
 * Compare @before with @after, sets of runs of their benchmarks in any order. @ret_diff borrows
 * from the runs.
 *
 * Returns 0 or -ENOMEM. End with diff_finish().
 */
int diff_compare_by(const struct run *before, size_t before_count, const struct run *after,
                    size_t after_count, const struct diff_settings *settings,
                    struct diff *ret_diff) _must_check_;

/* The same by peak_added and by function. */
int diff_compare(const struct run *before, size_t before_count, const struct run *after,
                 size_t after_count, bool with_process, struct diff *ret_diff) _must_check_;

/* Are both sides there, and their numbers? */
bool diff_is_common(const struct diff_row *row) _nonnull_;

/* after - before, where diff_is_common(). */
int64_t diff_difference(const struct diff_row *row) _nonnull_;

/* Worse or better, and not by what may be noise? */
bool diff_is_change(const struct diff_row *row) _nonnull_;

/* Are both sides there, with anonymous mappings that added another peak? */
bool diff_mappings_changed(const struct diff_row *row) _nonnull_;

void diff_finish(struct diff *diff) _nonnull_;
