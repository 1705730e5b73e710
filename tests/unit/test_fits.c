/* SPDX-License-Identifier: BSD-3-Clause */
/* FITS that cfitsio wrote, and FITS that somebody damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fits_read.h"

#include <errno.h>
#include <fitsio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A FITS file in memory with one binary table, made by cfitsio itself. */
struct made {
    void *bytes;
    size_t length;
    fitsfile *file;
    int status;
};

static void make(struct made *made, int columns, const char *const *forms, LONGLONG rows) {
    static const char *const names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    made->status = 0;
    made->length = 2880;
    made->bytes = malloc(made->length);
    fits_create_memfile(&made->file, &made->bytes, &made->length, 2880, realloc, &made->status);
    fits_create_img(made->file, BYTE_IMG, 0, NULL, &made->status);
    fits_create_tbl(made->file, BINARY_TBL, rows, columns, (char **)(uintptr_t)names,
                    (char **)(uintptr_t)forms, NULL, NULL, &made->status);
    assert_int_equal(made->status, 0);
}

static void finish(struct made *made) {
    fits_close_file(made->file, &made->status);
    assert_int_equal(made->status, 0);
}

/* A table with these fields, read from the file. */
struct given {
    struct votable votable;
    struct table *table;
    struct problem problem;
};

static int read_fits(struct made *made, const char *const *types, size_t count,
                     struct given *ret_given) {
    static const struct consumer keeps;
    memset(ret_given, 0, sizeof(*ret_given));
    ret_given->table = votable_add_table(&ret_given->votable);
    ret_given->table->row_limit = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct field *field = table_add_field(ret_given->table);
        const char *bracket = strchr(types[i], '[');
        size_t length = bracket != NULL ? (size_t)(bracket - types[i]) : strlen(types[i]);
        field->name = strdup("column");
        field->items = 1;
        assert_int_equal(field_type_find(types[i], length, &field->type), 0);
        if (bracket != NULL)
            assert_int_equal(field_set_arraysize(field, bracket + 1, strlen(bracket) - 2), 0);
    }
    assert_int_equal(table_begin_data(ret_given->table, SERIALIZATION_FITS), 0);
    for (size_t i = 0; i < count; i++)
        ret_given->table->columns[i].marks_nulls = true;
    const struct fits_source source = {
        .bytes = made->bytes, .length = made->length, .lineno = 7};
    return fits_read_table(&source, ret_given->table, &keeps, &ret_given->problem);
}

static const void *cell_of(const struct column *column, uint64_t row,
                           struct column_cell *ret_cell, struct column_scratch *scratch) {
    struct column_cursor cursor;
    const void *bytes = NULL;
    column_cursor_init(&cursor, column);
    for (uint64_t i = 0; i <= row; i++) {
        assert_true(column_cursor_next(&cursor, ret_cell));
        bytes = column_cursor_whole(&cursor, ret_cell, scratch);
    }
    return bytes;
}

static void test_scaled_columns_are_their_values(void **state) {
    const char *const forms[] = {"I", "I", "B", "J", "E"};
    static const char *const types[] = {"int", "double", "short", "long", "double"};
    struct made made;
    make(&made, 5, forms, 2);
    double zero = 32768, scale = 0.5, low = -128, one = 1;
    fits_write_key(made.file, TDOUBLE, "TZERO1", &zero, NULL, &made.status);
    fits_write_key(made.file, TDOUBLE, "TSCAL1", &one, NULL, &made.status);
    fits_write_key(made.file, TDOUBLE, "TSCAL2", &scale, NULL, &made.status);
    fits_write_key(made.file, TDOUBLE, "TZERO3", &low, NULL, &made.status);
    fits_set_hdustruc(made.file, &made.status);
    int values[2] = {65535, 0};
    double halves[2] = {1.5, -2.5};
    short signed_bytes[2] = {-128, 127};
    float reals[2] = {0.25F, -8};
    fits_write_col(made.file, TINT, 1, 1, 1, 2, values, &made.status);
    fits_write_col(made.file, TDOUBLE, 2, 1, 1, 2, halves, &made.status);
    fits_write_col(made.file, TSHORT, 3, 1, 1, 2, signed_bytes, &made.status);
    fits_write_col(made.file, TINT, 4, 1, 1, 2, values, &made.status);
    fits_write_col(made.file, TFLOAT, 5, 1, 1, 2, reals, &made.status);
    finish(&made);

    struct given given;
    struct column_cell cell;
    struct column_scratch scratch = {0};
    assert_int_equal(read_fits(&made, types, 5, &given), 0);
    assert_int_equal(given.table->rows, 2);
    const struct column *columns = given.table->columns;
    for (uint64_t row = 0; row < 2; row++) {
        int64_t wide = values[row];
        double real = (double)reals[row];
        assert_memory_equal(cell_of(&columns[0], row, &cell, &scratch), &values[row], 4);
        assert_memory_equal(cell_of(&columns[1], row, &cell, &scratch), &halves[row], 8);
        assert_memory_equal(cell_of(&columns[2], row, &cell, &scratch), &signed_bytes[row], 2);
        assert_memory_equal(cell_of(&columns[3], row, &cell, &scratch), &wide, 8);
        assert_memory_equal(cell_of(&columns[4], row, &cell, &scratch), &real, 8);
    }
    votable_finish(&given.votable);
    free(made.bytes);
}

