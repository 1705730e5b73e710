/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.h: does a difference break the limits?
 *
 * A benchmark regresses when it grew beyond the factor AND beyond the floor: the factor alone
 * would fail on 10 bytes that became 20, the floor alone on 1 MiB more of 10 GiB. The heap is
 * judged, and by the same limits the heap and the anonymous mappings together. Pure: no SQL, no
 * printing.
 */
#pragma once

#include "attributes.h"
#include "diff.h"

#define GATE_MAX_RATIO       1.05
#define GATE_MAX_ADDED_BYTES (INT64_C(64) * 1024)

enum gate_verdict {
    GATE_PASS,
    GATE_REGRESSION,
    GATE_UNANSWERED, /* not comparable: incomplete, or only on one side */
};

struct gate_limits {
    double max_ratio; /* at least 1 */
    int64_t max_added_bytes;
    bool allow_incomplete; /* compare runs that missed something, were killed, or failed */
    bool allow_missing;    /* benchmarks that are only in the base do not matter */
};

struct gate_finding {
    enum gate_verdict verdict;
    const char *reason;      /* constant text; NULL when it needs none */
    const struct run *unfit; /* whose unfitness the reason is, or NULL */
    bool by_combined;        /* the heap alone passes: it and the anonymous mappings do not */
};

/*
 * Judge every row of @diff; @ret_findings has room for diff->row_count. Returns the verdict on
 * all: a regression wins over what could not be answered, and no common benchmark is no answer.
 */
enum gate_verdict gate_judge(const struct diff *diff, const struct gate_limits *limits,
                             struct gate_finding *ret_findings) _nonnull_;
