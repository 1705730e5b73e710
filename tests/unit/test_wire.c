/* SPDX-License-Identifier: BSD-3-Clause */
/* Big-endian bytes: the same wherever in the buffer a cell begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "columns.h"
#include "wire.h"

#include <string.h>

struct sink {
    unsigned char bytes[3 * WIRE_BYTES];
    size_t used;
};

static void drain(struct wire *wire) {
    struct sink *sink = wire->context;
    assert_true(sink->used + wire->used <= sizeof(sink->bytes));
    memcpy(sink->bytes + sink->used, wire->raw, wire->used);
    sink->used += wire->used;
}

/* Items of every width, put at every place around the end of the buffer. */
static void test_items_across_the_end_of_the_buffer_are_whole(void **state) {
    static const struct {
        enum field_type type;
        uint64_t count;
        const char *items;
        const char *wire;
        size_t bytes;
    } cases[] = {
        {FIELD_SHORT, 2, "\x01\x02\x03\x04", "\x02\x01\x04\x03", 4},
        {FIELD_INT, 1, "\x01\x02\x03\x04", "\x04\x03\x02\x01", 4},
        {FIELD_DOUBLE, 1, "\x01\x02\x03\x04\x05\x06\x07\x08",
         "\x08\x07\x06\x05\x04\x03\x02\x01", 8},
        {FIELD_FLOAT_COMPLEX, 1, "\x01\x02\x03\x04\x05\x06\x07\x08",
         "\x04\x03\x02\x01\x08\x07\x06\x05", 8},
        {FIELD_BOOLEAN, 3, "\x00\x01\x02", "FT?", 3},
        {FIELD_BIT, 9, "\xff\x80", "\xff\x80", 2},
        {FIELD_UNSIGNED_BYTE, 2, "\x01\xff", "\x01\xff", 2},
    };
    static struct wire wire;
    static struct sink sink;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t before = WIRE_BYTES - 20; before <= WIRE_BYTES; before++) {
            sink.used = 0;
            wire_init(&wire, drain, &sink);
            wire_put_zeros(&wire, before);
            wire_put_items(&wire, cases[i].type, cases[i].items, cases[i].count);
            wire_put(&wire, "end", 3);
            wire_flush(&wire);
            assert_true(wire.total == before + cases[i].bytes + 3);
            assert_int_equal(sink.used, wire.total);
            assert_memory_equal(sink.bytes + before, cases[i].wire, cases[i].bytes);
            assert_memory_equal(sink.bytes + before + cases[i].bytes, "end", 3);
        }
    }
}

static void test_strings_fill_their_place_or_are_cut(void **state) {
    static const struct {
        enum field_type type;
        uint64_t string_items;
        uint64_t units;
        const char *text;
        size_t length;
        const char *wire;
        size_t bytes;
    } cases[] = {
        {FIELD_CHAR, 0, 4, "ab", 2, "ab\0\0", 4},
        {FIELD_CHAR, 0, 2, "abc", 3, "ab", 2},
        {FIELD_CHAR, 3, 6, "ab\0c\0", 5, "ab\0c\0\0", 6},
        {FIELD_UNICODE_CHAR, 0, 2, "a\xc3\xa9", 3, "\0a\0\xe9", 4},
        {FIELD_UNICODE_CHAR, 0, 3, "\xe4\xbd\xa0", 3, "\x4f\x60\0\0\0\0", 6},
        /* A pair that does not fit is left out whole. */
        {FIELD_UNICODE_CHAR, 0, 2, "a\xf0\x9f\x98\x80", 5, "\0a\0\0", 4},
        {FIELD_UNICODE_CHAR, 0, 2, "\xf0\x9f\x98\x80", 4, "\xd8\x3d\xde\x00", 4},
        {FIELD_UNICODE_CHAR, 2, 4, "a\0\xc3\xa9\0", 5, "\0a\0\0\0\xe9\0\0", 8},
    };
    static struct wire wire;
    static struct sink sink;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct field field = {.type = cases[i].type,
                                    .string_items = cases[i].string_items};
        const struct wire_cell cell = {.items = cases[i].text, .count = cases[i].length};
        for (size_t before = WIRE_BYTES - 9; before <= WIRE_BYTES; before++) {
            sink.used = 0;
            wire_init(&wire, drain, &sink);
            wire_put_zeros(&wire, before);
            wire_put_strings(&wire, &field, &cell, cases[i].units);
            wire_flush(&wire);
            assert_int_equal(sink.used, before + cases[i].bytes);
            assert_memory_equal(sink.bytes + before, cases[i].wire, cases[i].bytes);
        }
    }
}

static void test_units_are_counted_as_they_are_put(void **state) {
    const struct field plain = {.type = FIELD_UNICODE_CHAR};
    const struct field array = {.type = FIELD_CHAR, .string_items = 5};
    const struct wire_cell text = {.items = "a\xc3\xa9\xf0\x9f\x98\x80", .count = 7};
    const struct wire_cell strings = {.items = "a\0\0bcd\0", .count = 7};
    const struct wire_cell null = {.null = true};
    assert_int_equal(wire_string_units(&plain, &text), 4);
    assert_int_equal(wire_string_units(&array, &strings), 15);
    assert_int_equal(wire_string_units(&array, &null), 0);
}

static void test_null_items_are_those_of_the_datatype(void **state) {
    static struct wire wire;
    static struct sink sink;
    const struct field fields[] = {{.type = FIELD_DOUBLE},
                                   {.type = FIELD_SHORT, .null_integer = -9},
                                   {.type = FIELD_BOOLEAN},
                                   {.type = FIELD_BIT}};
    sink.used = 0;
    wire_init(&wire, drain, &sink);
    wire.boolean_null = '\0';
    for (size_t i = 0; i < 4; i++)
        wire_put_nulls(&wire, &fields[i], i == 1 ? 2 : 1);
    wire_flush(&wire);
    assert_int_equal(sink.used, 8 + 4 + 1 + 1);
    assert_memory_equal(sink.bytes, "\x7f\xf8\0\0\0\0\0\0\xff\xf7\xff\xf7\0\0", 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_across_the_end_of_the_buffer_are_whole),
        cmocka_unit_test(test_strings_fill_their_place_or_are_cut),
        cmocka_unit_test(test_units_are_counted_as_they_are_put),
        cmocka_unit_test(test_null_items_are_those_of_the_datatype),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
