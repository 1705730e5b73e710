/* SPDX-License-Identifier: BSD-3-Clause */
/* Usable sizes: that they add up, and that they are asked for known blocks only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "recorder.h"
#include "trace_scratch.h"

#include <stdlib.h>
#include <string.h>

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};
static uintptr_t last_asked;
static unsigned times_asked;
static bool asked_in_recorder;

/* An allocator that gives more the higher the address; all requests below are smaller. */
static uint64_t given(uintptr_t address) {
    return 4096 + address / 16 % 1000;
}

static bool not_ready;

static size_t usable_size(void *block) {
    last_asked = (uintptr_t)block;
    times_asked++;
    asked_in_recorder |= (recorder_thread.doing & THREAD_IN_REAL) == 0;
    return not_ready ? 0 : given((uintptr_t)block);
}

static void start(const char *wanted, size_t (*offered)(void *)) {
    trace_scratch_init(&scratch);
    setenv("VOTRACE_OUTPUT", scratch.path, 1);
    setenv("VOTRACE_STACKS", "none", 1);
    setenv("VOTRACE_USABLE", wanted, 1);
    backtrace_fake_set(NULL, 0, true);
    recorder_reset_for_tests();
    recorder_offer_usable_size(offered);
    recorder_start();
    recorder_offer_usable_size(usable_size); /* too late: nothing changes */
    unsetenv("VOTRACE_USABLE");
    assert_true(recorder_active());
    last_asked = 0;
    times_asked = 0;
    asked_in_recorder = false;
}

static int setup(void **state) {
    start("yes", usable_size);
    return 0;
}

static int teardown(void **state) {
    recorder_reset_for_tests();
    trace_scratch_finish(&scratch);
    return 0;
}

/* A region's record as it is now; the whole trace holds. */
static struct trace_region region_now(uint32_t id) {
    struct trace_check check;
    recorder_header_for_tests();
    trace_scratch_check(scratch.path, &check);
    struct trace_region region = *check.regions[id];
    trace_scratch_check_finish(&check);
    return region;
}

static int64_t live_now(void) {
    return region_now(0).usable_live_bytes;
}

static void test_what_was_given_is_added_up_and_comes_back_to_the_start(void **state) {
    recorder_allocated(0x10000, 100, frame);
    recorder_allocated(0x20010, 50, frame);
    assert_int_equal(live_now(), given(0x10000) + given(0x20010));
    recorder_freed(0x10000);
    recorder_allocated(0x30020, 7, frame);
    assert_int_equal(live_now(), given(0x20010) + given(0x30020));
    recorder_freed(0x20010);
    recorder_freed(0x30020);
    assert_int_equal(live_now(), 0);
    assert_int_equal(region_now(0).usable_at_peak_bytes, given(0x10000) + given(0x20010));
    assert_int_equal(times_asked, 6);
    assert_false(asked_in_recorder); /* what the allocator calls then is its own */
    assert_int_equal(recorder_thread.doing, 0);
}

static void test_a_region_begins_with_what_is_live_and_has_its_own_peak(void **state) {
    recorder_allocated(0x10000, 1000, frame);
    recorder_region_begin("r");
    recorder_freed(0x10000);
    recorder_allocated(0x20000, 400, frame);
    recorder_allocated(0x30000, 400, frame); /* more is usable than at the start: no peak */
    assert_int_equal(region_now(1).usable_start_bytes, given(0x10000));
    assert_int_equal(region_now(1).usable_live_bytes, given(0x20000) + given(0x30000));
    assert_int_equal(region_now(1).usable_at_peak_bytes, given(0x10000));
    recorder_allocated(0x40000, 400, frame);
    recorder_region_end("r");
    recorder_freed(0x40000);
    assert_int_equal(region_now(1).usable_live_bytes,
                     given(0x20000) + given(0x30000) + given(0x40000));
    assert_int_equal(region_now(1).usable_at_peak_bytes, region_now(1).usable_live_bytes);
}

static void test_an_unknown_block_is_not_asked_for(void **state) {
    struct recorder_taken taken;
    recorder_freed(0x10000);
    recorder_reallocating(0x20000, &taken);
    assert_int_equal(times_asked, 0);
    recorder_reallocated(&taken, 0x30000, 10, frame);
    assert_int_equal(last_asked, 0x30000);
    assert_int_equal(times_asked, 1);
    assert_int_equal(live_now(), given(0x30000));
    assert_int_equal(recorder_header_for_tests()->completeness.unknown_frees, 2);
}

static void test_a_realloc_replaces_what_was_given_unless_it_fails(void **state) {
    struct recorder_taken taken;
    recorder_allocated(0x10000, 100, frame);
    recorder_reallocating(0x10000, &taken);
    assert_int_equal(live_now(), given(0x10000));
    recorder_realloc_failed(&taken);
    assert_int_equal(live_now(), given(0x10000));
    recorder_reallocating(0x10000, &taken);
    recorder_reallocated(&taken, 0x20080, 200, frame);
    assert_int_equal(live_now(), given(0x20080));
    recorder_reallocating(0x20080, &taken);
    recorder_reallocated(&taken, 0, 0, frame);
    assert_int_equal(live_now(), 0);
}

