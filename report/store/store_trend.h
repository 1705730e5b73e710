/* SPDX-License-Identifier: BSD-3-Clause */
/* store_trend.h: one number of one region in all runs of a benchmark: totals only, no sites. */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "store.h"

/* What is asked for, as a column would say it; see trend.h for the words. */
enum store_trend_value {
    STORE_TREND_PEAK_ADDED,
    STORE_TREND_LIVE_END,
    STORE_TREND_TOTAL,
    STORE_TREND_COUNT,
    STORE_TREND_PEAK_MAP,
    STORE_TREND_COMBINED,
    STORE_TREND_RSS,
    STORE_TREND_TIME,
};

struct store_trend_point {
    int64_t run_id;
    int64_t benchmark_id; /* the same for the same parameters */
    const struct run_param
        *params; /* param_count, by key; the same array for one benchmark_id */
    size_t param_count;
    const char *commit; /* "" when not known */
    int64_t commit_ns;  /* since 1970; 0 when not known */
    int64_t start_ns;   /* of the run, since 1970 */
    bool dirty;         /* files differed from the commit */
    bool unfit;         /* not a whole, successful run, see run_is_unfit() */
    bool known;         /* value is */
    int64_t value;      /* of the worst instance of the region */
};

/*
 * The region that most of the newest run of the benchmark @name is about, in @arena. 0;
 * -ENODATA when there is no such benchmark; other negative errno. On failure @fault.
 */
int store_trend_region(struct store *store, const char *name, struct arena *arena,
                       const char **ret_region, struct fault *fault) _must_check_ _nonnull_;

/*
 * @value of the region @region in the runs of the benchmark @name, of the branch @branch only
 * unless that is NULL; in @arena, by benchmark_id, then by run_id. Returns as above; no points
 * when no run has the region.
 */
int store_trend(struct store *store, const char *name, const char *region, const char *branch,
                enum store_trend_value value, struct arena *arena,
                struct store_trend_point **ret_points, size_t *ret_count,
                struct fault *fault) _must_check_;
