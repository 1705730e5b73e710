/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: exact sums, and what counts as what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of one column, in the caller's storage. */
struct one {
    struct field field;
    struct field *fields[1];
    struct column column;
    struct table table;
    struct stats stats;
    struct consumer consumer;
    struct problem problem;
};

static void begin(struct one *one, enum field_type type, const char *arraysize,
                  enum serialization serialization) {
    memset(one, 0, sizeof(*one));
    one->field =
        (struct field){.type = type, .items = 1, .arraysize = (char *)(uintptr_t)arraysize};
    if (arraysize != NULL)
        assert_int_equal(field_set_arraysize(&one->field, arraysize, strlen(arraysize)), 0);
    one->fields[0] = &one->field;
    column_init(&one->column, &one->field);
    one->table = (struct table){.fields = one->fields,
                                .field_count = 1,
                                .columns = &one->column,
                                .serialization = serialization};
    stats_init(&one->stats, &one->consumer);
    assert_int_equal(one->consumer.table_begin(&one->stats, &one->table, &one->problem), 0);
}

static const struct column_stats *count(struct one *one) {
    assert_int_equal(
        one->consumer.rows(&one->stats, &one->table, 0, one->column.rows, &one->problem), 0);
    return &one->stats.tables[0].columns[0];
}

static void end(struct one *one) {
    stats_finish(&one->stats);
    column_finish(&one->column);
}

static void add_doubles(struct one *one, const double *values, size_t number) {
    for (size_t i = 0; i < number; i++) {
        assert_int_equal(column_store(&one->column, &values[i], sizeof(values[i])), 0);
        assert_int_equal(column_end_cell(&one->column), 0);
    }
}

static void test_sums_are_those_of_exact_arithmetic(void **state) {
    static const struct {
        double values[6];
        double sum;
    } cases[] = {
        {{1e100, 1, -1e100, 1}, 2},
        {{0.1, 0.1, 0.1, 0.1, 0.1, 0.5}, 1},
        {{0x1p53, 1, 0x1p-60}, 0x1p53 + 2},
        {{0x1p53, 1, -0x1p-60}, 0x1p53},
        {{0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 5}, 5},
        {{0x1p-1074, 0x1p-1074}, 0x1p-1073},
        {{0x1p-1074, -0x1p-1073}, -0x1p-1074},
        {{-0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023}, -__builtin_inf()},
        {{1, 0x1p-53}, 1},
        {{1, 0x1p-53, 0x1p-1074}, 1 + 0x1p-52},
        {{1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51},
        {{-1, -0x1p-53, -0x1p-1074}, -1 - 0x1p-52},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct one one;
        begin(&one, FIELD_DOUBLE, NULL, SERIALIZATION_BINARY2);
        add_doubles(&one, cases[i].values, 6);
        assert_true(exact_sum_value(&count(&one)->real_sum) == cases[i].sum);
        end(&one);
    }
}

/* Numbers of all sizes and their negatives in another order are nothing. */
static void test_what_cancels_leaves_nothing(void **state) {
    enum { VALUES = 20000 };
    double *values = calloc(2 * VALUES, sizeof(*values));
    assert_non_null(values);
    struct random random = {17};
    for (size_t i = 0; i < VALUES; i++) {
        uint64_t bits = random_next(&random);
        bits &= ~(UINT64_C(1) << 62) | UINT64_C(0x000fffffffffffff);
        memcpy(&values[i], &bits, sizeof(bits));
    }
    for (size_t i = 0; i < VALUES; i++)
        values[VALUES + (i * 7919) % VALUES] = -values[i];
    struct one one;
    begin(&one, FIELD_DOUBLE, NULL, SERIALIZATION_BINARY2);
    add_doubles(&one, values, 2 * VALUES);
    const struct column_stats *stats = count(&one);
    assert_true(exact_sum_value(&stats->real_sum) == 0);
    assert_true(stats->items == 2 * VALUES && stats->real_low == -stats->real_high);
    end(&one);
    free(values);
}

static void test_nan_and_infinities_are_counted_and_not_added(void **state) {
    const double values[] = {1.5, __builtin_nan(""), __builtin_inf(), -__builtin_inf(), -2.5};
    struct one one;
    begin(&one, FIELD_DOUBLE, NULL, SERIALIZATION_TABLEDATA);
    add_doubles(&one, values, 5);
    assert_int_equal(column_end_null(&one.column), 0);
    const struct column_stats *stats = count(&one);
    assert_true(stats->nulls == 1 && stats->items == 5 && stats->nan == 1 && stats->inf == 2);
    assert_true(exact_sum_value(&stats->real_sum) == -1 && stats->real_low == -2.5 &&
                stats->real_high == 1.5);
    end(&one);
}

static void test_sums_of_integers_are_wider_than_they(void **state) {
    struct one one;
    begin(&one, FIELD_LONG, NULL, SERIALIZATION_BINARY2);
    const int64_t value = INT64_MAX;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(column_store(&one.column, &value, 8), 0);
        assert_int_equal(column_end_cell(&one.column), 0);
    }
    assert_true(count(&one)->integer_sum == (stats_integer)INT64_MAX * 4);
    end(&one);
}

