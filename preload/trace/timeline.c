/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.c: points, and how every second one is given up.
 *
 * A point is stored by one instruction, and before it counts; so a process that is killed
 * between any two stores leaves points that are all true. Of a timeline that was being thinned
 * out some are there twice, or later than the one behind them.
 */
#include "timeline.h"

#define HALF (TRACE_TIMELINE_POINTS / 2)

/* Between two stores whose order matters. Tests look in here. */
#ifndef TIMELINE_STORED
#define TIMELINE_STORED() __asm__ volatile("" ::: "memory")
#endif

typedef uint64_t timeline_pair __attribute__((vector_size(16), may_alias, aligned(8)));

static inline void store(struct trace_point *to, const struct trace_point *from) {
    *(timeline_pair *)(void *)to = *(const timeline_pair *)(const void *)from;
    TIMELINE_STORED();
}

/* The first stays, and so would the one that is about to be added. */
static void thin_out(struct trace_timeline *timeline) {
    for (uint32_t i = 1; i < HALF; i++)
        store(&timeline->points[i], &timeline->points[2 * i]);
    timeline->count = HALF;
    TIMELINE_STORED();
    timeline->interval *= 2;
    TIMELINE_STORED();
}

void timeline_init(struct trace_timeline *timeline) {
    timeline->count = 0;
    TIMELINE_STORED();
    timeline->interval = 1;
    TIMELINE_STORED();
}

uint64_t timeline_add(struct trace_timeline *timeline, struct trace_point point) {
    if (timeline->count == TRACE_TIMELINE_POINTS)
        thin_out(timeline);
    store(&timeline->points[timeline->count], &point);
    timeline->count++;
    TIMELINE_STORED();
    return timeline->interval;
}
