/* SPDX-License-Identifier: BSD-3-Clause */
/* FIELD attributes: datatype, arraysize, VALUES null. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_every_form_of_arraysize(void **state) {
    static const struct {
        enum field_type type;
        const char *text;
        bool variable;
        uint64_t items;
        uint64_t string_items;
    } cases[] = {
        {FIELD_INT, "", false, 1, 0},
        {FIELD_INT, "1", false, 1, 0},
        {FIELD_INT, "0", false, 0, 0},
        {FIELD_INT, "64", false, 64, 0},
        {FIELD_INT, "*", true, 1, 0},
        {FIELD_INT, "64*", true, 1, 0},
        {FIELD_INT, "2x3", false, 6, 0},
        {FIELD_INT, "2x3x*", true, 6, 0},
        {FIELD_INT, "2x3x5*", true, 6, 0},
        {FIELD_INT, " 2x3\n", false, 6, 0},
        {FIELD_INT, "2147483647", false, 2147483647, 0},
        {FIELD_CHAR, "8", false, 8, 0},
        {FIELD_CHAR, "*", true, 1, 0},
        {FIELD_CHAR, "8*", true, 1, 0},
        {FIELD_CHAR, "8x4", false, 32, 8},
        {FIELD_UNICODE_CHAR, "8x*", true, 8, 8},
        {FIELD_CHAR, "8x4x2", false, 64, 8},
        {FIELD_CHAR, "8x4x2*", true, 32, 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct field field = {.type = cases[i].type};
        assert_int_equal(field_set_arraysize(&field, cases[i].text, strlen(cases[i].text)), 0);
        assert_int_equal(field.variable, cases[i].variable);
        assert_true(field.items == cases[i].items);
        assert_true(field.string_items == cases[i].string_items);
    }
}

static void test_arraysize_without_meaning_is_refused_and_changes_nothing(void **state) {
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"x", -EINVAL},          {"3x", -EINVAL},          {"x3", -EINVAL},
        {"*x3", -EINVAL},        {"**", -EINVAL},          {"3**", -EINVAL},
        {"3 x4", -EINVAL},       {"-1", -EINVAL},          {"1.5", -EINVAL},
        {"3s,", -EINVAL},        {"3,4", -EINVAL},         {"0x*", -EINVAL},
        {"2147483648", -ERANGE}, {"65536x65536", -ERANGE}, {"99999999999999999999999", -ERANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct field field = {.type = FIELD_INT, .items = 42};
        assert_int_equal(field_set_arraysize(&field, cases[i].text, strlen(cases[i].text)),
                         cases[i].error);
        assert_true(field.items == 42);
    }
}

static void test_datatypes_have_the_sizes_of_the_standard(void **state) {
    static const struct {
        const char *name;
        uint64_t bytes_of_10;
    } cases[FIELD_TYPES] = {
        {"boolean", 10}, {"bit", 2},     {"unsignedByte", 10}, {"short", 20},
        {"int", 40},     {"long", 80},   {"char", 10},         {"unicodeChar", 20},
        {"float", 40},   {"double", 80}, {"floatComplex", 80}, {"doubleComplex", 160},
    };
    for (size_t i = 0; i < FIELD_TYPES; i++) {
        struct field field = {0};
        assert_int_equal(field_type_find(cases[i].name, strlen(cases[i].name), &field.type), 0);
        assert_string_equal(field_type_name(field.type), cases[i].name);
        assert_true(field_wire_bytes(&field, 10) == cases[i].bytes_of_10);
    }
    enum field_type type = FIELD_BIT;
    assert_int_equal(field_type_find("String", 6, &type), -EINVAL);
    assert_int_equal(field_type_find("in", 2, &type), -EINVAL);
    assert_int_equal(field_type_find("", 0, &type), -EINVAL);
    assert_int_equal(type, FIELD_BIT);
}

static void test_null_is_a_number_only_where_the_datatype_holds_it(void **state) {
    static const struct {
        enum field_type type;
        const char *text;
        bool has_null;
        int64_t integer;
    } cases[] = {
        {FIELD_UNSIGNED_BYTE, "255", true, 255},
        {FIELD_UNSIGNED_BYTE, "-1", false, 0},
        {FIELD_SHORT, " -32768 ", true, -32768},
        {FIELD_SHORT, "32768", false, 0},
        {FIELD_INT, "0x7fffffff", true, 2147483647},
        {FIELD_INT, "--", false, 0},
        {FIELD_LONG, "-9223372036854775808", true, INT64_MIN},
        {FIELD_CHAR, "x", false, 0},
        {FIELD_BIT, "0", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct field field = {.type = cases[i].type};
        assert_int_equal(field_set_null(&field, cases[i].text, strlen(cases[i].text)), 0);
        assert_int_equal(field.has_null, cases[i].has_null);
        if (cases[i].has_null)
            assert_true(field.null_integer == cases[i].integer);
        assert_non_null(field.null_text);
        field_finish(&field);
    }
    struct field field = {.type = FIELD_INT};
    assert_int_equal(field_set_null(&field, "  ", 2), 0);
    assert_null(field.null_text);
}

static void test_a_copy_outlives_its_origin(void **state) {
    struct field field = {.type = FIELD_DOUBLE, .items = 3, .name = strdup("n")};
    struct field copy;
    assert_int_equal(field_set_null(&field, "-99.5", 5), 0);
    assert_int_equal(field_copy(&field, &copy), 0);
    field_finish(&field);
    assert_string_equal(copy.name, "n");
    assert_string_equal(copy.null_text, "-99.5");
    assert_true(copy.has_null && copy.null_real == -99.5 && copy.items == 3);
    field_finish(&copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_arraysize),
        cmocka_unit_test(test_arraysize_without_meaning_is_refused_and_changes_nothing),
        cmocka_unit_test(test_datatypes_have_the_sizes_of_the_standard),
        cmocka_unit_test(test_null_is_a_number_only_where_the_datatype_holds_it),
        cmocka_unit_test(test_a_copy_outlives_its_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
