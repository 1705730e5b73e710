/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of BINARY and BINARY2, cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "binary_rows.h"
#include "checksum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 6

/* i int, s short[*], c char[*], u unicodeChar[3], b bit[10], z doubleComplex */
static const char *const arraysizes[COLUMNS] = {NULL, "*", "*", "3", "10", NULL};
static const enum field_type types[COLUMNS] = {
    FIELD_INT, FIELD_SHORT, FIELD_CHAR, FIELD_UNICODE_CHAR, FIELD_BIT, FIELD_DOUBLE_COMPLEX};

struct table_of_rows {
    struct field fields[COLUMNS];
    struct column columns[COLUMNS];
};

static void make_table(struct table_of_rows *table) {
    memset(table, 0, sizeof(*table));
    for (size_t i = 0; i < COLUMNS; i++) {
        table->fields[i] =
            (struct field){.type = types[i], .items = 1, .name = (char *)(uintptr_t) "c"};
        if (arraysizes[i] != NULL)
            assert_int_equal(
                field_set_arraysize(&table->fields[i], arraysizes[i], strlen(arraysizes[i])),
                0);
        column_init(&table->columns[i], &table->fields[i]);
    }
}

static void free_table(struct table_of_rows *table) {
    for (size_t i = 0; i < COLUMNS; i++)
        column_finish(&table->columns[i]);
}

// clang-format off
static const unsigned char row[] = {
    0, 0, 1, 2,
    0, 0, 0, 2, 0xff, 0xfe, 0, 7,
    0, 0, 0, 5, 'a', 'b', 'c', 'd', 'e',
    0, 'x', 0x20, 0xac, 0, 0,
    0xff, 0xff,
    0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0,
};
// clang-format on

/* Push @bytes in pieces of @step and end. Returns the first error. */
static int push(struct table_of_rows *table, bool with_flags, const unsigned char *bytes,
                size_t length, size_t step, uint64_t *ret_rows, struct problem *problem) {
    struct binary_rows rows;
    assert_int_equal(binary_rows_init(&rows, table->columns, COLUMNS, with_flags, 7, problem),
                     0);
    int r = 0;
    for (size_t at = 0; r == 0 && at < length; at += step) {
        size_t piece = length - at < step ? length - at : step;
        /* A copy of its own, so that a sanitizer sees any step beyond it. */
        unsigned char *copy = malloc(piece);
        assert_non_null(copy);
        memcpy(copy, bytes + at, piece);
        r = binary_rows_push(&rows, copy, piece);
        free(copy);
    }
    if (r == 0)
        r = binary_rows_end(&rows);
    *ret_rows = rows.rows;
    binary_rows_finish(&rows);
    return r;
}

static void test_values_are_the_bytes_turned(void **state) {
    struct table_of_rows table;
    struct problem problem = {0};
    uint64_t rows;
    uint64_t bytes;
    make_table(&table);
    assert_int_equal(push(&table, false, row, sizeof(row), sizeof(row), &rows, &problem), 0);
    assert_true(rows == 1);
    struct column_cursor cursor;
    struct column_cell cell;

    column_cursor_init(&cursor, &table.columns[0]);
    assert_true(column_cursor_next(&cursor, &cell));
    assert_memory_equal(column_cursor_take(&cursor, 4, &bytes), &(int32_t){258}, 4);
    column_cursor_init(&cursor, &table.columns[1]);
    assert_true(column_cursor_next(&cursor, &cell));
    assert_memory_equal(column_cursor_take(&cursor, 4, &bytes), ((int16_t[]){-2, 7}), 4);
    column_cursor_init(&cursor, &table.columns[2]);
    assert_true(column_cursor_next(&cursor, &cell));
    assert_memory_equal(column_cursor_take(&cursor, 5, &bytes), "abcde", 5);
    column_cursor_init(&cursor, &table.columns[3]);
    assert_true(column_cursor_next(&cursor, &cell));
    assert_true(cell.bytes == 4);
    assert_memory_equal(column_cursor_take(&cursor, 4, &bytes), "x€", 4);
    column_cursor_init(&cursor, &table.columns[4]);
    assert_true(column_cursor_next(&cursor, &cell));
    /* The padding is cleared, whatever the file had there. */
    assert_memory_equal(column_cursor_take(&cursor, 2, &bytes), "\xff\xc0", 2);
    column_cursor_init(&cursor, &table.columns[5]);
    assert_true(column_cursor_next(&cursor, &cell));
    assert_memory_equal(column_cursor_take(&cursor, 16, &bytes), ((double[]){1, -1}), 16);
    free_table(&table);
}