/* The same value is null in a binary table and a number with a name in TABLEDATA. */
static void test_values_null_is_null_or_magic(void **state) {
    static const struct {
        enum serialization serialization;
        const char *arraysize;
        uint64_t nulls, items, magic;
    } cases[] = {
        {SERIALIZATION_TABLEDATA, NULL, 0, 2, 1},
        {SERIALIZATION_BINARY, NULL, 1, 1, 0},
        {SERIALIZATION_BINARY2, NULL, 1, 1, 0},
        {SERIALIZATION_BINARY2, "1", 0, 2, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct one one;
        begin(&one, FIELD_SHORT, cases[i].arraysize, cases[i].serialization);
        one.field.has_null = true;
        one.field.null_integer = -9;
        for (int16_t value = -9; value <= 9; value = (int16_t)(value + 18)) {
            assert_int_equal(column_store(&one.column, &value, 2), 0);
            assert_int_equal(column_end_cell(&one.column), 0);
        }
        const struct column_stats *stats = count(&one);
        assert_true(stats->nulls == cases[i].nulls && stats->items == cases[i].items &&
                    stats->magic == cases[i].magic && stats->integer_sum == 9);
        end(&one);
    }
}

static void test_strings_of_an_array_count_one_by_one(void **state) {
    struct one one;
    begin(&one, FIELD_CHAR, "4x2", SERIALIZATION_BINARY2);
    assert_int_equal(column_store_text(&one.column, "ab\0c\0", 5), 0);
    assert_int_equal(column_end_cell(&one.column), 0);
    const struct column_stats *stats = count(&one);
    assert_true(stats->items == 1 && stats->bytes == 3);
    assert_int_equal(stats->crc, 0x50cdc2c4); /* of "ab\nc\n" */
    end(&one);
}

static void test_bytes_that_are_no_text_count_as_the_replacement(void **state) {
    struct one one;
    begin(&one, FIELD_CHAR, "*", SERIALIZATION_BINARY);
    assert_int_equal(column_store_text(&one.column, "a\xb4z", 3), 0);
    assert_int_equal(column_end_cell(&one.column), 0);
    assert_true(count(&one)->bytes == 5);
    end(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_exact_arithmetic),
        cmocka_unit_test(test_what_cancels_leaves_nothing),
        cmocka_unit_test(test_nan_and_infinities_are_counted_and_not_added),
        cmocka_unit_test(test_sums_of_integers_are_wider_than_they),
        cmocka_unit_test(test_values_null_is_null_or_magic),
        cmocka_unit_test(test_strings_of_an_array_count_one_by_one),
        cmocka_unit_test(test_bytes_that_are_no_text_count_as_the_replacement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
