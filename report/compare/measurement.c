/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measurement.c: every region name of every run once, then sorted so that repeats stand
 * together.
 */
#include "measurement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marked regions where there are any: "process" would be in every number of theirs, too. */
static bool region_is_compared(const struct profile *profile, size_t place, enum metric metric,
                               bool with_process) {
    if (metric_facts[metric].of_process)
        return place == 0;
    return place > 0 || with_process || profile->region_count == 1;
}

static int64_t value_of(enum metric metric, const struct run *run,
                        const struct profile_region *region) {
    int64_t value = 0;
    (void)metric_value(metric, run, region, &value); /* those asked for here always are */
    return value;
}

static void instance_take(struct measurement *m, enum metric metric, const struct run *run,
                          const struct profile_region *region) {
    int64_t map_anon = value_of(METRIC_PEAK_MAP, run, region);
    int64_t combined = value_of(METRIC_COMBINED, run, region);
    bool is_first = m->instance_count++ == 0;
    if (is_first || map_anon > m->map_anon)
        m->map_anon = map_anon;
    if (is_first || combined > m->combined)
        m->combined = combined;
    int64_t value = 0;
    bool known = metric_value(metric, run, region, &value);
    bool all_known = is_first ? known : m->known && known;
    m->known = all_known; /* the worst of some is not the worst */
    if (!is_first && value <= m->value)
        return;
    m->run = run;
    m->region = region;
    m->value = value;
}

static int run_add(const struct run *run, enum metric metric, bool with_process,
                   struct vector *list) {
    const struct profile *profile = &run->profile;
    size_t own = list->count;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        if (!region_is_compared(profile, i, metric, with_process))
            continue;
        struct measurement *known = list->items;
        size_t at = own;
        while (at < list->count && strcmp(known[at].region->name, region->name) != 0)
            at++;
        struct measurement *m = at < list->count ? &known[at] : vector_add(list);
        if (!m)
            return -ENOMEM;
        instance_take(m, metric, run, region);
    }
    struct measurement *added = list->items;
    for (size_t i = own; i < list->count; i++)
        added[i].only_region = list->count - own == 1;
    return 0;
}

int measurement_compare_row(const struct measurement *a, const struct measurement *b) {
    int order = run_compare_benchmark(a->run, b->run);
    return order != 0 ? order : strcmp(a->region->name, b->region->name);
}

static int compare_measurements(const void *a, const void *b) {
    const struct measurement *left = a;
    const struct measurement *right = b;
    int order = measurement_compare_row(left, right);
    if (order == 0)
        order = left->known - right->known;
    if (order != 0)
        return order;
    if (left->value != right->value)
        return left->value < right->value ? -1 : 1;
    return left->run->id < right->run->id ? -1 : left->run->id > right->run->id;
}

int measurements_list(const struct run *runs, size_t count, enum metric metric,
                      bool with_process, struct vector *list) {
    for (size_t i = 0; i < count; i++) {
        int r = run_add(&runs[i], metric, with_process, list);
        if (r < 0)
            return r;
    }
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(struct measurement), compare_measurements);
    return 0;
}