static void test_null_is_what_fits_says(void **state) {
    const char *const forms[] = {"I", "L", "D", "4A", "1PE"};
    static const char *const types[] = {"short", "boolean", "double", "char[4]", "float[*]"};
    struct made made;
    make(&made, 5, forms, 2);
    int null = -7;
    fits_write_key(made.file, TINT, "TNULL1", &null, NULL, &made.status);
    fits_set_hdustruc(made.file, &made.status);
    short seven[2] = {-7, 7};
    unsigned char texts[2][4] = {"", "ab"};
    char truth[2] = {1, 1};
    float reals[3] = {1, 2, 3};
    double doubles[2] = {__builtin_nan(""), 1};
    fits_write_col(made.file, TSHORT, 1, 1, 1, 2, seven, &made.status);
    fits_write_col(made.file, TLOGICAL, 2, 1, 1, 2, truth, &made.status);
    fits_write_col_null(made.file, 2, 1, 1, 1, &made.status);
    fits_write_col(made.file, TDOUBLE, 3, 1, 1, 2, doubles, &made.status);
    /* As bytes: cfitsio would write blanks for an empty string. */
    for (LONGLONG row = 1; row <= 2; row++)
        fits_write_tblbytes(made.file, row, 2 + 1 + 8 + 1, 4, texts[row - 1], &made.status);
    fits_write_col(made.file, TFLOAT, 5, 2, 1, 3, reals, &made.status);
    finish(&made);

    struct given given;
    struct column_cell cell;
    struct column_scratch scratch = {0};
    assert_int_equal(read_fits(&made, types, 5, &given), 0);
    for (int i = 0; i < 5; i++) {
        cell_of(&given.table->columns[i], 0, &cell, &scratch);
        assert_true(cell.null);
        cell_of(&given.table->columns[i], 1, &cell, &scratch);
        assert_false(cell.null);
    }
    assert_memory_equal(cell_of(&given.table->columns[4], 1, &cell, &scratch), reals, 12);
    assert_int_equal(cell.bytes, 12);
    votable_finish(&given.votable);
    column_scratch_finish(&scratch);
    free(made.bytes);
}

