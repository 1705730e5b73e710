/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of TDs, told apart by the values they leave and by what is said of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cell_text.h"
#include "checksum.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct cell {
    enum field_type type;
    const char *arraysize;
    const char *null_text;
    const char *text;
};

/* Store the cell in a column of its own. @ret_hash is what the checksum makes of it. */
static int store(const struct cell *cell, struct warnings *warnings, uint64_t *ret_hash,
                 uint64_t *ret_nulls, struct problem *problem) {
    struct field field = {.type = cell->type, .items = 1, .name = (char[]){"c"}};
    struct column column;
    if (cell->arraysize != NULL)
        assert_int_equal(field_set_arraysize(&field, cell->arraysize, strlen(cell->arraysize)),
                         0);
    if (cell->null_text != NULL)
        assert_int_equal(field_set_null(&field, cell->null_text, strlen(cell->null_text)), 0);
    column_init(&column, &field);
    int r = cell_text_store(&column, cell->text, strlen(cell->text), 7, warnings, problem);
    if (r == 0) {
        assert_true(column.rows == 1);
        *ret_hash = checksum_columns(&column, 1, 1);
        *ret_nulls = column.null_cells;
    }
    column_finish(&column);
    field.name = NULL;
    field_finish(&field);
    return r;
}

static void test_different_texts_of_one_value_are_one(void **state) {
    struct warnings warnings = {0};
    static const struct {
        struct cell one;
        struct cell other;
    } cases[] = {
        {{FIELD_BOOLEAN, NULL, NULL, "T"}, {FIELD_BOOLEAN, NULL, NULL, "true"}},
        {{FIELD_BOOLEAN, NULL, NULL, "TRUE"}, {FIELD_BOOLEAN, NULL, NULL, " 1 "}},
        {{FIELD_BOOLEAN, NULL, NULL, "f"}, {FIELD_BOOLEAN, NULL, NULL, "False"}},
        {{FIELD_BOOLEAN, NULL, NULL, "?"}, {FIELD_BOOLEAN, NULL, NULL, ""}},
        {{FIELD_BOOLEAN, "3", NULL, "T F ?"}, {FIELD_BOOLEAN, "3", NULL, "tf?"}},
        {{FIELD_BOOLEAN, "*", NULL, "TRUE"}, {FIELD_BOOLEAN, "*", NULL, "t"}},
        {{FIELD_BIT, "10", NULL, "1011000001"}, {FIELD_BIT, "10", NULL, "1 0 11\n000 001"}},
        {{FIELD_SHORT, NULL, NULL, "31"}, {FIELD_SHORT, NULL, NULL, " 0x1F\t"}},
        {{FIELD_SHORT, NULL, NULL, "5"}, {FIELD_LONG, NULL, NULL, "+5"}},
        {{FIELD_INT, NULL, "-9", "-9"}, {FIELD_INT, NULL, NULL, ""}},
        {{FIELD_INT, NULL, "-9", ""}, {FIELD_INT, NULL, "-8", "-8"}},
        {{FIELD_INT, NULL, "999999999999", "999999999999"}, {FIELD_INT, NULL, NULL, " "}},
        {{FIELD_INT, "2", "-9", "-9 -9"}, {FIELD_INT, "2", "-9", ""}},
        {{FIELD_FLOAT, NULL, NULL, "0.5"}, {FIELD_DOUBLE, NULL, NULL, "5e-1"}},
        {{FIELD_DOUBLE, NULL, "-99", "-99.0"}, {FIELD_DOUBLE, NULL, NULL, "NaN"}},
        {{FIELD_DOUBLE, NULL, "null", "null"}, {FIELD_DOUBLE, NULL, NULL, ""}},
        {{FIELD_DOUBLE, "2", NULL, "nan NaN"}, {FIELD_DOUBLE, "2", NULL, ""}},
        {{FIELD_DOUBLE_COMPLEX, NULL, NULL, "1 2"}, {FIELD_DOUBLE, "2", NULL, "1 2"}},
        {{FIELD_CHAR, "*", NULL, "abc"}, {FIELD_UNICODE_CHAR, "3", NULL, "abc"}},
        {{FIELD_CHAR, "3", NULL, "longer than three"},
         {FIELD_CHAR, "*", NULL, "longer than three"}},
        {{FIELD_CHAR, "4x3", NULL, "ab  cd      "}, {FIELD_CHAR, "4x3", NULL, "ab  cd"}},
        {{FIELD_UNICODE_CHAR, "2x*", NULL, "αβγ"}, {FIELD_UNICODE_CHAR, "2x*", NULL, "αβγ "}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t one = 1;
        uint64_t other = 2;
        uint64_t nulls;
        struct problem problem = {0};
        assert_int_equal(store(&cases[i].one, &warnings, &one, &nulls, &problem), 0);
        assert_int_equal(store(&cases[i].other, &warnings, &other, &nulls, &problem), 0);
        if (one != other)
            fail_msg("case %zu: '%s' and '%s' differ", i, cases[i].one.text,
                     cases[i].other.text);
    }
}

static void test_texts_of_different_values_differ(void **state) {
    struct warnings warnings = {0};
    static const struct cell cells[] = {
        {FIELD_CHAR, "*", NULL, "a"},       {FIELD_CHAR, "*", NULL, " a"},
        {FIELD_CHAR, "*", NULL, "a "},      {FIELD_CHAR, "*", NULL, " "},
        {FIELD_CHAR, "*", NULL, ""},        {FIELD_INT, "*", NULL, ""},
        {FIELD_INT, "*", NULL, "0"},        {FIELD_INT, "*", NULL, "0 0"},
        {FIELD_INT, "*", NULL, "0 0 0"},    {FIELD_INT, NULL, NULL, ""},
        {FIELD_INT, NULL, NULL, "1"},       {FIELD_INT, NULL, NULL, "-1"},
        {FIELD_DOUBLE, NULL, NULL, "1"},    {FIELD_DOUBLE, NULL, NULL, "0"},
        {FIELD_DOUBLE, NULL, NULL, "-0"},   {FIELD_DOUBLE, NULL, NULL, "Inf"},
        {FIELD_DOUBLE, "2", NULL, "1 NaN"}, {FIELD_DOUBLE, "2", NULL, "NaN 1"},
        {FIELD_CHAR, "2x*", NULL, "abcd"},  {FIELD_CHAR, "2x*", NULL, "ab"},
        {FIELD_CHAR, "2x*", NULL, "a b"},
    };
    enum { CELLS = sizeof(cells) / sizeof(cells[0]) };
    uint64_t hashes[CELLS];
    for (size_t i = 0; i < CELLS; i++) {
        uint64_t nulls;
        struct problem problem = {0};
        assert_int_equal(store(&cells[i], &warnings, &hashes[i], &nulls, &problem), 0);
        for (size_t j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    }
}

static void test_empty_is_null_and_blank_too_but_for_strings(void **state) {
    for (int type = 0; type < FIELD_TYPES; type++) {
        bool string = type == FIELD_CHAR || type == FIELD_UNICODE_CHAR;
        uint64_t hash;
        uint64_t nulls = 0;
        struct problem problem = {0};
        assert_int_equal(store(&(struct cell){(enum field_type)type, "*", NULL, ""}, NULL,
                               &hash, &nulls, &problem),
                         0);
        assert_true(nulls == 1);
        assert_int_equal(store(&(struct cell){(enum field_type)type, "*", NULL, " \n"}, NULL,
                               &hash, &nulls, &problem),
                         0);
        assert_true(nulls == !string);
    }
}

static void test_what_is_no_value_is_told_with_line_and_column(void **state) {
    static const struct {
        struct cell cell;
        const char *words;
    } cases[] = {
        {{FIELD_BOOLEAN, NULL, NULL, "Yes"}, "'Yes' in column 'c' is no boolean"},
        {{FIELD_BOOLEAN, NULL, NULL, "TT"}, "'TT' in column 'c' is no boolean"},
        {{FIELD_BIT, NULL, NULL, "true"}, "'true' in column 'c' is no bit"},
        {{FIELD_UNSIGNED_BYTE, NULL, NULL, "-1"}, "'-1' in column 'c' is beyond the range"},
        {{FIELD_SHORT, NULL, NULL, "32768"}, "is beyond the range of short"},
        {{FIELD_INT, NULL, NULL, "1."}, "'1.' in column 'c' is no int"},
        {{FIELD_INT, NULL, NULL, "NaN"}, "is no int"},
        {{FIELD_INT, "*", NULL, "1,2"}, "column 'c' has commas between items"},
        {{FIELD_INT, NULL, "null", "NULL"}, "'NULL' in column 'c' is no int"},
        {{FIELD_LONG, NULL, NULL, "-9223372036854775809"}, "is beyond the range of long"},
        {{FIELD_FLOAT, NULL, NULL, "1e"}, "'1e' in column 'c' is no float"},
        {{FIELD_DOUBLE, "2", NULL, "1 x"}, "'x' in column 'c' is no double"},
        {{FIELD_DOUBLE, "2", NULL, "1"}, "is 1, arraysize asks for 2"},
        {{FIELD_DOUBLE, "2x*", NULL, "1 2 3"}, "is 3, arraysize asks for a multiple of 2"},
        {{FIELD_BIT, "4", NULL, "10101"}, "is 5, arraysize asks for 4"},
        {{FIELD_BOOLEAN, "2", NULL, "TFT"}, "is 3, arraysize asks for 2"},
        {{FIELD_FLOAT_COMPLEX, NULL, NULL, "1"}, "has 1 numbers where complex ones"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t hash;
        uint64_t nulls;
        struct problem problem = {0};
        assert_int_equal(store(&cases[i].cell, NULL, &hash, &nulls, &problem), -EBADMSG);
        assert_int_equal(problem.lineno, 7);
        if (strstr(problem.text, cases[i].words) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i].words, problem.text);
    }
}

/* The same mistakes where warnings are kept: what is stored, and the warning's number. */
static void test_what_is_no_value_is_null_with_a_warning(void **state) {
    static const struct {
        struct cell wrong;
        struct cell same; /* means what is stored */
        enum warning_number number;
    } cases[] = {
        {{FIELD_BOOLEAN, NULL, NULL, "Yes"}, {FIELD_BOOLEAN, NULL, NULL, ""}, WARNING_LITERAL},
        {{FIELD_INT, NULL, NULL, "1."}, {FIELD_INT, NULL, NULL, ""}, WARNING_LITERAL},
        {{FIELD_BIT, "3", NULL, "1 0 2"}, {FIELD_BIT, "3", NULL, ""}, WARNING_LITERAL},
        {{FIELD_DOUBLE, "2", NULL, "1 x"}, {FIELD_DOUBLE, "2", NULL, "1 NaN"}, WARNING_LITERAL},
        {{FIELD_SHORT, "2", "-9", "1 x"}, {FIELD_SHORT, "2", "-9", "1 -9"}, WARNING_LITERAL},
        {{FIELD_SHORT, NULL, NULL, "0x8000"}, {FIELD_SHORT, NULL, NULL, ""}, WARNING_RANGE},
        {{FIELD_INT, "*", NULL, "1, 2,3"}, {FIELD_INT, "*", NULL, "1 2 3"}, WARNING_COMMAS},
        {{FIELD_DOUBLE, "3", NULL, "1 2"}, {FIELD_DOUBLE, "3", NULL, "1 2 NaN"}, WARNING_ITEMS},
        {{FIELD_DOUBLE, "2x*", NULL, "1 2 3"},
         {FIELD_DOUBLE, "2x*", NULL, "1 2 3 NaN"},
         WARNING_ITEMS},
        {{FIELD_BIT, "3x*", NULL, "1011"}, {FIELD_BIT, "3x*", NULL, "101100"}, WARNING_ITEMS},
        {{FIELD_INT, "2", NULL, "1 2 3"}, {FIELD_INT, "2", NULL, "1 2"}, WARNING_ITEMS},
        {{FIELD_BIT, "4", NULL, "10101"}, {FIELD_BIT, "4", NULL, "1010"}, WARNING_ITEMS},
        {{FIELD_BIT, "12", NULL, "1"}, {FIELD_BIT, "12", NULL, "100000000000"}, WARNING_ITEMS},
        {{FIELD_BOOLEAN, "2", NULL, "TFT"}, {FIELD_BOOLEAN, "2", NULL, "TF"}, WARNING_ITEMS},
        {{FIELD_CHAR, "2", NULL, "abc"}, {FIELD_CHAR, "3", NULL, "abc"}, WARNING_STRING_LENGTH},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct warnings warnings = {0};
        struct problem problem = {0};
        uint64_t wrong;
        uint64_t same;
        uint64_t nulls;
        assert_int_equal(store(&cases[i].wrong, &warnings, &wrong, &nulls, &problem), 0);
        assert_int_equal(store(&cases[i].same, NULL, &same, &nulls, &problem), 0);
        assert_true(wrong == same);
        for (size_t number = 0; number < WARNING_NUMBERS; number++)
            assert_int_equal(warnings.counts[number], number == cases[i].number);
    }
}

static void test_in_large_cells_missing_items_are_an_error(void **state) {
    struct warnings warnings = {0};
    struct problem problem = {0};
    uint64_t hash;
    uint64_t nulls;
    const struct cell fixed = {FIELD_DOUBLE, "1000000000", NULL, "1 2"};
    assert_int_equal(store(&fixed, &warnings, &hash, &nulls, &problem), -EBADMSG);
    const struct cell variable = {FIELD_DOUBLE, "1000000000x*", NULL, "1 2"};
    problem = (struct problem){0};
    assert_int_equal(store(&variable, &warnings, &hash, &nulls, &problem), -EBADMSG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_different_texts_of_one_value_are_one),
        cmocka_unit_test(test_texts_of_different_values_differ),
        cmocka_unit_test(test_empty_is_null_and_blank_too_but_for_strings),
        cmocka_unit_test(test_what_is_no_value_is_told_with_line_and_column),
        cmocka_unit_test(test_what_is_no_value_is_null_with_a_warning),
        cmocka_unit_test(test_in_large_cells_missing_items_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
