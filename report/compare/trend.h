/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trend.h: a number over commits, and the commits at which it changed.
 *
 * Runs of one commit are one value, their median. Commits are in the order of their times where
 * all have one, else in the order they were first measured. Where every commit gave the same
 * number each time, any byte is a step. Where they vary, steps are found by Pettitt's test on
 * all values, the strongest first, and each has to hold against its neighbours by Mann and
 * Whitney's, 1 of 100. Pure: no SQL, no printing.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "metric.h"
#include "store_trend.h"

#define TREND_ALPHA 0.01

struct trend_commit {
    const char *commit; /* "" when not known: then it is one run */
    int64_t run_id;     /* its first run */
    int64_t time_ns;    /* of the commit, else of its first run; since 1970 */
    bool dirty;
    size_t repeats;
    int64_t value; /* the median */
    int64_t least;
    int64_t most;
    bool is_step;         /* the first commit of another level */
    int64_t level_before; /* where it is one: medians of what was measured between the steps */
    int64_t level_after;
};

/* One benchmark with one set of parameters. */
struct trend {
    const struct run_param *params; /* param_count, by key; borrowed from the points */
    size_t param_count;
    bool varies; /* steps are a matter of statistics */
    struct trend_commit *commits;
    size_t count;
    size_t step_count;
    size_t left_out; /* runs that are unfit, or whose number is not known */
};

/* The number that store_trend() is to be asked for. */
enum store_trend_value trend_value(enum metric metric);

/*
 * The series in @points, which are as store_trend() gives them; in @arena. Returns 0 or
 * -ENOMEM.
 */
int trend_make(const struct store_trend_point *points, size_t count, enum metric metric,
               struct arena *arena, struct trend **ret_trends, size_t *ret_count) _must_check_;
