/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measurement.h: what each run of a set says about each of its regions, as one number; for
 * diff.c alone.
 */
#pragma once

#include "attributes.h"
#include "metric.h"
#include "run.h"
#include "vector.h"

/* One run's answer for one region name; of several instances the worst. */
struct measurement {
    const struct run *run;
    const struct profile_region *region; /* the instance that counts */
    size_t instance_count;
    bool known;       /* value is */
    int64_t value;    /* of the metric */
    int64_t map_anon; /* of whatever instance added most of it, likewise combined */
    int64_t combined;
    bool only_region; /* the run has no other that is compared */
};

/*
 * Add the measurements of @runs to @list, of struct measurement, sorted by
 * measurement_compare_row(), then unknown ones, then by value. 0 or -ENOMEM.
 */
int measurements_list(const struct run *runs, size_t count, enum metric metric,
                      bool with_process, struct vector *list) _must_check_;

/* Order by what belongs to one row: benchmark and region. 0: the same row. */
int measurement_compare_row(const struct measurement *a, const struct measurement *b) _nonnull_;
