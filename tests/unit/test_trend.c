/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps in made-up series, and the query that brings real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_builder.h"
#include "trend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POINTS_MAX 64

struct plan {
    struct store_trend_point points[POINTS_MAX];
    size_t count;
};

static void add(struct plan *plan, const char *commit, int64_t commit_ns, int64_t value) {
    plan->points[plan->count] = (struct store_trend_point){
        .run_id = (int64_t)plan->count + 1,
        .benchmark_id = 1,
        .commit = commit,
        .commit_ns = commit_ns,
        .known = true,
        .value = value,
    };
    plan->count++;
}

static struct trend only_trend(const struct plan *plan, enum metric metric,
                               struct arena *arena) {
    struct trend *trends;
    size_t count;
    assert_int_equal(trend_make(plan->points, plan->count, metric, arena, &trends, &count), 0);
    assert_int_equal(count, 1);
    return trends[0];
}

static void test_any_byte_is_a_step_where_repeats_agree(void **state) {
    struct arena arena = {0};
    struct plan plan = {0};
    add(&plan, "a", 1, 100);
    add(&plan, "a", 1, 100);
    add(&plan, "b", 2, 100);
    add(&plan, "c", 3, 101);
    add(&plan, "d", 4, 101);
    add(&plan, "e", 5, 90);
    struct trend trend = only_trend(&plan, METRIC_PEAK_ADDED, &arena);
    assert_false(trend.varies);
    assert_int_equal(trend.count, 5);
    assert_int_equal(trend.step_count, 2);
    assert_int_equal(trend.commits[0].repeats, 2);
    assert_true(trend.commits[2].is_step);
    assert_int_equal(trend.commits[2].level_before, 100);
    assert_int_equal(trend.commits[2].level_after, 101);
    assert_true(trend.commits[4].is_step);
    assert_int_equal(trend.commits[4].level_after, 90);
    arena_finish(&arena);
}

static void test_commits_are_in_the_order_of_their_times(void **state) {
    struct arena arena = {0};
    struct plan plan = {0};
    add(&plan, "late", 30, 3);
    add(&plan, "early", 10, 1);
    add(&plan, "middle", 20, 2);
    add(&plan, "early", 10, 1);
    struct trend trend = only_trend(&plan, METRIC_COUNT, &arena);
    assert_int_equal(trend.count, 3);
    assert_string_equal(trend.commits[0].commit, "early");
    assert_string_equal(trend.commits[1].commit, "middle");
    assert_string_equal(trend.commits[2].commit, "late");
    plan.points[2].commit_ns = 0; /* one without a time: then as they were measured */
    trend = only_trend(&plan, METRIC_COUNT, &arena);
    assert_string_equal(trend.commits[0].commit, "late");
    assert_string_equal(trend.commits[1].commit, "early");
    arena_finish(&arena);
}

static void test_runs_without_a_commit_are_each_their_own(void **state) {
    struct arena arena = {0};
    struct plan plan = {0};
    add(&plan, "", 0, 1);
    add(&plan, "", 0, 1);
    add(&plan, "a", 0, 1);
    add(&plan, "a", 0, 2);
    plan.points[3].dirty = true; /* not what the commit is */
    struct trend trend = only_trend(&plan, METRIC_TOTAL, &arena);
    assert_int_equal(trend.count, 4);
    assert_true(trend.commits[3].is_step && trend.commits[3].dirty);
    arena_finish(&arena);
}

static void test_unfit_and_unknown_runs_are_left_out(void **state) {
    struct arena arena = {0};
    struct plan plan = {0};
    add(&plan, "a", 1, 100);
    add(&plan, "b", 2, 7);
    add(&plan, "c", 3, 0);
    add(&plan, "d", 4, 100);
    plan.points[1].unfit = true;
    plan.points[2].known = false;
    struct trend trend = only_trend(&plan, METRIC_PEAK_ADDED, &arena);
    assert_int_equal(trend.left_out, 2);
    assert_int_equal(trend.count, 2);
    assert_int_equal(trend.step_count, 0);
    arena_finish(&arena);
}

static void test_what_varies_steps_where_it_is_more_than_noise(void **state) {
    static const int64_t noise[] = {0, 3, 1, 4, 2, 5, 1, 3, 0, 2, 4, 1};
    char names[24][8];
    struct arena arena = {0};
    struct plan plan = {0};
    for (size_t i = 0; i < 24; i++) {
        snprintf(names[i], sizeof(names[i]), "c%zu", i);
        add(&plan, names[i], (int64_t)i + 1, (i < 14 ? 1000 : 1100) + noise[i % 12]);
    }
    struct trend trend = only_trend(&plan, METRIC_TIME, &arena);
    assert_true(trend.varies);
    assert_int_equal(trend.step_count, 1);
    assert_true(trend.commits[14].is_step);
    assert_in_range(trend.commits[14].level_before, 1000, 1005);
    assert_in_range(trend.commits[14].level_after, 1100, 1105);
    arena_finish(&arena);
}

static void test_noise_alone_has_no_step(void **state) {
    static const int64_t noise[] = {4, 3, 1, 4, 2, 5, 1, 3, 0, 2, 4, 1};
    char names[24][8];
    struct arena arena = {0};
    struct plan plan = {0};
    for (size_t i = 0; i < 24; i++) {
        snprintf(names[i], sizeof(names[i]), "c%zu", i / 2);
        add(&plan, names[i], (int64_t)i / 2 + 1, 1000 + noise[i % 12]);
    }
    struct trend trend = only_trend(&plan, METRIC_PEAK_ADDED, &arena);
    assert_true(trend.varies); /* two runs of a commit differ */
    assert_int_equal(trend.step_count, 0);
    arena_finish(&arena);
}

