/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeline.h: live heap over time, in a place of fixed size, whatever the length of the run.
 *
 *     points at events 1, 1 + interval, 1 + 2 * interval ...
 *
 * The interval begins at 1. A timeline that is full gives up every second point and doubles it.
 * Whoever owns the timeline counts the events and reads the clock, when a point is due only.
 * No lock: the recorder's guards it.
 */
#pragma once

#include "trace_layout.h"

#include <stdint.h>

/* No points yet. The first is due after the first event. */
void timeline_init(struct trace_timeline *timeline);

/* Add a point, which is not earlier than the last. Returns the events until the next is due. */
uint64_t timeline_add(struct trace_timeline *timeline, struct trace_point point);
