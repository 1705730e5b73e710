/* SPDX-License-Identifier: BSD-3-Clause */
/* Column storage: what goes in comes out, tightly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct field field_of(enum field_type type, const char *arraysize) {
    struct field field = {.type = type, .items = 1};
    if (arraysize != NULL)
        assert_int_equal(field_set_arraysize(&field, arraysize, strlen(arraysize)), 0);
    return field;
}

/* Sizes of all chunks, their unused ends and headers too. */
static uint64_t held_bytes(const struct column_bytes *bytes) {
    uint64_t held = 0;
    for (const struct column_chunk *chunk = bytes->first; chunk != NULL; chunk = chunk->next)
        held += sizeof(*chunk) + chunk->capacity;
    return held;
}

static void test_a_large_column_wastes_less_than_two_percent(void **state) {
    struct field field = field_of(FIELD_DOUBLE, "64");
    struct column column;
    double items[64] = {0};
    column_init(&column, &field);
    for (int row = 0; row < 20000; row++) {
        items[0] = row;
        for (int i = 0; i < 64; i++)
            assert_int_equal(column_store(&column, &items[i], sizeof(double)), 0);
        assert_int_equal(column_end_cell(&column), 0);
    }
    assert_true(column_stored_bytes(&column) == 20000 * 512);
    assert_true(held_bytes(&column.cells) < 20000 * 512 * 102 / 100);
    assert_true(held_bytes(&column.ends) == 0 && held_bytes(&column.nulls) == 0);
    column_finish(&column);
}

static void test_a_cleared_column_starts_again_with_little_room(void **state) {
    struct field field = field_of(FIELD_INT, "*");
    struct column column;
    column_init(&column, &field);
    for (int32_t round = 0; round < 3; round++) {
        for (int32_t row = 0; row < 5000; row++) {
            const int32_t item = round * 5000 + row;
            assert_int_equal(column_store(&column, &item, sizeof(item)), 0);
            assert_int_equal(column_end_cell(&column), 0);
        }
        struct column_cursor cursor;
        struct column_cell cell;
        column_cursor_init(&cursor, &column);
        for (int32_t row = 0; row < 5000; row++) {
            uint64_t bytes;
            int32_t item;
            assert_true(column_cursor_next(&cursor, &cell));
            assert_int_equal(cell.bytes, sizeof(item));
            memcpy(&item, column_cursor_take(&cursor, cell.bytes, &bytes), sizeof(item));
            assert_int_equal(item, round * 5000 + row);
        }
        assert_false(column_cursor_next(&cursor, &cell));
        column_clear(&column);
        assert_int_equal(column.rows, 0);
        assert_true(column_stored_bytes(&column) == 0);
        assert_true(held_bytes(&column.cells) < 2048);
    }
    column_finish(&column);
}

static void test_fixed_cells_come_back_in_order_and_whole(void **state) {
    struct field field = field_of(FIELD_SHORT, "300");
    struct column column;
    column_init(&column, &field);
    assert_true(column.fixed);
    for (int row = 0; row < 1000; row++) {
        for (int i = 0; i < 300; i++)
            assert_int_equal(column_store(&column, &(int16_t){(int16_t)(row + i)}, 2), 0);
        assert_int_equal(column_end_cell(&column), 0);
    }
    struct column_cursor cursor;
    struct column_cell cell;
    column_cursor_init(&cursor, &column);
    for (int row = 0; row < 1000; row++) {
        uint64_t bytes;
        assert_true(column_cursor_next(&cursor, &cell));
        assert_true(cell.bytes == 600 && !cell.null);
        const unsigned char *items = column_cursor_take(&cursor, cell.bytes, &bytes);
        assert_true(bytes == 600);
        int16_t last;
        memcpy(&last, items + 598, 2);
        assert_int_equal(last, row + 299);
    }
    assert_false(column_cursor_next(&cursor, &cell));
    column_finish(&column);
}

static void test_variable_cells_may_span_chunks(void **state) {
    struct field field = field_of(FIELD_CHAR, "*");
    struct column column;
    char *text = malloc(300000);
    assert_non_null(text);
    memset(text, 'x', 300000);
    column_init(&column, &field);
    for (uint64_t length = 1; length <= 300000; length *= 7) {
        text[length - 1] = 'E';
        assert_int_equal(column_store_text(&column, text, length), 0);
        assert_int_equal(column_end_cell(&column), 0);
        text[length - 1] = 'x';
        assert_int_equal(column_end_null(&column), 0);
    }
    struct column_cursor cursor;
    struct column_cell cell;
    column_cursor_init(&cursor, &column);
    for (uint64_t length = 1; length <= 300000; length *= 7) {
        assert_true(column_cursor_next(&cursor, &cell));
        assert_true(cell.bytes == length);
        unsigned char last = 0;
        for (uint64_t left = cell.bytes; left > 0;) {
            uint64_t piece;
            const unsigned char *bytes = column_cursor_take(&cursor, left, &piece);
            assert_true(piece > 0 && piece <= left);
            last = bytes[piece - 1];
            left -= piece;
        }
        assert_int_equal(last, 'E');
        assert_true(column_cursor_next(&cursor, &cell));
        assert_true(cell.bytes == 0);
    }
    assert_false(column_cursor_next(&cursor, &cell));
    column_finish(&column);
    free(text);
}

