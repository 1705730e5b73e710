/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings: NULs, padding, UCS-2; what is stored from text, bytes and units is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "string_cell.h"

#include <string.h>

enum form {
    TEXT,
    BYTES,
    UNITS,
};

/* Store @input in pieces of @step and compare what is in the column then. */
static void check(enum field_type type, const char *arraysize, enum form form,
                  const char *input, size_t length, size_t step, const char *wanted,
                  size_t wanted_bytes) {
    struct field field = {.type = type, .items = 1};
    struct column column;
    struct string_cell cell;
    assert_int_equal(field_set_arraysize(&field, arraysize, strlen(arraysize)), 0);
    column_init(&column, &field);
    string_cell_begin(&cell, &column);
    for (size_t at = 0; at < length; at += step) {
        size_t piece = length - at < step ? length - at : step;
        const unsigned char *bytes = (const unsigned char *)input + at;
        int r = form == TEXT    ? string_cell_text(&cell, input + at, piece)
                : form == BYTES ? string_cell_bytes(&cell, bytes, piece)
                                : string_cell_units(&cell, bytes, piece);
        assert_int_equal(r, 0);
    }
    assert_int_equal(string_cell_end(&cell), 0);
    assert_int_equal(column.cells.total, wanted_bytes);
    if (wanted_bytes > 0)
        assert_memory_equal(column.cells.first->bytes, wanted, wanted_bytes);
    column_finish(&column);
}

#define CHECK(type, arraysize, form, input, step, wanted)                                      \
    check(type, arraysize, form, input, sizeof(input) - 1, step, wanted, sizeof(wanted) - 1)

static void test_a_string_ends_at_its_nul(void **state) {
    for (size_t step = 1; step < 10; step++) {
        CHECK(FIELD_CHAR, "8", BYTES, "abc\0\0\0\0\0", step, "abc");
        CHECK(FIELD_CHAR, "8", BYTES, "abc\0defg", step, "abc");
        CHECK(FIELD_CHAR, "*", BYTES, "\0abc", step, "");
        CHECK(FIELD_CHAR, "8", BYTES, " a b    ", step, " a b    ");
        CHECK(FIELD_UNICODE_CHAR, "4", UNITS, "\0a\0\0\0b\0c", step * 2, "a");
    }
    CHECK(FIELD_CHAR, "8", TEXT, " a b ", 100, " a b ");
}

static void test_in_arrays_each_string_ends_and_padding_goes(void **state) {
    for (size_t step = 1; step < 14; step++) {
        CHECK(FIELD_CHAR, "4x3", BYTES, "ab\0xabcd c  ", step, "ab\0abcd\0 c\0");
        CHECK(FIELD_CHAR, "4x3", BYTES, "\0\0\0\0    a b ", step, "\0\0a b\0");
        CHECK(FIELD_CHAR, "4x*", BYTES, "abcdef", step, "abcd\0ef\0");
        CHECK(FIELD_UNICODE_CHAR, "2x2", UNITS, "\0a\0\0\x03\xb1\0 ", step * 2, "a\0α\0");
    }
    CHECK(FIELD_CHAR, "4x3", TEXT, "ab  cd", 100, "ab\0cd\0");
    CHECK(FIELD_CHAR, "2x3", TEXT, "é1", 100,
          "é\0"
          "1\0");
    CHECK(FIELD_UNICODE_CHAR, "2x3", TEXT, "é1你", 100, "é1\0你\0");
    CHECK(FIELD_UNICODE_CHAR, "2x3", TEXT, "😀a", 100, "😀\0a\0");
}

static void test_units_become_utf_8(void **state) {
    for (size_t step = 2; step < 14; step += 2) {
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\0A\0\xe9\x20\xac\xff\xfd", step,
              "Aé€\xef\xbf\xbd");
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\xd8\x3d\xde\0\0a", step, "😀a");
        /* Halves without their other half are kept as they are. */
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\xd8\x3d\0a", step,
              "\xed\xa0\xbd"
              "a");
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\xde\0\0a", step,
              "\xed\xb8\x80"
              "a");
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\0a\xd8\x3d", step, "a\xed\xa0\xbd");
        CHECK(FIELD_UNICODE_CHAR, "*", UNITS, "\xd8\x3d\xd8\x3d\xde\0", step,
              "\xed\xa0\xbd"
              "😀");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_string_ends_at_its_nul),
        cmocka_unit_test(test_in_arrays_each_string_ends_and_padding_goes),
        cmocka_unit_test(test_units_become_utf_8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
