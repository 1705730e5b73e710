/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_own.h: what the files of lanes.h share, and nobody else. All is under the lock.
 */
#pragma once

#include "lanes.h"
#include "recorder_state.h"

#define LANES_WAIT_EVENTS  32u /* to be booked under the lock before lanes open, to begin with */
#define LANES_PATIENCE_MAX 64  /* pauses that owners have to come by: some two microseconds */

/* This thread's lane, or NULL. */
static inline struct lane *lanes_own(void) {
    struct lane *lane = recorder_thread.lane;
    if (lane == NULL ||
        atomic_load_explicit(&lane->owner, memory_order_relaxed) != recorder_thread.lease)
        return NULL;
    return lane;
}

/* Events until lanes_tick(), from now on. */
static inline void lane_give(struct lane *lane, int64_t events) {
    lane->given_events = events;
    lane->left_events = events;
}

/* Events since the last look are among the owner's from now on. Returns how many. */
static inline int64_t lane_take_events(struct lane *lane) {
    int64_t events = lane->given_events - lane->left_events;
    lane->recent_events += events;
    lane->given_events = lane->left_events;
    return events;
}

/* Of a lane, ever. */
static inline uint64_t lane_allocations(const struct trace_lane *record) {
    uint64_t allocations = 0;
    for (unsigned i = 0; i < TRACE_SIZE_BUCKETS; i++)
        allocations += record->size_counts[i];
    return allocations;
}

/* The owner has @bytes more. */
static inline void lane_hold(struct lane *lane, int64_t bytes) {
    lane->held_bytes += bytes;
    if (lane->held_bytes > lane->high_bytes)
        lane->high_bytes = lane->held_bytes;
}
