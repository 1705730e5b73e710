/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.h: do differences break the limits?
 *
 * A benchmark regresses when it grew beyond the factor AND beyond the floor: the factor alone
 * would fail on 10 bytes that became 20, the floor alone on 1 MiB more of 10 GiB. The heap is
 * judged, and by the same limits the heap and the anonymous mappings together; a file
 * (thresholds.h) may set other limits, for other metrics, too. What is new is compared with
 * what was before it and, where there is one, with a pinned baseline, so that many small steps
 * are not a way around. Pure: no SQL, no printing.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "diff.h"
#include "thresholds.h"
#include "vector.h"

#define GATE_MAX_RATIO       1.05
#define GATE_MAX_ADDED_BYTES (INT64_C(64) * 1024)

enum gate_verdict {
    GATE_PASS,
    GATE_REGRESSION,
    GATE_UNANSWERED, /* not comparable: incomplete, unlike, or only on one side */
};

struct gate_limits {
    double max_ratio; /* at least 1 */
    int64_t max_added_bytes;
    bool allow_incomplete; /* compare runs that missed something, were killed, or failed */
    bool allow_missing;    /* benchmarks that are only in the base do not matter */
    bool allow_unlike;     /* compare runs of other machines, libraries, allocators */
    const struct thresholds *thresholds; /* NULL: none */
    char today[THRESHOLDS_DAY_BYTES];    /* for allowances; UTC */
};

/* Two sets of runs, in one metric. */
struct gate_comparison {
    struct diff diff;
    bool with_baseline; /* before is the pinned baseline, not what was just before */
};

struct gate_finding {
    enum gate_verdict verdict;
    const struct diff_row *row;
    enum metric metric;
    bool with_baseline;
    const char *reason;      /* NULL when it needs none; in the gate's arena, or constant */
    const struct run *unfit; /* whose unfitness the reason is, or NULL */
    double max_ratio;        /* the limits that were applied */
    int64_t max_added;
};

struct gate {
    enum gate_verdict verdict; /* a regression wins over what could not be answered */
    struct gate_finding
        *findings; /* of each row that is judged, in the order of the comparisons */
    size_t finding_count;
    size_t counts[3]; /* findings of each verdict */
    bool has_common;  /* BASE and NEW have a benchmark in common */
    struct arena arena;
};

/* Is @metric judged at all, of some benchmark? */
bool gate_wants(const struct gate_limits *limits, enum metric metric) _nonnull_;

/*
 * Judge every row of @comparisons. The first must be of METRIC_PEAK_ADDED with BASE. @ret_gate
 * borrows from them and from @limits' thresholds. Returns 0 or -ENOMEM. End with gate_finish().
 */
int gate_judge(const struct gate_comparison *comparisons, size_t count,
               const struct gate_limits *limits, struct gate *ret_gate) _must_check_ _nonnull_;

/* Is it one of the rows that every report lists: peak_added, BASE against NEW? */
bool gate_is_headline(const struct gate_finding *finding) _nonnull_;

void gate_finish(struct gate *gate) _nonnull_;