static void test_parameters_are_series_of_their_own(void **state) {
    struct arena arena = {0};
    struct plan plan = {0};
    const struct run_param format = {"format", "text"};
    struct trend *trends;
    size_t count;
    add(&plan, "a", 1, 1);
    add(&plan, "a", 1, 2);
    plan.points[1].benchmark_id = 2;
    plan.points[1].params = &format;
    plan.points[1].param_count = 1;
    assert_int_equal(trend_make(plan.points, 2, METRIC_PEAK_ADDED, &arena, &trends, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(trends[0].param_count, 0);
    assert_ptr_equal(trends[1].params, &format);
    assert_int_equal(trends[1].commits[0].value, 2);
    assert_int_equal(trend_make(plan.points, 0, METRIC_PEAK_ADDED, &arena, &trends, &count), 0);
    assert_int_equal(count, 0);
    arena_finish(&arena);
}

/* ---- the query ---- */

static char path[] = "/tmp/test_trend.XXXXXX";

static void store_fill(void) {
    static const struct run_work works[] = {{"main/a", 100}, {"map:main/m", 4096}};
    struct store *store;
    struct fault fault = {0};
    assert_int_equal(store_open(path, STORE_WRITE, &store, &fault), 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct run run;
        struct run *runs[] = {&run};
        run_build(&run, i < 3 ? "b" : "other", "f", works, i == 2 ? 1 : 2, "parse");
        run.profile.pid = 100 + i;
        snprintf(run.set_uuid, sizeof(run.set_uuid), "set%u", (unsigned int)i);
        run.repeat = 1;
        run.max_rss_bytes = i == 0 ? 0 : 1 << 20;
        run.origin.commit = "deadbeef";
        run.origin.branch = i == 1 ? "work" : "main";
        run.status = i == 2 ? 3 : 0;
        assert_int_equal(store_add(store, runs, 1, &fault), 0);
        run_finish(&run);
    }
    store_close(store);
}

static struct store_trend_point point_of(enum store_trend_value value, const char *region,
                                         const char *branch, size_t at, size_t wanted,
                                         struct arena *arena) {
    struct store *store;
    struct fault fault = {0};
    struct store_trend_point *points;
    size_t count;
    assert_int_equal(store_open(path, STORE_READ, &store, &fault), 0);
    if (store_trend(store, "b", region, branch, value, arena, &points, &count, &fault) < 0)
        fail_msg("%s", fault.text);
    store_close(store);
    assert_int_equal(count, wanted);
    return wanted > 0 ? points[at] : (struct store_trend_point){0};
}

static void test_the_store_has_every_metric_of_a_region(void **state) {
    struct arena arena = {0};
    static const struct {
        enum store_trend_value value;
        int64_t wanted;
    } facts[] = {
        {STORE_TREND_PEAK_ADDED, 100}, {STORE_TREND_LIVE_END, 600},
        {STORE_TREND_TOTAL, 100},      {STORE_TREND_COUNT, 1},
        {STORE_TREND_PEAK_MAP, 4096},  {STORE_TREND_COMBINED, 4196},
        {STORE_TREND_RSS, 1 << 20},
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        struct store_trend_point point = point_of(facts[i].value, "parse", NULL, 1, 3, &arena);
        assert_true(point.known);
        assert_int_equal(point.value, facts[i].wanted);
        assert_string_equal(point.commit, "deadbeef");
        assert_int_equal(point.param_count, 1);
        assert_string_equal(point.params[0].key, "format");
        assert_string_equal(point.params[0].value, "f");
    }
    assert_false(point_of(STORE_TREND_RSS, "parse", NULL, 0, 3, &arena).known);
    assert_true(point_of(STORE_TREND_TIME, "parse", NULL, 0, 3, &arena).known);
    assert_false(point_of(STORE_TREND_COUNT, "parse", NULL, 0, 3, &arena).unfit);
    assert_true(point_of(STORE_TREND_COUNT, "parse", NULL, 2, 3, &arena).unfit);
    assert_int_equal(point_of(STORE_TREND_PEAK_MAP, "parse", NULL, 2, 3, &arena).value, 0);
    assert_int_equal(point_of(STORE_TREND_COUNT, "parse", "work", 0, 1, &arena).run_id, 2);
    (void)point_of(STORE_TREND_COUNT, "nope", NULL, 0, 0, &arena);
    arena_finish(&arena);
}

static void test_the_newest_run_says_which_region_matters(void **state) {
    struct arena arena = {0};
    struct store *store;
    struct fault fault = {0};
    const char *region;
    assert_int_equal(store_open(path, STORE_READ, &store, &fault), 0);
    assert_int_equal(store_trend_region(store, "b", &arena, &region, &fault), 0);
    assert_string_equal(region, "parse");
    assert_int_equal(store_trend_region(store, "nope", &arena, &region, &fault), -ENODATA);
    assert_non_null(strstr(fault.text, "no run of a benchmark named 'nope'"));
    store_close(store);
    arena_finish(&arena);
}

static int setup(void **state) {
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    unlink(path);
    store_fill();
    return 0;
}

static int teardown(void **state) {
    return unlink(path);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_byte_is_a_step_where_repeats_agree),
        cmocka_unit_test(test_commits_are_in_the_order_of_their_times),
        cmocka_unit_test(test_runs_without_a_commit_are_each_their_own),
        cmocka_unit_test(test_unfit_and_unknown_runs_are_left_out),
        cmocka_unit_test(test_what_varies_steps_where_it_is_more_than_noise),
        cmocka_unit_test(test_noise_alone_has_no_step),
        cmocka_unit_test(test_parameters_are_series_of_their_own),
        cmocka_unit_test(test_the_store_has_every_metric_of_a_region),
        cmocka_unit_test(test_the_newest_run_says_which_region_matters),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
