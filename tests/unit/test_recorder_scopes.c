/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of single threads, and the timelines of threads that run with and without the lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "random.h"
#include "recorder.h"
#include "recorder_scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define EVENTS  40000u

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};

static int setup(void **state) {
    recorder_scratch_start(&scratch, "none");
    return 0;
}

static int teardown(void **state) {
    recorder_scratch_finish(&scratch);
    return 0;
}

/* Addresses of a thread: no two share a page of the table. */
static uintptr_t base_of(uint64_t thread) {
    return UINT64_C(0x7f0000000000) + (thread << 33);
}

static void run(void *(*work)(void *), uintptr_t count) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (uintptr_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static struct votrace_region_totals query(const char *name) {
    struct votrace_region_totals totals;
    assert_int_equal(recorder_region_query(name, &totals), 0);
    return totals;
}

/* Regions of threads */

static void *allocate_elsewhere(void *data) {
    recorder_thread_region_end("r"); /* another thread's */
    recorder_allocated(base_of(1), 5000, frame);
    return NULL;
}

static void test_the_events_and_ends_of_other_threads_are_not_its_own(void **state) {
    struct trace_check check;
    recorder_thread_region_begin("r");
    recorder_allocated(base_of(0), 100, frame);
    run(allocate_elsewhere, 1);
    recorder_freed(base_of(1));
    recorder_allocated(base_of(0) + 64, 11, frame);
    struct votrace_region_totals totals = query("r");
    assert_int_equal(totals.open, 1);
    assert_int_equal(totals.live_bytes, 111 - 5000);
    assert_int_equal(totals.live_peak_bytes, 100);
    assert_int_equal(totals.owned_peak_bytes, 111);
    assert_int_equal(totals.allocations, 2);
    recorder_thread_region_end("r");
    recorder_scratch_exit(&scratch, &check);
    assert_int_equal(check.header->completeness.unbalanced_ends, 1);
    assert_int_equal(check.regions[1]->flags, TRACE_REGION_THREAD);
    assert_int_equal(check.regions[1]->begin_thread, check.regions[1]->end_thread);
    trace_scratch_check_finish(&check);
}

static void *begin_only(void *data) {
    static uint64_t begun;
    recorder_thread_region_begin("r");
    recorder_allocated(base_of(begun++), 10, frame);
    return NULL;
}

/* Its number is not used again, though its place in memory is. */
static void test_a_region_of_a_thread_that_ended_is_no_other_threads(void **state) {
    struct trace_check check;
    run(begin_only, 1);
    run(begin_only, 1); /* after the other has ended */
    recorder_freed(base_of(0));
    recorder_scratch_exit(&scratch, &check);
    for (uint32_t id = 1; id <= 2; id++) {
        assert_int_equal(check.regions[id]->open, 1);
        assert_int_equal(check.regions[id]->space[TRACE_HEAP].live.bytes, 10);
    }
    trace_scratch_check_finish(&check);
}

/* Notes of a handler are booked by whoever comes next, as what they are: this thread's. */
static void
test_what_interrupts_the_recorder_belongs_to_the_thread_it_interrupted(void **state) {
    recorder_thread_region_begin("r");
    recorder_thread.doing |= THREAD_BUSY;
    recorder_allocated(base_of(0), 77, frame);
    recorder_thread_region_begin("no way in");
    run(allocate_elsewhere, 1); /* books it */
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    assert_int_equal(query("r").live_bytes, 77);
    assert_int_equal(recorder_header_for_tests()->completeness.events_lost, 1);
    recorder_thread_region_end("r");
    assert_int_equal(query("r").live_bytes, 77);
}

static void test_markers_of_threads_without_a_name_do_nothing(void **state) {
    errno = 1234;
    recorder_thread_region_begin(NULL);
    recorder_thread_region_end(NULL);
    assert_int_equal(recorder_header_for_tests()->region_count, 1);
    recorder_thread_region_begin("process");
    recorder_thread_region_end("process");
    assert_int_equal(errno, 1234);
    assert_int_equal(recorder_header_for_tests()->completeness.regions_dropped, 1);
    assert_int_equal(recorder_header_for_tests()->completeness.unbalanced_ends, 0);
}

struct tally {
    int64_t live, peak;
    uint64_t allocations, frees;
};

/* Allocate and free at random; what comes of it is exact whatever the others do. */
static void *count_in_a_region(void *data) {
    uintptr_t thread = (uintptr_t)data;
    struct random random = {thread + 1};
    struct tally tally = {0};
    struct votrace_region_totals totals;
    uint64_t bytes[100] = {0};
    char name[2] = {(char)('a' + thread), '\0'};
    for (unsigned round = 0; round < 3; round++) {
        tally = (struct tally){0};
        recorder_thread_region_begin(name);
        for (unsigned i = 0; i < EVENTS / 10; i++) {
            uint64_t block = random_below(&random, 100);
            uintptr_t address = base_of(thread) + (block + 1) * 1024;
            if (bytes[block] != 0) {
                recorder_freed(address);
                tally.live -= (int64_t)bytes[block];
                tally.frees++;
                bytes[block] = 0;
            } else {
                bytes[block] = 1 + random_below(&random, 1000);
                recorder_allocated(address, bytes[block], frame);
                tally.live += (int64_t)bytes[block];
                tally.allocations++;
            }
            tally.peak = tally.live > tally.peak ? tally.live : tally.peak;
        }
        recorder_thread_region_end(name);
        assert_int_equal(recorder_region_query(name, &totals), 0);
        assert_int_equal(totals.instance, round + 1);
        assert_int_equal(totals.net_bytes, tally.live);
        assert_int_equal(totals.peak_added_bytes, tally.peak);
        assert_int_equal(totals.allocations, tally.allocations);
        assert_int_equal(totals.frees, tally.frees);
    }
    return NULL;
}

static void test_regions_of_several_threads_at_once_are_exact(void **state) {
    struct trace_check check;
    recorder_region_begin("all");
    run(count_in_a_region, THREADS);
    recorder_region_end("all");
    recorder_scratch_exit(&scratch, &check);
    assert_int_equal(check.header->region_count, 2 + 3 * THREADS);
    assert_int_equal(check.header->completeness.unbalanced_ends, 0);
    trace_scratch_check_finish(&check);
}

/* Timelines */

/* Events 1, 1 + interval ... of one thread, which has a lane after a few of them. */
static void test_a_lone_lane_adds_the_points_that_the_lock_would(void **state) {
    struct trace_check check;
    for (unsigned i = 0; i < EVENTS; i++) {
        if (i % 2 == 0)
            recorder_allocated(base_of(0), 1 + i, frame);
        else
            recorder_freed(base_of(0));
        if (i == 3000) /* lanes are closed, and open again */
            recorder_header_for_tests();
    }
    recorder_scratch_exit(&scratch, &check);
    const struct trace_timeline *timeline = trace_check_timeline(&check, 0);
    uint64_t interval = 64;
    assert_int_equal(timeline->interval, interval);
    assert_int_equal(timeline->count, (EVENTS - 1) / interval + 1);
    for (uint64_t i = 0; i < timeline->count; i++)
        assert_int_equal(timeline->points[i].live_bytes, 1 + i * interval);
    trace_scratch_check_finish(&check);
}

static void *churn(void *data) {
    uintptr_t base = base_of((uintptr_t)data);
    recorder_allocated(base, 1000000, frame);
    recorder_freed(base);
    for (unsigned i = 0; i < EVENTS; i++) {
        recorder_allocated(base + 64 * (i % 100), 100, frame);
        recorder_freed(base + 64 * (i % 100));
    }
    return NULL;
}

static void test_points_of_several_lanes_are_bounded_and_in_order(void **state) {
    struct trace_check check;
    run(churn, THREADS);
    recorder_scratch_exit(&scratch, &check);
    const struct trace_timeline *timeline = trace_check_timeline(&check, 0);
    int64_t peak = (int64_t)check.regions[0]->space[TRACE_HEAP].peak.bytes;
    uint64_t events = THREADS * (2 + 2 * EVENTS);
    assert_in_range(timeline->count, 1, TRACE_TIMELINE_POINTS);
    /* One for each interval, give or take what lanes do not share when they open and close. */
    assert_true(timeline->count * timeline->interval > events / 4);
    assert_true((timeline->count - 1) * timeline->interval < events * 4);
    for (uint32_t i = 0; i < timeline->count; i++) {
        assert_in_range(timeline->points[i].live_bytes, 0, peak);
        if (i > 0)
            assert_true(timeline->points[i].elapsed_ns >= timeline->points[i - 1].elapsed_ns);
    }
    trace_scratch_check_finish(&check);
}

static void test_the_peak_has_a_time_when_all_is_over(void **state) {
    struct trace_check check;
    recorder_region_begin("r");
    recorder_allocated(base_of(0), 10, frame);
    recorder_region_end("r");
    for (unsigned i = 0; i < 5000; i++)
        recorder_allocated(base_of(0) + 64 * (i + 1), 10, frame);
    recorder_scratch_exit(&scratch, &check);
    const struct trace_region *process = check.regions[0];
    const struct trace_region *r = check.regions[1];
    assert_in_range(r->space[TRACE_HEAP].peak_elapsed_ns, r->begin_elapsed_ns,
                    r->end_elapsed_ns);
    assert_in_range(process->space[TRACE_HEAP].peak_elapsed_ns, r->end_elapsed_ns,
                    check.header->end_elapsed_ns);
    trace_scratch_check_finish(&check);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_events_and_ends_of_other_threads_are_not_its_own),
        TEST(test_a_region_of_a_thread_that_ended_is_no_other_threads),
        TEST(test_what_interrupts_the_recorder_belongs_to_the_thread_it_interrupted),
        TEST(test_markers_of_threads_without_a_name_do_nothing),
        TEST(test_regions_of_several_threads_at_once_are_exact),
        TEST(test_a_lone_lane_adds_the_points_that_the_lock_would),
        TEST(test_points_of_several_lanes_are_bounded_and_in_order),
        TEST(test_the_peak_has_a_time_when_all_is_over),
    };
    return cmocka_run_group_tests_name("recorder_scopes", tests, NULL, NULL);
}
