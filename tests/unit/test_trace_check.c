/* SPDX-License-Identifier: BSD-3-Clause */
/* The witness takes what keeps the rules of the layout, and names what breaks them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_check.h"

#include <stdlib.h>
#include <string.h>

/* Check what @b writes. Returns what trace_check() did; trace_check_finish() and free() both. */
static int check(const struct trace_builder *b, struct trace_check *ret_check,
                 unsigned char **ret_bytes) {
    size_t size;
    *ret_bytes = trace_builder_write(b, &size);
    return trace_check(ret_check, *ret_bytes, size);
}

static void assert_taken(const struct trace_builder *b) {
    struct trace_check check_of;
    unsigned char *bytes;
    if (check(b, &check_of, &bytes) < 0)
        fail_msg("%s", check_of.fault);
    trace_check_finish(&check_of);
    free(bytes);
}

static void assert_refused(const struct trace_builder *b, const char *words) {
    struct trace_check check_of;
    unsigned char *bytes;
    if (check(b, &check_of, &bytes) == 0)
        fail_msg("taken, although %s", words);
    if (!strstr(check_of.fault, words))
        fail_msg("\"%s\" does not say \"%s\"", check_of.fault, words);
    trace_check_finish(&check_of);
    free(bytes);
}

/* Two threads in lanes, then a region of the process and one of a thread. */
static void scenario(struct trace_builder *b, uint32_t stores) {
    trace_builder_init(b);
    trace_builder_count_sizes(b);
    b->stores_left = stores;
    trace_builder_allocate(b, 0, 100);
    trace_builder_use_lane(b, 1);
    trace_builder_allocate(b, 0, 60);
    trace_builder_use_lane(b, 2);
    trace_builder_free(b, 0, 100);
    trace_builder_allocate(b, 0, 7);
}

static void test_lanes_keep_the_rules_at_every_store(void **state) {
    for (uint32_t stores = 0; stores < 30; stores++) {
        struct trace_builder b;
        scenario(&b, stores);
        assert_taken(&b);
    }
}

static void test_regions_after_lanes_keep_the_rules(void **state) {
    struct trace_builder b;
    scenario(&b, UINT32_MAX);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 30);
    trace_builder_point(&b, region, 2100, 90);
    assert_taken(&b);
    trace_builder_end(&b, region);
    b.thread = 12;
    region = trace_builder_begin_thread(&b, "work");
    trace_builder_free(&b, 0, 60);
    assert_taken(&b);
    trace_builder_end(&b, region);
    assert_taken(&b);
    trace_builder_exit(&b);
    assert_taken(&b);
    b.header.state = TRACE_EXECED;
    assert_taken(&b);
}

static void test_sums_over_lanes_are_counted(void **state) {
    struct trace_builder b;
    struct trace_check check_of;
    unsigned char *bytes;
    int64_t sizes[TRACE_SIZE_BUCKETS];
    scenario(&b, UINT32_MAX);
    assert_int_equal(check(&b, &check_of, &bytes), 0);
    struct trace_check_sums sums = trace_check_sum(&check_of, 0, TRACE_HEAP);
    assert_int_equal(sums.live_bytes, 67);
    assert_int_equal(sums.peak_bytes, 160);
    assert_int_equal(sums.allocations, 3);
    assert_int_equal(sums.sites, 1);
    assert_int_equal(trace_check_site(&check_of, 0, 0).frees, 1);
    assert_int_equal(trace_check_row(&check_of, 0, 0)->allocated.bytes, 100);
    assert_int_equal(trace_check_lane_row(&check_of, 0, 2, 0)->freed.bytes, 100);
    assert_null(trace_check_lane_row(&check_of, 0, 3, 0));
    assert_int_equal(trace_check_sizes(&check_of, 0, sizes), 0);
    assert_int_equal(sizes[3], 1);
    assert_int_equal(sizes[7], 1);
    assert_int_equal(trace_check_sizes(&check_of, 0, sizes), 0);
    assert_null(trace_check_timeline(&check_of, 0));
    trace_check_finish(&check_of);
    free(bytes);
}

static void test_what_breaks_the_rules_of_lanes_is_named(void **state) {
    struct trace_builder b;
    scenario(&b, UINT32_MAX);
    b.lane_rows[1][0].allocated.bytes++;
    assert_refused(&b, "the peaks of its sites sum up to");
    scenario(&b, UINT32_MAX);
    b.lane_rows[2][0].epoch = 9;
    assert_refused(&b, "a snapshot of a later peak");
    scenario(&b, UINT32_MAX);
    b.header.state = TRACE_EXITED; /* and the record was not brought up to date */
    assert_refused(&b, "differ by");
    scenario(&b, UINT32_MAX);
    b.sizes[0].start[3] = 2;
    assert_refused(&b, "-1 allocations of size class 3");
    scenario(&b, UINT32_MAX);
    b.lanes[1].updating = 2;
    assert_refused(&b, "lane 1 is not well formed");
    scenario(&b, UINT32_MAX);
    b.regions[0].combined_peak_bytes = 66;
    assert_refused(&b, "the sums of heap and mappings do not hold");
}

static void test_what_breaks_the_rules_of_the_rest_is_named(void **state) {
    struct trace_builder b;
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    trace_builder_point(&b, 0, 500, 11);
    assert_refused(&b, "point 0 of its timeline has 11 bytes");
    b.points[0][0].live_bytes = 9;
    trace_builder_point(&b, 0, 400, 3);
    assert_taken(&b); /* killed while points were moved */
    trace_builder_exit(&b);
    assert_refused(&b, "point 1 of its timeline goes back in time");

    trace_builder_init(&b);
    b.regions[0].usable_live_bytes = 1;
    assert_refused(&b, "usable bytes that nobody asked for");
    b.header.flags = TRACE_USABLE;
    assert_taken(&b);
    trace_builder_allocate(&b, 0, 10);
    b.regions[0].usable_at_peak_bytes = 9;
    assert_refused(&b, "less is usable than was asked for");

    trace_builder_init(&b);
    b.header.flags = TRACE_FORKED;
    assert_refused(&b, "a forked child without its parent's uuid");
    b.header.parent_uuid[0] = 1;
    assert_taken(&b);
    b.header.flags = 0;
    assert_refused(&b, "a parent's uuid without a fork");

    trace_builder_init(&b);
    uint32_t region = trace_builder_begin_thread(&b, "work");
    b.rows[region][0] = (struct trace_row){.start = {1, 5}, .peak = {1, 5}, .epoch = 1};
    assert_refused(&b, "begins with something");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_keep_the_rules_at_every_store),
        cmocka_unit_test(test_regions_after_lanes_keep_the_rules),
        cmocka_unit_test(test_sums_over_lanes_are_counted),
        cmocka_unit_test(test_what_breaks_the_rules_of_lanes_is_named),
        cmocka_unit_test(test_what_breaks_the_rules_of_the_rest_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
