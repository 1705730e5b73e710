/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats against published tables, worked examples, and values found by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "statistics.h"

#include <math.h>

#define SAMPLE(...)                                                                            \
    ((struct statistics_sample){(const int64_t[]){__VA_ARGS__},                                \
                                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

static void assert_near(double is, double wanted, double error) {
    if (fabs(is - wanted) > error)
        fail_msg("%.10g is not %.10g", is, wanted);
}

static double p_of(struct statistics_sample a, struct statistics_sample b) {
    return statistics_p(&a, &b);
}

/* The worked example of SciPy's mannwhitneyu(): ages at diagnosis, U 17 and p 0.1111. */
static void test_worked_example_of_nine_values(void **state) {
    struct statistics_sample males = SAMPLE(16, 19, 22, 24, 29);
    struct statistics_sample females = SAMPLE(11, 12, 17, 20);
    assert_near(statistics_u(&males, &females), 17, 0);
    assert_near(statistics_u(&females, &males), 3, 0);
    assert_near(statistics_p(&males, &females), 1.0 / 9, 1e-12);
    assert_near(statistics_p(&females, &males), 1.0 / 9, 1e-12);
}

/* Mann and Whitney 1947, table I: probabilities of U at most 0, 1, 2 (one side). */
static void test_probabilities_are_those_of_the_first_table(void **state) {
    assert_near(p_of(SAMPLE(1, 2, 3), SAMPLE(4, 5, 6)), 2 * .050, 1e-12);
    assert_near(p_of(SAMPLE(1, 2, 4), SAMPLE(3, 5, 6)), 2 * .100, 1e-12);
    assert_near(p_of(SAMPLE(1, 2, 3, 4), SAMPLE(5, 6, 7, 8)), 2 * .014, 1e-3);
    assert_near(p_of(SAMPLE(1, 2, 3, 5), SAMPLE(4, 6, 7, 8)), 2 * .029, 1e-3);
    assert_near(p_of(SAMPLE(1, 2, 3, 4, 5), SAMPLE(6, 7, 8, 9, 10)), 2 * .004, 1e-3);
    assert_near(p_of(SAMPLE(1, 2, 3, 4, 6), SAMPLE(5, 7, 8, 9, 10)), 2 * .008, 1e-3);
    assert_near(p_of(SAMPLE(1, 2, 3, 4, 7), SAMPLE(5, 6, 8, 9, 10)), 2 * .016, 1e-3);
}

/* Of the six ways to choose two of the ranks 1, 2.5, 2.5, 4, four are as far from the mean. */
static void test_ties_are_counted_as_they_are(void **state) {
    assert_near(p_of(SAMPLE(1, 2), SAMPLE(2, 3)), 4.0 / 6, 1e-12);
    assert_near(p_of(SAMPLE(5, 5, 5), SAMPLE(5, 5)), 1, 0);
    /* One of C(8, 4) on either side, whatever is tied within a side. */
    assert_near(p_of(SAMPLE(7, 7, 7, 7), SAMPLE(9, 9, 9, 9)), 2.0 / 70, 1e-12);
}

static void test_counts_stay_exact_for_the_largest_samples(void **state) {
    int64_t low[25];
    int64_t high[25];
    for (int i = 0; i < 25; i++) {
        low[i] = i;
        high[i] = 100 + i;
    }
    struct statistics_sample a = {low, 25};
    struct statistics_sample b = {high, 25};
    assert_near(statistics_p(&a, &b) * 126410606437752.0, 2, 1e-9);
}

/* 26 and 26 values interleaved but for a shift: the exact p of 25 and 25 is close by. */
static void test_many_values_use_the_normal_distribution(void **state) {
    int64_t odd[26];
    int64_t even[26];
    for (int i = 0; i < 26; i++) {
        odd[i] = 2 * i + 1;
        even[i] = 2 * i + 14;
    }
    struct statistics_sample a = {odd, 26};
    struct statistics_sample b = {even, 26};
    /* U of a is 190 of 676; variance 26 * 26 * 53 / 12; z = (148 - 0.5) / 54.643. */
    assert_near(statistics_u(&a, &b), 190, 0);
    assert_near(statistics_p(&a, &b), 0.0069, 2e-4);
}

static void test_the_median_is_a_measured_value(void **state) {
    struct statistics_sample odd = SAMPLE(1, 5, 9);
    struct statistics_sample even = SAMPLE(1, 5, 9, 11);
    assert_int_equal(statistics_median(&odd), 5);
    assert_int_equal(statistics_median(&even), 5);
}

static void test_the_interval_of_samples_that_do_not_vary_is_a_point(void **state) {
    struct statistics_sample a = SAMPLE(100, 100, 100);
    struct statistics_sample b = SAMPLE(130, 130, 130, 130);
    int64_t low, high;
    statistics_interval(&a, &b, &low, &high);
    assert_int_equal(low, 30);
    assert_int_equal(high, 30);
}

static void test_the_interval_holds_the_difference_and_is_the_same_each_time(void **state) {
    struct statistics_sample a = SAMPLE(96, 98, 100, 101, 103, 107, 110);
    struct statistics_sample b = SAMPLE(118, 119, 121, 122, 125, 126, 131);
    int64_t low, high, low_again, high_again;
    statistics_interval(&a, &b, &low, &high);
    statistics_interval(&a, &b, &low_again, &high_again);
    assert_int_equal(low, low_again);
    assert_int_equal(high, high_again);
    assert_true(low >= 118 - 110 && low < 21 && high > 21 && high <= 131 - 96);
    assert_true(low > 0);
}

/*
 * With two values a side the median drawn is the lower with 3 chances of 4, so that all four
 * differences come up more often than 1 time in 40.
 */
static void test_the_interval_of_two_values_spans_all_differences(void **state) {
    struct statistics_sample a = SAMPLE(0, 10);
    struct statistics_sample b = SAMPLE(100, 200);
    int64_t low, high;
    statistics_interval(&a, &b, &low, &high);
    assert_int_equal(low, 90);
    assert_int_equal(high, 200);
}

/* 2 of C(6, 3) = 20 is 0.1, 2 of C(8, 4) = 70 is 0.029. */
static void test_fewer_than_four_repeats_can_never_tell(void **state) {
    assert_int_equal(statistics_least_repeats(), 4);
}

/* Noether 1987: (1.96 + 0.84)^2 / (12 / 4 * 0.2^2) = 65.4 for both sides together at 0.7. */
static void test_repeats_needed_follow_noether(void **state) {
    int64_t a[10];
    int64_t b[10];
    for (int i = 0; i < 10; i++) {
        a[i] = 10 * i;
        b[i] = 10 * i + (i < 5 ? 15 : 35);
    }
    struct statistics_sample before = {a, 10};
    struct statistics_sample after = {b, 10};
    double share = statistics_u(&after, &before) / 100;
    double lead = share - 0.5;
    assert_near(share, 0.7, 0.011);
    assert_near((double)statistics_need(&before, &after), 7.849 / (6 * lead * lead), 1);
}

static void test_nothing_is_needed_where_nothing_differs(void **state) {
    struct statistics_sample a = SAMPLE(1, 2, 3);
    assert_int_equal(statistics_need(&a, &a), 0);
}

static void test_a_clear_difference_needs_the_least_number(void **state) {
    struct statistics_sample a = SAMPLE(1);
    struct statistics_sample b = SAMPLE(2);
    assert_int_equal(statistics_need(&a, &b), 6);
}

/* By hand: U_t = 2 (ranks so far) - t (n + 1) is -5 -8 -9 -8 -5 for 1 ... 6, largest at 3. */
static void test_the_change_point_is_where_pettitt_puts_it(void **state) {
    static const int64_t rising[] = {1, 2, 3, 4, 5, 6};
    static const int64_t step[] = {7, 5, 6, 5, 7, 6, 90, 95, 91, 93, 92, 94};
    double p;
    assert_int_equal(statistics_change_point(rising, 6, &p), 3);
    assert_near(p, 2 * exp(-6 * 81.0 / (216 + 36)), 1e-12);
    assert_int_equal(statistics_change_point(step, 12, &p), 6);
    assert_true(p < 0.05);
}

static void test_a_series_without_a_change_is_likely_chance(void **state) {
    static const int64_t noise[] = {5, 7, 6, 5, 7, 6, 5, 7, 6, 5};
    static const int64_t flat[] = {4, 4, 4, 4};
    double p = 0;
    (void)statistics_change_point(noise, 10, &p);
    assert_true(p > 0.5);
    (void)statistics_change_point(flat, 4, &p);
    assert_near(p, 1, 0);
    assert_int_equal(statistics_change_point(flat, 1, &p), 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example_of_nine_values),
        cmocka_unit_test(test_probabilities_are_those_of_the_first_table),
        cmocka_unit_test(test_ties_are_counted_as_they_are),
        cmocka_unit_test(test_counts_stay_exact_for_the_largest_samples),
        cmocka_unit_test(test_many_values_use_the_normal_distribution),
        cmocka_unit_test(test_the_median_is_a_measured_value),
        cmocka_unit_test(test_the_interval_of_samples_that_do_not_vary_is_a_point),
        cmocka_unit_test(test_the_interval_holds_the_difference_and_is_the_same_each_time),
        cmocka_unit_test(test_the_interval_of_two_values_spans_all_differences),
        cmocka_unit_test(test_fewer_than_four_repeats_can_never_tell),
        cmocka_unit_test(test_repeats_needed_follow_noether),
        cmocka_unit_test(test_nothing_is_needed_where_nothing_differs),
        cmocka_unit_test(test_a_clear_difference_needs_the_least_number),
        cmocka_unit_test(test_the_change_point_is_where_pettitt_puts_it),
        cmocka_unit_test(test_a_series_without_a_change_is_likely_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