static void test_pieces_of_any_size_give_the_same_rows(void **state) {
    unsigned char stream[3 * sizeof(row)];
    for (size_t i = 0; i < 3; i++)
        memcpy(stream + i * sizeof(row), row, sizeof(row));
    uint64_t first = 0;
    for (size_t step = 1; step <= sizeof(stream); step++) {
        struct table_of_rows table;
        struct problem problem = {0};
        uint64_t rows;
        make_table(&table);
        assert_int_equal(push(&table, false, stream, sizeof(stream), step, &rows, &problem), 0);
        assert_true(rows == 3);
        uint64_t hash = checksum_columns(table.columns, COLUMNS, rows);
        first = step == 1 ? hash : first;
        assert_true(hash == first);
        free_table(&table);
    }
}

static void test_a_flagged_cell_is_null_and_its_bytes_are_skipped(void **state) {
    for (size_t flagged = 0; flagged < COLUMNS; flagged++) {
        unsigned char stream[1 + sizeof(row)];
        stream[0] = (unsigned char)(0x80 >> flagged);
        memcpy(stream + 1, row, sizeof(row));
        for (size_t step = 1; step <= sizeof(stream); step++) {
            struct table_of_rows table;
            struct problem problem = {0};
            uint64_t rows;
            make_table(&table);
            assert_int_equal(push(&table, true, stream, sizeof(stream), step, &rows, &problem),
                             0);
            assert_true(rows == 1);
            for (size_t i = 0; i < COLUMNS; i++)
                assert_true(table.columns[i].null_cells == (i == flagged));
            free_table(&table);
        }
    }
}

static void test_every_cut_but_between_rows_is_an_error(void **state) {
    unsigned char stream[2 * (1 + sizeof(row))] = {0};
    for (int with_flags = 0; with_flags < 2; with_flags++) {
        size_t row_bytes = sizeof(row) + (size_t)with_flags;
        for (size_t i = 0; i < 2; i++)
            memcpy(stream + i * row_bytes + with_flags, row, sizeof(row));
        if (with_flags)
            stream[row_bytes] = 0;
        for (size_t length = 0; length <= 2 * row_bytes; length++) {
            struct table_of_rows table;
            struct problem problem = {0};
            uint64_t rows;
            make_table(&table);
            int r = push(&table, with_flags, stream, length, 5, &rows, &problem);
            assert_int_equal(r, length % row_bytes == 0 ? 0 : -EBADMSG);
            assert_true(rows == length / row_bytes);
            if (r < 0) {
                assert_int_equal(problem.lineno, 7);
                assert_non_null(strstr(problem.text, "the stream ends in row "));
            }
            free_table(&table);
        }
    }
}

static void test_a_count_is_only_a_claim(void **state) {
    static const struct {
        unsigned char count[4];
        const char *words;
    } cases[] = {
        {{0x7f, 0xff, 0xff, 0xff}, "an array of 2147483647 items lacks 4294967292 bytes"},
        {{0x80, 0, 0, 0}, "a negative array length (0x80000000)"},
        {{0xff, 0xff, 0xff, 0xff}, "a negative array length (0xFFFFFFFF)"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char stream[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 5};
        memcpy(stream + 4, cases[i].count, 4);
        struct table_of_rows table;
        struct problem problem = {0};
        uint64_t rows;
        make_table(&table);
        assert_int_equal(push(&table, false, stream, sizeof(stream), 3, &rows, &problem),
                         -EBADMSG);
        assert_non_null(strstr(problem.text, cases[i].words));
        assert_true(column_stored_bytes(&table.columns[1]) <= 2);
        free_table(&table);
    }
}

static void test_no_bytes_are_no_rows_even_without_columns(void **state) {
    struct binary_rows rows;
    struct problem problem = {0};
    assert_int_equal(binary_rows_init(&rows, NULL, 0, true, 7, &problem), 0);
    assert_int_equal(binary_rows_end(&rows), 0);
    assert_true(rows.rows == 0);
    assert_int_equal(binary_rows_push(&rows, (const unsigned char *)"x", 1), -EBADMSG);
    assert_non_null(strstr(problem.text, "FIELDs take none"));
    binary_rows_finish(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_the_bytes_turned),
        cmocka_unit_test(test_pieces_of_any_size_give_the_same_rows),
        cmocka_unit_test(test_a_flagged_cell_is_null_and_its_bytes_are_skipped),
        cmocka_unit_test(test_every_cut_but_between_rows_is_an_error),
        cmocka_unit_test(test_a_count_is_only_a_claim),
        cmocka_unit_test(test_no_bytes_are_no_rows_even_without_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