static void test_what_the_field_cannot_hold_is_refused(void **state) {
    static const struct {
        const char *form;
        const char *type;
        const char *words;
    } cases[] = {
        {"J", "short",
         "row 1 of the FITS table, column 'column', has a value that its datatype "
         "cannot hold, the file is damaged, fetch or write it again"},
        {"D", "float",
         "FIELD 'column' is float, its column in the FITS table has doubles, "
         "correct the FIELD"},
        {"3J", "int",
         "FIELD 'column' is int, its column in the FITS table has 3 items, correct "
         "the FIELD"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made;
        struct given given;
        const char *const forms[] = {cases[i].form};
        int large[3] = {70000, 0, 0};
        make(&made, 1, forms, 1);
        fits_write_col(made.file, TINT, 1, 1, 1, i == 2 ? 3 : 1, large, &made.status);
        finish(&made);
        assert_int_equal(read_fits(&made, &cases[i].type, 1, &given), -EBADMSG);
        assert_string_equal(given.problem.text, cases[i].words);
        assert_int_equal(given.problem.lineno, 7);
        votable_finish(&given.votable);
        free(made.bytes);
    }
}

static void test_an_array_beyond_the_file_is_refused(void **state) {
    const char *const forms[] = {"1PJ"};
    static const char *const types[] = {"int[*]"};
    static const char descriptors[][9] = {
        "\x7f\xff\xff\xff\0\0\0\0", "\0\0\0\1\x7f\xff\xff\xff", "\xff\xff\xff\xff\0\0\0\0"};
    for (size_t i = 0; i < 3; i++) {
        struct made made;
        struct given given;
        int items[2] = {1, 2};
        make(&made, 1, forms, 1);
        fits_write_col(made.file, TINT, 1, 1, 1, 2, items, &made.status);
        finish(&made);
        /* The table's data are the third block. */
        memcpy((char *)made.bytes + 2 * 2880, descriptors[i], 8);
        assert_int_equal(read_fits(&made, types, 1, &given), -EBADMSG);
        assert_non_null(strstr(given.problem.text, "has an array beyond"));
        votable_finish(&given.votable);
        free(made.bytes);
    }
}

/* A cut anywhere is an error or leaves the table whole; never a part of it. */
static void test_a_file_that_is_cut_short_is_refused(void **state) {
    const char *const forms[] = {"1000J"};
    static const char *const types[] = {"int[1000]"};
    struct made made;
    make(&made, 1, forms, 2);
    int items[2000] = {0};
    fits_write_col(made.file, TINT, 1, 1, 1, 2000, items, &made.status);
    finish(&made);
    size_t whole = made.length;
    for (size_t length = 0; length < whole; length += 97) {
        struct given given;
        made.length = length;
        int r = read_fits(&made, types, 1, &given);
        if (length >= 2 * 2880 + 8000)
            assert_true(r == 0 && given.table->rows == 2);
        else
            assert_true(r < 0 && given.problem.text[0] != '\0');
        votable_finish(&given.votable);
    }
    free(made.bytes);
}

/* The length of a row is compared with the file's when there are rows. */
static void test_a_table_without_rows_needs_no_memory_for_one(void **state) {
    const char *const forms[] = {"1J"};
    static const char *const types[] = {"int"};
    static const char card[] = "NAXIS1  =                    4";
    static const char huge[] = "NAXIS1  =  1000000000000000000";
    struct made made;
    struct given given;
    make(&made, 1, forms, 0);
    finish(&made);
    char *found = memmem(made.bytes, made.length, card, sizeof(card) - 1);
    assert_non_null(found);
    memcpy(found, huge, sizeof(huge) - 1);
    assert_int_equal(read_fits(&made, types, 1, &given), 0);
    assert_int_equal(given.table->rows, 0);
    votable_finish(&given.votable);
    free(made.bytes);
}

/* What cfitsio would not notice, and go on with anything. */
static void test_mandatory_cards_are_there_and_make_sense(void **state) {
    static const char *const keys[] = {"BITPIX", "NAXIS",  "NAXIS1", "NAXIS2",
                                       "PCOUNT", "GCOUNT", "TFIELDS"};
    static const struct {
        const char *value; /* in place of the card's; NULL: the card has another name */
        const char *words;
    } damages[] = {
        {"=                    x", "has no value that it can have"},
        {"=                   -1", "has no value that it can have"},
        {"= 99999999999999999999", "has no value that it can have"},
        {"                     8", "has no value that it can have"},
        {NULL, "is not where it must be"},
    };
    const char *const forms[] = {"1J", "3D"};
    static const char *const types[] = {"int", "double[3]"};
    struct made made;
    make(&made, 2, forms, 1);
    finish(&made);
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 5; j++) {
            struct given given;
            char saved[80];
            char wanted[200];
            /* XTENSION is the first card of the second header. */
            char *card = (char *)made.bytes + 2880 + 80 * (i + 1);
            assert_memory_equal(card, keys[i], strlen(keys[i]));
            memcpy(saved, card, sizeof(saved));
            memcpy(card + (damages[j].value != NULL ? 8 : 0),
                   damages[j].value != NULL ? damages[j].value : "OTHER   ",
                   damages[j].value != NULL ? strlen(damages[j].value) : 8);
            int r = read_fits(&made, types, 2, &given);
            snprintf(
                wanted, sizeof(wanted),
                "header 1 of the FITS file is damaged: %s %s, correct the FITS or fetch it "
                "again",
                keys[i], damages[j].words);
            assert_int_equal(r, -EBADMSG);
            assert_string_equal(given.problem.text, wanted);
            votable_finish(&given.votable);
            memcpy(card, saved, sizeof(saved));
        }
    }
    free(made.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaled_columns_are_their_values),
        cmocka_unit_test(test_null_is_what_fits_says),
        cmocka_unit_test(test_what_the_field_cannot_hold_is_refused),
        cmocka_unit_test(test_an_array_beyond_the_file_is_refused),
        cmocka_unit_test(test_a_file_that_is_cut_short_is_refused),
        cmocka_unit_test(test_a_table_without_rows_needs_no_memory_for_one),
        cmocka_unit_test(test_mandatory_cards_are_there_and_make_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
