/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lines of a tree are shown, that they add up, and what metrics and repeats make of a
 * diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff.h"
#include "outline.h"
#include "render_tree.h"
#include "run_builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILD(run, ...)                                                                        \
    run_build(run, "b", "f", (const struct run_work[]){__VA_ARGS__},                           \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              "parse")

static struct diff diff_of(const struct run *before, size_t before_count,
                           const struct run *after, size_t after_count, enum metric metric) {
    struct diff diff;
    const struct diff_settings settings = {.metric = metric};
    assert_int_equal(
        diff_compare_by(before, before_count, after, after_count, &settings, &diff), 0);
    return diff;
}

/* "+12 main > read (src/reader.c:2)", one line each. */
static void assert_lines(const struct calltree *tree, size_t frames_max, const char *wanted) {
    struct outline outline;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(outline_make(tree, CALLTREE_PEAK_ADDED, frames_max, &outline), 0);
    for (size_t i = 0; i < outline.count; i++) {
        const struct outline_line *line = &outline.lines[i];
        char *label = render_tree_label(tree, CALLTREE_BY_FILE, line, 100);
        fprintf(stream, "%+d %s\n", (int)(line->after - line->before), label);
        free(label);
    }
    fclose(stream);
    assert_string_equal(text, wanted);
    free(text);
    outline_finish(&outline);
}