static void test_null_bits_are_exact_and_only_where_needed(void **state) {
    struct field plain = field_of(FIELD_INT, NULL);
    struct field magic = field_of(FIELD_INT, NULL);
    struct field real = field_of(FIELD_DOUBLE, NULL);
    magic.has_null = true;
    magic.null_integer = -9;
    struct column columns[3];
    column_init(&columns[0], &plain);
    column_init(&columns[1], &magic);
    column_init(&columns[2], &real);
    /* More rows than a chunk of null bits holds, the first null late. */
    for (int row = 0; row < 30000; row++) {
        bool null = row == 20001 || row % 10007 == 10006;
        for (int i = 0; i < 3; i++) {
            if (null) {
                assert_int_equal(column_end_null(&columns[i]), 0);
                continue;
            }
            double value = 0;
            assert_int_equal(column_store(&columns[i], &value, i == 2 ? 8 : 4), 0);
            assert_int_equal(column_end_cell(&columns[i]), 0);
        }
    }
    assert_true(columns[0].null_cells == 3);
    assert_true(columns[0].nulls.total == 20013 / 8 + 1);
    assert_true(columns[1].nulls.total == 0 && columns[2].nulls.total == 0);
    struct column_cursor cursors[3];
    struct column_cell cell;
    for (int i = 0; i < 3; i++)
        column_cursor_init(&cursors[i], &columns[i]);
    for (int row = 0; row < 30000; row++) {
        bool null = row == 20001 || row % 10007 == 10006;
        uint64_t bytes;
        int32_t integer;
        double value;
        assert_true(column_cursor_next(&cursors[0], &cell));
        assert_int_equal(cell.null, null);
        assert_true(column_cursor_next(&cursors[1], &cell));
        memcpy(&integer, column_cursor_take(&cursors[1], 4, &bytes), 4);
        assert_int_equal(integer, null ? -9 : 0);
        assert_true(column_cursor_next(&cursors[2], &cell));
        memcpy(&value, column_cursor_take(&cursors[2], 8, &bytes), 8);
        assert_true(isnan(value) == null);
    }
    for (int i = 0; i < 3; i++)
        column_finish(&columns[i]);
}

static void test_every_null_cell_can_be_told_from_one_that_looks_like_it(void **state) {
    const struct field fields[] = {field_of(FIELD_DOUBLE, NULL), field_of(FIELD_CHAR, "*"),
                                   field_of(FIELD_SHORT, "*")};
    for (int i = 0; i < 3; i++) {
        struct column column;
        column_init(&column, &fields[i]);
        column.marks_nulls = true;
        double nan = (double)NAN;
        for (int row = 0; row < 100; row++) {
            if (row % 3 == 0)
                assert_int_equal(column_end_null(&column), 0);
            else if (i == 0)
                assert_true(column_store(&column, &nan, 8) == 0 &&
                            column_end_cell(&column) == 0);
            else
                assert_int_equal(column_end_cell(&column), 0);
        }
        struct column_cursor cursor;
        struct column_cell cell;
        column_cursor_init(&cursor, &column);
        for (int row = 0; row < 100; row++) {
            uint64_t bytes;
            assert_true(column_cursor_next(&cursor, &cell));
            assert_int_equal(cell.null, row % 3 == 0);
            assert_true(cell.bytes == 0 || column_cursor_take(&cursor, 8, &bytes) != NULL);
        }
        column_finish(&column);
    }
}

static void test_variable_bits_keep_their_number(void **state) {
    struct field field = field_of(FIELD_BIT, "*");
    struct column column;
    column_init(&column, &field);
    for (uint64_t bits = 0; bits < 40; bits++) {
        for (uint64_t byte = 0; byte < (bits + 7) / 8; byte++)
            assert_int_equal(column_store(&column, "\x55", 1), 0);
        column_count_bits(&column, bits);
        assert_int_equal(column_end_cell(&column), 0);
    }
    struct column_cursor cursor;
    struct column_cell cell;
    column_cursor_init(&cursor, &column);
    for (uint64_t bits = 0; bits < 40; bits++) {
        assert_true(column_cursor_next(&cursor, &cell));
        assert_true(cell.bits == bits && cell.bytes == (bits + 7) / 8);
    }
    column_finish(&column);
}

static void test_a_null_cell_of_a_huge_field_takes_no_room(void **state) {
    struct field field = field_of(FIELD_DOUBLE_COMPLEX, "2147483647");
    struct column column;
    column_init(&column, &field);
    assert_false(column.fixed);
    for (int row = 0; row < 1000; row++)
        assert_int_equal(column_end_null(&column), 0);
    assert_true(column_stored_bytes(&column) == 8000);
    column_finish(&column);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_column_wastes_less_than_two_percent),
        cmocka_unit_test(test_a_cleared_column_starts_again_with_little_room),
        cmocka_unit_test(test_fixed_cells_come_back_in_order_and_whole),
        cmocka_unit_test(test_variable_cells_may_span_chunks),
        cmocka_unit_test(test_null_bits_are_exact_and_only_where_needed),
        cmocka_unit_test(test_every_null_cell_can_be_told_from_one_that_looks_like_it),
        cmocka_unit_test(test_variable_bits_keep_their_number),
        cmocka_unit_test(test_a_null_cell_of_a_huge_field_takes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
