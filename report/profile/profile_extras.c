/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_extras.c: what a region has beside its sums: how large its allocations were, how its
 * heap moved over time, what the allocator gave for it.
 *
 * A killed process leaves points that are true but not in order, and some twice; the record has
 * the start, the peak and the end, which are put among them here. Where threads had lanes the
 * points of the process region were added up while they went on, and may be off by what those
 * did meanwhile: such a point is moved to where it can have been, between nothing and the peak.
 */
#include "profile_derive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int extras_fault(struct derivation *d, uint32_t id, const char *what) {
    return fault_set(d->fault, -EBADMSG, "trace damaged: region %" PRIu32 " has %s", id, what);
}

static int out_of_memory(struct derivation *d) {
    return fault_set(d->fault, -ENOMEM, "out of memory");
}

/* Sizes: in the region's chunk once it has ended, before that what the lanes counted since. */

static uint64_t size_count(const struct trace *trace, const struct trace_sizes *sizes,
                           bool from_lanes, size_t bucket) {
    if (!from_lanes)
        return sizes->counted[bucket];
    uint64_t count = 0 - sizes->start[bucket];
    for (size_t i = 0; i < TRACE_LANES_MAX; i++)
        if (trace->lanes[i])
            count += trace->lanes[i]->size_counts[bucket];
    return count;
}

static int sizes_derive(struct derivation *d, uint32_t id, struct profile_region *region) {
    const struct trace_sizes *sizes = d->trace->sizes[id];
    bool from_lanes = region->open && region->thread == 0;
    /* Of a file that is cut off, not all lanes may be here. */
    if (!sizes || (from_lanes && d->trace->truncated))
        return 0;
    int64_t *counts = arena_array(&d->profile->arena, TRACE_SIZE_BUCKETS, sizeof(*counts));
    if (!counts)
        return out_of_memory(d);
    uint64_t sum = 0;
    for (size_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++) {
        uint64_t count = size_count(d->trace, sizes, from_lanes, bucket);
        if (count > INT64_MAX)
            return extras_fault(d, id, "fewer allocations of a size than before it began");
        counts[bucket] = (int64_t)count;
        sum += count;
    }
    /* Each allocation has a size; an event that was caught in between may not have counted it. */
    if (trace_events_in_flight(d->trace) == 0 && !d->trace->truncated &&
        sum != (uint64_t)region->totals[TRACE_HEAP].allocated.blocks)
        return extras_fault(d, id, "another number of sizes than of allocations");
    region->sizes = counts;
    return 0;
}

/* Timeline */

static int compare_points(const void *a, const void *b) {
    const struct profile_point *left = a;
    const struct profile_point *right = b;
    if (left->elapsed_ns != right->elapsed_ns)
        return left->elapsed_ns < right->elapsed_ns ? -1 : 1;
    return (left->live_bytes > right->live_bytes) - (left->live_bytes < right->live_bytes);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static int64_t end_ns(const struct derivation *d, const struct profile_region *region) {
    int64_t end = region->open ? d->profile->elapsed_ns : region->end_elapsed_ns;
    return end > region->begin_elapsed_ns ? end : region->begin_elapsed_ns;
}

/* Times are of two clocks, one of them coarse: a point may seem to lie outside its region. */
static int point_take(struct derivation *d, uint32_t id, const struct profile_region *region,
                      const struct trace_point *from, struct profile_point *ret) {
    int64_t peak = region->totals[TRACE_HEAP].peak_bytes;
    int64_t least = region->thread != 0 ? INT64_MIN : 0;
    bool exact = id != 0 || !trace_has_lanes(d->trace);
    if (from->elapsed_ns > INT64_MAX)
        return extras_fault(d, id, "a point in time that cannot be");
    if (exact && (from->live_bytes > peak || from->live_bytes < least))
        return extras_fault(d, id, "a point in time with impossible bytes");
    ret->elapsed_ns =
        clamp((int64_t)from->elapsed_ns, region->begin_elapsed_ns, end_ns(d, region));
    ret->live_bytes = clamp(from->live_bytes, least, peak);
    return 0;
}

static size_t points_sort(struct profile_point *points, size_t count) {
    size_t kept = 0;
    qsort(points, count, sizeof(*points), compare_points);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_points(&points[kept - 1], &points[i]) != 0)
            points[kept++] = points[i];
    return kept;
}

