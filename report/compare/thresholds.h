/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thresholds.h: the file in a user's repository that says how much a benchmark may grow.
 *
 *   # what            benchmark        metric      limits
 *   limit             *                peak_added  ratio 1.02 added 64KiB
 *   limit             "parse(n=1, *)"  time        ratio 1.2 added 5ms
 *   limit             scratch.*        peak_added  off
 *   drift             *                peak_added  ratio 1.10 added 256KiB
 *   allow             import           peak_added  added 2MiB until 2027-03-31 because "a cache"
 *
 * A line is words; a word with blanks stands between double quotes, where \" and \\ are a quote
 * and a backslash. # begins a comment. A benchmark is a pattern, in which * is any text and ?
 * any character: of its name, of its name and parameters "name(key=value, ...)", of
 * "name:region", or of "name:region(key=value, ...)".
 *
 * limit is what NEW may be beyond BASE, drift what it may be beyond the pinned baseline (where
 * there is no such line, limit is). What grew by more than `added` and beyond `ratio` fails;
 * one that is left out lets nothing pass by itself (ratio 1, added 0). `off`: not judged. The
 * last line that matches counts. allow lets a growth of so much pass until the end of a day,
 * UTC; any that matches counts.
 *
 * Pure: it prints nothing, and knows what day it is from who asks.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "fault.h"
#include "metric.h"
#include "run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THRESHOLDS_FILE_MAX  (1024 * 1024)
#define THRESHOLDS_LINE_MAX  4096
#define THRESHOLDS_RULES_MAX 10000
#define THRESHOLDS_DAY_BYTES 11 /* "2027-03-31" */

enum thresholds_kind { THRESHOLDS_LIMIT, THRESHOLDS_DRIFT, THRESHOLDS_ALLOW };

struct thresholds_rule {
    enum thresholds_kind kind;
    const char *pattern;
    enum metric metric;
    bool off;
    double max_ratio;  /* at least 1 */
    int64_t max_added; /* in the metric's unit; of an allow line: what may be added */
    char until[THRESHOLDS_DAY_BYTES];
    const char *reason;
    uint64_t lineno;
};

struct thresholds {
    struct arena arena;
    struct thresholds_rule *rules; /* in the order of the file */
    size_t count;
};

/*
 * Understand the @length bytes at @text. Returns 0; -EINVAL, -E2BIG or -ENOMEM, then @fault and
 * @ret_lineno (0: of no line). End with thresholds_finish().
 */
int thresholds_parse(const char *text, size_t length, struct thresholds *ret_thresholds,
                     uint64_t *ret_lineno, struct fault *fault) _must_check_ _nonnull_;

/* The same for a file; a negative errno of reading it, too. */
int thresholds_read(const char *path, struct thresholds *ret_thresholds, uint64_t *ret_lineno,
                    struct fault *fault) _must_check_ _nonnull_;

/* The last rule of @kind for @metric of a region of @run; NULL when there is none. */
const struct thresholds_rule *thresholds_find(const struct thresholds *thresholds,
                                              enum thresholds_kind kind, enum metric metric,
                                              const struct run *run,
                                              const char *region) _nonnull_;

/*
 * A rule that allows a growth of @added on @today ("2026-11-30"); where there is none the last
 * one that did until it ended; NULL when there is none either. thresholds_is_over() tells.
 */
const struct thresholds_rule *thresholds_find_allowance(const struct thresholds *thresholds,
                                                        enum metric metric,
                                                        const struct run *run,
                                                        const char *region, int64_t added,
                                                        const char *today) _nonnull_;

/* Was its last day before @today? */
bool thresholds_is_over(const struct thresholds_rule *rule, const char *today) _nonnull_;

/* Is @metric judged by any rule? */
bool thresholds_have(const struct thresholds *thresholds, enum metric metric) _nonnull_;

void thresholds_finish(struct thresholds *thresholds) _nonnull_;
