/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metric.h: the numbers of a region that can be compared, what they are called, and which of
 * them come out the same each time.
 */
#pragma once

#include "attributes.h"
#include "calltree.h"
#include "run.h"

#include <stdbool.h>
#include <stdint.h>

enum metric {
    METRIC_PEAK_ADDED,
    METRIC_LIVE_END,
    METRIC_TOTAL,
    METRIC_COUNT,
    METRIC_PEAK_MAP,
    METRIC_COMBINED,
    METRIC_RSS,
    METRIC_TIME,
    METRICS,
};

enum metric_unit { METRIC_BYTES, METRIC_BLOCKS, METRIC_NS };

struct metric_facts {
    const char *name;  /* on command lines, in files */
    const char *words; /* for people: "heap added at the peak" */
    enum metric_unit unit;
    bool varies;               /* by nature: repeats are needed to say anything */
    bool of_process;           /* one number for the whole process, whatever was marked */
    bool has_tree;             /* its sites add up to it */
    enum trace_space space;    /* of the tree */
    enum calltree_metric tree; /* likewise */
};

extern const struct metric_facts metric_facts[METRICS];

/* The metric called @name; -EINVAL when there is none. */
int metric_parse(const char *name, enum metric *ret_metric) _must_check_ _nonnull_;

/* "peak_added, live_end, ...", for messages. Constant. */
const char *metric_names(void);

/* The number of @region of @run. False when it is not known. */
bool metric_value(enum metric metric, const struct run *run,
                  const struct profile_region *region, int64_t *ret_value) _nonnull_;
