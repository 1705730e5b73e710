/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h: what was measured in the formats of other programs, one table of them.
 *
 * A format has one of three shapes: the stacks of one region of one run, the same of two runs
 * side by side, or a table over many runs. Whatever it is, the numbers of a stack format add up
 * to the region's own exactly. Names from files are made fit for the format they go into.
 * Nothing here prints words for people or knows SQL.
 */
#pragma once

#include "attributes.h"
#include "calltree.h"
#include "diff.h"
#include "fault.h"
#include "run.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum export_metric {
    EXPORT_PEAK_ADDED, /* bytes at the peak - at the start */
    EXPORT_LIVE_PEAK,  /* bytes at the peak */
    EXPORT_LIVE_END,   /* bytes at the end */
    EXPORT_NET,        /* bytes at the end - at the start */
    EXPORT_TOTAL,      /* bytes allocated */
    EXPORT_COUNT,      /* blocks allocated */
    EXPORT_METRICS,
};

struct export_metric_text {
    const char *name; /* "peak_added", as typed and as written */
    const char *unit; /* "bytes" or "allocations" */
};

/* One region instance of one run; both borrowed. */
struct export_source {
    const struct run *run; /* NULL: there is no such side */
    const struct profile_region *region;
};

/* What is to be written; all of it is borrowed. */
struct export_request {
    enum export_metric metric;
    enum trace_space space;
    enum calltree_by by;
    struct export_source before; /* pairs only */
    struct export_source after;  /* stacks and pairs */
    const struct diff *diff;     /* tables: one side of it, the rows' `before`; not empty */
    const struct run *runs;      /* tables: run_count */
    size_t run_count;
    const char *commit; /* asv: instead of the runs' own; NULL: theirs */
};

enum export_shape {
    EXPORT_STACKS, /* of `after` */
    EXPORT_PAIR,   /* of `before` and `after` */
    EXPORT_TABLE,  /* of `diff`: benchmarks whose runs can be trusted */
    EXPORT_RUNS,   /* of `runs`: each says how far it can be trusted */
};

/* What becomes of a stack whose number is below zero: at the peak less was live than before. */
enum export_negative {
    EXPORT_TAKES_NEGATIVE,   /* the format has room for it */
    EXPORT_SKIPS_NEGATIVE,   /* it is written; drawing programs pass over it */
    EXPORT_REFUSES_NEGATIVE, /* the format forbids it: -ERANGE when there is any */
};

enum export_metrics {
    EXPORT_ONE_METRIC,  /* the request's */
    EXPORT_ALL_METRICS, /* whatever the request says */
    EXPORT_LIVE_PEAKS,  /* EXPORT_LIVE_PEAK only */
};

struct export_format {
    const char *name;
    const char *summary; /* one line for --help */
    enum export_shape shape;
    enum export_negative negative;
    enum export_metrics metrics;
    bool is_binary; /* not for a terminal */
    bool heap_only; /* other spaces: -ENOTSUP */
    int (*write)(FILE *stream, const struct export_request *request, struct fault *fault);
};

/* Ends with one whose name is NULL. */
extern const struct export_format export_formats[];

/* NULL when there is none of that name. */
const struct export_format *export_format_find(const char *name) _nonnull_;

const struct export_metric_text *export_metric_text(enum export_metric metric);

/* -EINVAL when there is none of that name. */
int export_metric_parse(const char *name,
                        enum export_metric *ret_metric) _must_check_ _nonnull_;

/* "heap", "map_anon" ... as in --json; -EINVAL. */
int export_space_parse(const char *name, enum trace_space *ret_space) _must_check_ _nonnull_;
const char *export_space_name(enum trace_space space);

/* "function", "file", "module", "line"; -EINVAL. */
int export_by_parse(const char *name, enum calltree_by *ret_by) _must_check_ _nonnull_;

/*
 * The instance of the region @name that added most at its peak; where @name is NULL, of all
 * marked regions, or "process" when none is marked. NULL when there is no such region.
 */
const struct profile_region *export_region_pick(const struct run *run, const char *name);

/* One number of a region, and of one of its rows; of a hostile store they may wrap. */
int64_t export_region_value(const struct profile_region *region, enum trace_space space,
                            enum export_metric metric) _nonnull_;
int64_t export_row_value(const struct profile_row *row, enum export_metric metric) _nonnull_;

/*
 * Write @request to @stream in @format. Returns 0; -ENODATA when the region has no call sites;
 * -ERANGE, -ENOTSUP as said above; -EINVAL when the format needs what is not there; -EIO,
 * -ENOMEM. On failure @fault.
 *
 * @ret_skipped is the number of stacks that are written, but that drawing programs pass over.
 */
int export_write(const struct export_format *format, const struct export_request *request,
                 FILE *stream, size_t *ret_skipped, struct fault *fault) _must_check_ _nonnull_;