/* In a handler the table cannot be looked into: asked is before the free, used what is known. */
static void test_what_interrupts_the_recorder_counts_what_was_given_then(void **state) {
    recorder_allocated(0x10000, 100, frame);
    recorder_thread.doing |= THREAD_BUSY;
    recorder_allocated(0x20000, 30, frame);
    recorder_freed(0x10000);
    recorder_freed(0x50000); /* unknown */
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    assert_int_equal(live_now(), given(0x20000));
    assert_int_equal(recorder_header_for_tests()->completeness.unknown_frees, 1);
}

/* The free went by unseen, and what was given is not known any more: at least the request. */
static void test_a_lost_free_takes_what_was_requested(void **state) {
    recorder_allocated(0x10000, 100, frame);
    recorder_allocated(0x20000, 1, frame);
    recorder_allocated(0x10000, 40, frame);
    recorder_allocated(0x30000, 1, frame);
    assert_int_equal(live_now(), 2 * given(0x10000) + given(0x20000) + given(0x30000) - 100);
    assert_int_equal(recorder_header_for_tests()->completeness.events_lost, 1);
}

/* Both times as requested: what it tells of them later is no answer to what it told before. */
static void test_an_allocator_that_is_not_ready_gave_what_was_requested(void **state) {
    struct recorder_taken taken;
    not_ready = true;
    recorder_allocated(0x10000, 100, frame);
    recorder_allocated(0x20000, 30, frame);
    not_ready = false;
    recorder_allocated(0x30000, 1, frame);
    assert_int_equal(live_now(), 130 + given(0x30000));
    recorder_freed(0x10000);
    recorder_allocated(0x10000, 7, frame);
    recorder_reallocating(0x20000, &taken);
    recorder_reallocated(&taken, 0x20000, 50, frame);
    assert_int_equal(live_now(), given(0x10000) + given(0x20000) + given(0x30000));
    recorder_freed(0x10000);
    recorder_freed(0x20000);
    recorder_freed(0x30000);
    assert_int_equal(live_now(), 0);
}

static void test_a_thread_region_has_what_its_thread_was_given(void **state) {
    recorder_allocated(0x10000, 1, frame);
    recorder_thread_region_begin("r");
    recorder_freed(0x10000);
    recorder_allocated(0x20000, 5, frame);
    assert_int_equal(region_now(1).usable_start_bytes, 0);
    assert_int_equal(region_now(1).usable_live_bytes,
                     (int64_t)given(0x20000) - (int64_t)given(0x10000));
    recorder_thread_region_end("r");
}

static void test_nothing_is_asked_unless_it_is_wanted(void **state) {
    start("no", usable_size);
    recorder_allocated(0x10000, 100, frame);
    recorder_freed(0x10000);
    assert_int_equal(times_asked, 0);
    assert_int_equal(recorder_header_for_tests()->flags, 0);
    assert_int_equal(live_now(), 0);
}

static void test_an_allocator_that_cannot_tell_is_in_the_trace(void **state) {
    start("yes", NULL);
    recorder_allocated(0x10000, 100, frame);
    recorder_freed(0x10000);
    assert_int_equal(times_asked, 0);
    assert_int_equal(recorder_header_for_tests()->flags, 0);
    assert_int_equal(recorder_header_for_tests()->completeness.settings_ignored, 1);
}

static void test_a_setting_that_means_nothing_is_in_the_trace(void **state) {
    start("perhaps", usable_size);
    recorder_allocated(0x10000, 100, frame);
    assert_int_equal(times_asked, 0);
    assert_int_equal(recorder_header_for_tests()->completeness.settings_ignored, 1);
}

int main(void) {
#define TEST(name)  cmocka_unit_test_setup_teardown(name, setup, teardown)
#define OTHER(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_given_is_added_up_and_comes_back_to_the_start),
        TEST(test_a_region_begins_with_what_is_live_and_has_its_own_peak),
        TEST(test_an_unknown_block_is_not_asked_for),
        TEST(test_a_realloc_replaces_what_was_given_unless_it_fails),
        TEST(test_what_interrupts_the_recorder_counts_what_was_given_then),
        TEST(test_a_lost_free_takes_what_was_requested),
        TEST(test_an_allocator_that_is_not_ready_gave_what_was_requested),
        TEST(test_a_thread_region_has_what_its_thread_was_given),
        OTHER(test_nothing_is_asked_unless_it_is_wanted),
        OTHER(test_an_allocator_that_cannot_tell_is_in_the_trace),
        OTHER(test_a_setting_that_means_nothing_is_in_the_trace),
    };
    return cmocka_run_group_tests_name("recorder_usable", tests, NULL, NULL);
}