/* Put @point where its time belongs: before its equals when @first, else behind them. */
static size_t points_insert(struct profile_point *points, size_t count,
                            struct profile_point point, bool first) {
    size_t at = 0;
    while (at < count && (points[at].elapsed_ns < point.elapsed_ns ||
                          (!first && points[at].elapsed_ns == point.elapsed_ns)))
        at++;
    memmove(&points[at + 1], &points[at], (count - at) * sizeof(*points));
    points[at] = point;
    return count + 1;
}

static int points_derive(struct derivation *d, uint32_t id, struct profile_region *region) {
    const struct trace_timeline *timeline = d->trace->timelines[id];
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    if (timeline && timeline->count > 0 && timeline->interval == 0)
        return extras_fault(d, id, "points in time after no event");
    if (!timeline || heap->peak_bytes < 0 || region->begin_elapsed_ns < 0)
        return 0;
    struct profile_point *points =
        arena_array(&d->profile->arena, timeline->count + 3, sizeof(*points));
    if (!points)
        return out_of_memory(d);
    for (uint32_t i = 0; i < timeline->count; i++) {
        /* Only a kill leaves points half-way to where they go. */
        if (i > 0 && trace_has_ended(d->trace) &&
            timeline->points[i].elapsed_ns < timeline->points[i - 1].elapsed_ns)
            return extras_fault(d, id, "points in time that are not in order");
        int r = point_take(d, id, region, &timeline->points[i], &points[i]);
        if (r < 0)
            return r;
    }
    size_t count = points_sort(points, timeline->count);
    const struct profile_point start = {region->begin_elapsed_ns, heap->start.bytes};
    const struct profile_point peak = {region->peak_elapsed_ns, heap->peak_bytes};
    const struct profile_point end = {end_ns(d, region), heap->end.bytes};
    count = points_insert(points, count, peak, true);
    count = points_insert(points, count, start, true);
    count = points_insert(points, count, end, false);
    region->points = points;
    region->points_count = count;
    return 0;
}

/* Of equal peaks the first counts: one that is not above the start was there from the start. */
static void peak_time_derive(const struct derivation *d, uint32_t id,
                             struct profile_region *region) {
    const struct trace_totals *heap = &d->trace->regions[id].space[TRACE_HEAP];
    int64_t known = heap->peak_elapsed_ns != 0 && heap->peak_elapsed_ns <= INT64_MAX
                        ? (int64_t)heap->peak_elapsed_ns
                        : INT64_MAX;
    if (region->totals[TRACE_HEAP].peak_bytes == region->totals[TRACE_HEAP].start.bytes)
        known = region->begin_elapsed_ns;
    region->peak_elapsed_ns = clamp(known, region->begin_elapsed_ns, end_ns(d, region));
}

/* A process that died inside an event may have one side of it only. */
static bool usable_holds(const struct profile_region *region) {
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    return region->usable_start_bytes >= heap->start.bytes &&
           region->usable_peak_bytes >= heap->peak_bytes &&
           region->usable_end_bytes >= heap->end.bytes;
}

static int usable_derive(struct derivation *d, uint32_t id, struct profile_region *region) {
    const struct trace_region *from = &d->trace->regions[id];
    region->usable_is_known = (d->trace->header->flags & TRACE_USABLE) != 0;
    if (!region->usable_is_known)
        return from->usable_start_bytes == 0 && from->usable_live_bytes == 0 &&
                       from->usable_at_peak_bytes == 0
                   ? 0
                   : extras_fault(d, id, "usable bytes that nobody asked for");
    region->usable_start_bytes = from->usable_start_bytes;
    region->usable_peak_bytes = from->usable_at_peak_bytes;
    region->usable_end_bytes = from->usable_live_bytes;
    bool may_lag = d->profile->cut || d->profile->truncated;
    if (may_lag && region->thread == 0 && !usable_holds(region))
        region->usable_is_known = false;
    return 0;
}

int profile_extras_derive(struct derivation *d, uint32_t id, struct profile_region *region) {
    peak_time_derive(d, id, region);
    int r = usable_derive(d, id, region);
    if (r == 0)
        r = sizes_derive(d, id, region);
    return r < 0 ? r : points_derive(d, id, region);
}
