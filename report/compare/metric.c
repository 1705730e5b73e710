/* SPDX-License-Identifier: BSD-3-Clause */
/* metric.c: the table of metrics, and where each finds its number. */
#include "metric.h"

#include <errno.h>
#include <string.h>

// clang-format off
const struct metric_facts metric_facts[METRICS] = {
    [METRIC_PEAK_ADDED] = {"peak_added", "heap added at the peak", METRIC_BYTES,
        .has_tree = true, .space = TRACE_HEAP, .tree = CALLTREE_PEAK_ADDED},
    [METRIC_LIVE_END] = {"live_end", "heap live at the end", METRIC_BYTES,
        .has_tree = true, .space = TRACE_HEAP, .tree = CALLTREE_LIVE_END},
    [METRIC_TOTAL] = {"total", "bytes allocated in all", METRIC_BYTES,
        .has_tree = true, .space = TRACE_HEAP, .tree = CALLTREE_TOTAL},
    [METRIC_COUNT] = {"count", "allocations", METRIC_BLOCKS,
        .has_tree = true, .space = TRACE_HEAP, .tree = CALLTREE_COUNT},
    [METRIC_PEAK_MAP] = {"peak_map", "anonymous mappings added at their peak", METRIC_BYTES,
        .has_tree = true, .space = TRACE_MAP_ANON, .tree = CALLTREE_PEAK_ADDED},
    [METRIC_COMBINED] = {"combined", "heap and anonymous mappings together", METRIC_BYTES,
        .varies = false},
    [METRIC_RSS] = {"rss", "largest resident size of the process", METRIC_BYTES,
        .varies = true, .of_process = true},
    [METRIC_TIME] = {"time", "wall time", METRIC_NS, .varies = true},
};
// clang-format on

int metric_parse(const char *name, enum metric *ret_metric) {
    for (size_t i = 0; i < METRICS; i++) {
        if (strcmp(name, metric_facts[i].name) == 0) {
            *ret_metric = (enum metric)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *metric_names(void) {
    return "peak_added, live_end, total, count, peak_map, combined, rss or time";
}

static int64_t combined_added(const struct profile_region *region) {
    return (int64_t)((uint64_t)region->combined_peak_bytes -
                     (uint64_t)region->combined_start_bytes);
}

/* A region that never ended lasted until the end of the run, as far as that was seen. */
static int64_t wall_time(const struct run *run, const struct profile_region *region) {
    int64_t end = region->open ? run->profile.elapsed_ns : region->end_elapsed_ns;
    return end - region->begin_elapsed_ns;
}

bool metric_value(enum metric metric, const struct run *run,
                  const struct profile_region *region, int64_t *ret_value) {
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    const struct profile_totals *anon = &region->totals[TRACE_MAP_ANON];
    const int64_t values[METRICS] = {
        [METRIC_PEAK_ADDED] = profile_peak_added(heap),
        [METRIC_LIVE_END] = heap->end.bytes,
        [METRIC_TOTAL] = heap->allocated.bytes,
        [METRIC_COUNT] = heap->allocated.blocks,
        [METRIC_PEAK_MAP] = profile_peak_added(anon),
        [METRIC_COMBINED] = combined_added(region),
        [METRIC_RSS] = run->max_rss_bytes,
        [METRIC_TIME] = wall_time(run, region),
    };
    bool counted = metric == METRIC_TOTAL || metric == METRIC_COUNT;
    if (counted && !profile_counts_are_known(region))
        return false;
    if (metric == METRIC_RSS && run->max_rss_bytes <= 0)
        return false;
    *ret_value = values[metric];
    return true;
}
