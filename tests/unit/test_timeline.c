/* SPDX-License-Identifier: BSD-3-Clause */
/* Timelines of any length, and one that is cut after each of its stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void stored(void);
#define TIMELINE_STORED() stored()
#include "timeline.c" /* NOLINT(bugprone-suspicious-include): with TIMELINE_STORED() of its own */

#include <string.h>

static struct trace_timeline timeline;
static struct trace_timeline cut; /* as it was after `stores_left` stores */
static unsigned stores, stores_left;

static void stored(void) {
    stores++;
    if (stores_left > 0 && --stores_left == 0)
        cut = timeline;
}

/* What is live after event @event, and when that is. */
static struct trace_point point_of(uint64_t event) {
    return (struct trace_point){.elapsed_ns = 10 * event,
                                .live_bytes = (int64_t)(event * 7919 % 4093) - 2000};
}

static uint64_t left; /* events until the next point */

static void begin(void) {
    memset(&timeline, 0xa5, sizeof(timeline));
    timeline_init(&timeline);
    stores = stores_left = 0;
    left = 1;
}

static void count_event(uint64_t event) {
    if (--left == 0)
        left = timeline_add(&timeline, point_of(event));
}

/* The smallest power of two that lets all points of @events events have a place. */
static uint64_t interval_of(uint64_t events) {
    uint64_t interval = 1;
    while ((events - 1) / interval + 1 > TRACE_TIMELINE_POINTS)
        interval *= 2;
    return interval;
}

static void check_whole(uint64_t events) {
    uint64_t interval = interval_of(events);
    assert_int_equal(timeline.interval, interval);
    assert_int_equal(timeline.count, (events - 1) / interval + 1);
    for (uint64_t i = 0; i < timeline.count; i++) {
        struct trace_point wanted = point_of(1 + i * interval);
        assert_memory_equal(&timeline.points[i], &wanted, sizeof(wanted));
    }
}

static void test_a_new_timeline_is_empty(void **state) {
    begin();
    assert_int_equal(timeline.count, 0);
    assert_int_equal(timeline.interval, 1);
}

static void test_points_are_evenly_spaced_after_any_number_of_events(void **state) {
    begin();
    for (uint64_t event = 1; event <= 20000; event++) {
        count_event(event);
        if (event < 3000 || event % 512 < 2)
            check_whole(event);
    }
}

static void test_ten_million_events_leave_the_first_and_the_last_point(void **state) {
    begin();
    for (uint64_t event = 1; event <= 10000000; event++) {
        count_event(event);
        assert_in_range(timeline.count, 1, TRACE_TIMELINE_POINTS);
        if (left == timeline.interval)
            assert_int_equal(timeline.points[timeline.count - 1].elapsed_ns, 10 * event);
        if ((event & (event - 1)) == 0 || event % 999983 == 0)
            check_whole(event);
    }
    check_whole(10000000);
}

/* Every point was stored once; times are given in order. */
static void check_true(const struct trace_timeline *seen, uint64_t most_events) {
    assert_in_range(seen->count, 0, TRACE_TIMELINE_POINTS);
    assert_true(seen->interval == 1 || seen->interval == 2);
    for (uint32_t i = 0; i < seen->count; i++) {
        uint64_t event = seen->points[i].elapsed_ns / 10;
        struct trace_point wanted = point_of(event);
        assert_in_range(event, 1, most_events);
        assert_memory_equal(&seen->points[i], &wanted, sizeof(wanted));
    }
    if (seen->count > 0)
        assert_int_equal(seen->points[0].elapsed_ns, 10);
}

static void test_a_timeline_cut_after_any_store_holds_true_points_only(void **state) {
    const uint64_t full = TRACE_TIMELINE_POINTS;
    unsigned needed = 0;
    for (unsigned at = 1; needed == 0 || at <= needed; at++) {
        begin();
        for (uint64_t event = 1; event <= full; event++)
            count_event(event);
        stores = 0;
        stores_left = at;
        count_event(full + 1);
        needed = stores;
        check_true(&cut, full + 1);
        assert_true(cut.count >= TRACE_TIMELINE_POINTS / 2);
    }
    /* All that was moved, the count, the interval, the new point and its count. */
    assert_int_equal(needed, TRACE_TIMELINE_POINTS / 2 - 1 + 4);
}

static void test_a_timeline_used_again_begins_from_the_start(void **state) {
    begin();
    for (uint64_t event = 1; event <= 5000; event++)
        count_event(event);
    timeline_init(&timeline);
    left = 1;
    for (uint64_t event = 1; event <= 3; event++)
        count_event(event);
    check_whole(3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_timeline_is_empty),
        cmocka_unit_test(test_points_are_evenly_spaced_after_any_number_of_events),
        cmocka_unit_test(test_ten_million_events_leave_the_first_and_the_last_point),
        cmocka_unit_test(test_a_timeline_cut_after_any_store_holds_true_points_only),
        cmocka_unit_test(test_a_timeline_used_again_begins_from_the_start),
    };
    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