static void test_chains_are_one_line_and_the_largest_comes_first(void **state) {
    struct run before, after;
    BUILD(&before, {"_start/main/run/read/row", 1000}, {"_start/main/run/read/cell", 10});
    BUILD(&after, {"_start/main/run/read/row", 1200}, {"_start/main/run/read/cell", 5});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 20,
                 "+195 main > run > read\n"
                 "+200   row\n"
                 "-5   cell\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_what_is_new_or_gone_is_said_where_it_begins(void **state) {
    struct run before, after;
    BUILD(&before, {"main/old/x", 100}, {"main/stays", 7});
    BUILD(&after, {"main/fresh/y", 30}, {"main/stays", 8});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 20,
                 "-69 main\n"
                 "-100   [GONE] old > x\n"
                 "+30   [NEW] fresh > y\n"
                 "+1   stays\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_what_has_no_line_is_others_and_every_level_adds_up(void **state) {
    struct run before, after;
    BUILD(&before, {"main/a", 1}, {"main/b", 1}, {"main/c", 1}, {"main/d", 1}, {"main", 50});
    BUILD(&after, {"main/a", 101}, {"main/b", 11}, {"main/c", 5}, {"main/d", 2}, {"main", 53});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 2,
                 "+118 main\n"
                 "+3   (itself)\n"
                 "+100   a\n"
                 "+15   [3 others]\n");
    assert_lines(&diff.rows[0].tree, 1,
                 "+118 main\n"
                 "+3   (itself)\n"
                 "+115   [4 others]\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_differences_that_cancel_each_other_out_are_shown(void **state) {
    struct run before, after;
    BUILD(&before, {"main/read/a", 10}, {"main/read/b", 20}, {"main/c", 1});
    BUILD(&after, {"main/read/a", 20}, {"main/read/b", 10}, {"main/c", 2});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 20,
                 "+1 main\n"
                 "+1   c\n"
                 "+0   read\n"
                 "+10     a\n"
                 "-10     b\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_bytes_without_a_stack_have_a_line(void **state) {
    struct run before, after;
    BUILD(&before, {"main/a", 10}, {"-", 1});
    BUILD(&after, {"main/a", 10}, {"-", 9});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 20, "+8 (no call stack taken)\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

/* Whatever is shown, the lines below a line and the outermost lines add up. */
static void check_sums(const struct outline *outline) {
    for (size_t i = 0; i < outline->count; i++) {
        const struct outline_line *line = &outline->lines[i];
        int64_t below = 0;
        bool has_lines = false;
        for (size_t k = i + 1; k < outline->count && outline->lines[k].depth > line->depth; k++)
            if (outline->lines[k].depth == line->depth + 1) {
                below += outline->lines[k].after - outline->lines[k].before;
                has_lines = true;
            }
        if (has_lines)
            assert_int_equal(below, line->after - line->before);
    }
}

static void test_sums_hold_for_any_number_of_lines(void **state) {
    struct run before, after;
    BUILD(&before, {"main/a/b/c", 10}, {"main/a/b", 5}, {"main/a/d", 7}, {"main/e/f", 100},
          {"main/e/f/g", 3}, {"main/e", 2}, {"other/thing", 9});
    BUILD(&after, {"main/a/b/c", 12}, {"main/a/b", 9}, {"main/a/d", 1}, {"main/e/f", 90},
          {"main/e/f/g", 30}, {"main/e/h", 2}, {"other/thing", 11});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    for (size_t lines = 1; lines < 15; lines++) {
        struct outline outline;
        assert_int_equal(outline_make(&diff.rows[0].tree, CALLTREE_PEAK_ADDED, lines, &outline),
                         0);
        check_sums(&outline);
        outline_finish(&outline);
    }
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_a_renamed_file_is_no_line_of_the_tree(void **state) {
    struct run before, after;
    BUILD(&before, {"main@old.c/read@old.c:3/row@old.c:4", 10}, {"main@old.c/x@old.c", 1});
    BUILD(&after, {"main@new.c/read@new.c:7/row@new.c:9", 10}, {"main@new.c/x@new.c", 3});
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_PEAK_ADDED);
    assert_lines(&diff.rows[0].tree, 20, "+2 main > x\n");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_each_metric_has_its_number_and_its_tree(void **state) {
    struct run before, after;
    BUILD(&before, {"main/a", 10}, {"map:main/m", 4096});
    BUILD(&after, {"main/a", 10}, {"main/a", 30}, {"map:main/m", 8192});
    static const struct {
        enum metric metric;
        int64_t before, after;
    } facts[] = {
        {METRIC_PEAK_ADDED, 10, 40},   {METRIC_LIVE_END, 510, 540},
        {METRIC_TOTAL, 10, 40},        {METRIC_COUNT, 1, 2},
        {METRIC_PEAK_MAP, 4096, 8192}, {METRIC_COMBINED, 4106, 8232},
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        struct diff diff = diff_of(&before, 1, &after, 1, facts[i].metric);
        const struct diff_row *row = &diff.rows[0];
        assert_int_equal(row->before.value, facts[i].before);
        assert_int_equal(row->after.value, facts[i].after);
        assert_int_equal(row->status, DIFF_WORSE);
        assert_int_equal(row->certainty, DIFF_EXACT);
        assert_int_equal(row->explained, metric_facts[facts[i].metric].has_tree);
        diff_finish(&diff);
    }
    run_finish(&before);
    run_finish(&after);
}

static void test_a_resident_size_that_is_not_known_is_said_to_be(void **state) {
    struct run before, after;
    BUILD(&before, {"main/a", 10});
    BUILD(&after, {"main/a", 10});
    after.max_rss_bytes = 1 << 20;
    struct diff diff = diff_of(&before, 1, &after, 1, METRIC_RSS);
    assert_int_equal(diff.row_count, 1);
    assert_string_equal(diff.rows[0].region, "process");
    assert_int_equal(diff.rows[0].status, DIFF_UNKNOWN);
    assert_true(isnan(diff.rows[0].ratio));
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

/* Runs with these resident sizes; finish them. */
static void sized(struct run *runs, const int64_t *sizes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        BUILD(&runs[i], {"main/a", 10});
        runs[i].max_rss_bytes = sizes[i];
        runs[i].id = (int64_t)i + 1;
    }
}

static enum diff_certainty certainty_of(const int64_t *before, size_t before_count,
                                        const int64_t *after, size_t after_count,
                                        size_t *ret_need) {
    struct run old[8], new[8];
    sized(old, before, before_count);
    sized(new, after, after_count);
    struct diff diff = diff_of(old, before_count, new, after_count, METRIC_RSS);
    enum diff_certainty certainty = diff.rows[0].certainty;
    *ret_need = diff.rows[0].need;
    diff_finish(&diff);
    for (size_t i = 0; i < before_count; i++)
        run_finish(&old[i]);
    for (size_t i = 0; i < after_count; i++)
        run_finish(&new[i]);
    return certainty;
}

static void test_repeats_tell_noise_from_a_difference(void **state) {
    static const int64_t low[] = {100, 101, 102, 103, 104};
    static const int64_t high[] = {110, 111, 112, 113, 114};
    static const int64_t mixed[] = {99, 101, 102, 104, 106};
    size_t need;
    assert_int_equal(certainty_of(low, 5, high, 5, &need), DIFF_SURE);
    assert_int_equal(certainty_of(low, 5, mixed, 5, &need), DIFF_NOISE);
    assert_true(need == 0 || need > 5);
    assert_int_equal(certainty_of(low, 1, high, 1, &need), DIFF_TOO_FEW);
    assert_int_equal(certainty_of(low, 3, high, 3, &need), DIFF_TOO_FEW);
    assert_int_equal(certainty_of(low, 4, high, 4, &need), DIFF_SURE);
}

static void test_exact_repeats_need_no_statistics(void **state) {
    struct run before[2], after[2];
    for (int i = 0; i < 2; i++) {
        BUILD(&before[i], {"main/a", 10});
        BUILD(&after[i], {"main/a", 11});
    }
    struct diff diff = diff_of(before, 2, after, 2, METRIC_PEAK_ADDED);
    assert_int_equal(diff.rows[0].certainty, DIFF_EXACT);
    assert_true(diff_is_change(&diff.rows[0]));
    diff_finish(&diff);
    for (int i = 0; i < 2; i++) {
        run_finish(&before[i]);
        run_finish(&after[i]);
    }
}

static void test_what_may_be_noise_stands_behind_what_changed(void **state) {
    struct run before[3], after[3];
    run_build(&before[0], "a", "f", &(struct run_work){"main/a", 10}, 1, "parse");
    run_build(&before[1], "a", "f", &(struct run_work){"main/a", 12}, 1, "parse");
    run_build(&before[2], "z", "f", &(struct run_work){"main/a", 10}, 1, "parse");
    run_build(&after[0], "a", "f", &(struct run_work){"main/a", 12}, 1, "parse");
    run_build(&after[1], "a", "f", &(struct run_work){"main/a", 14}, 1, "parse");
    run_build(&after[2], "z", "f", &(struct run_work){"main/a", 11}, 1, "parse");
    struct diff diff = diff_of(before, 3, after, 3, METRIC_PEAK_ADDED);
    assert_string_equal(diff.rows[0].benchmark->benchmark, "z");
    assert_string_equal(diff.rows[1].benchmark->benchmark, "a");
    assert_int_equal(diff.rows[1].certainty, DIFF_TOO_FEW);
    diff_finish(&diff);
    for (int i = 0; i < 3; i++) {
        run_finish(&before[i]);
        run_finish(&after[i]);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_are_one_line_and_the_largest_comes_first),
        cmocka_unit_test(test_what_is_new_or_gone_is_said_where_it_begins),
        cmocka_unit_test(test_what_has_no_line_is_others_and_every_level_adds_up),
        cmocka_unit_test(test_differences_that_cancel_each_other_out_are_shown),
        cmocka_unit_test(test_bytes_without_a_stack_have_a_line),
        cmocka_unit_test(test_sums_hold_for_any_number_of_lines),
        cmocka_unit_test(test_a_renamed_file_is_no_line_of_the_tree),
        cmocka_unit_test(test_each_metric_has_its_number_and_its_tree),
        cmocka_unit_test(test_a_resident_size_that_is_not_known_is_said_to_be),
        cmocka_unit_test(test_repeats_tell_noise_from_a_difference),
        cmocka_unit_test(test_exact_repeats_need_no_statistics),
        cmocka_unit_test(test_what_may_be_noise_stands_behind_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
