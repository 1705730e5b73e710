/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated values, as RFC 4180 has them and as spreadsheets read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void assert_writes(void (*write)(struct csv *csv), const char *wanted) {
    char *text = NULL;
    size_t size;
    struct csv csv = {.stream = open_memstream(&text, &size)};
    assert_non_null(csv.stream);
    write(&csv);
    assert_int_equal(csv_finish(&csv), 0);
    assert_int_equal(fclose(csv.stream), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void write_plain(struct csv *csv) {
    static const char *const names[] = {"function", "bytes"};
    csv_header(csv, names, 2);
    csv_text(csv, "main");
    csv_int(csv, INT64_MIN);
    csv_row_end(csv);
    csv_text(csv, "");
    csv_empty(csv);
    csv_row_end(csv);
}

static void test_rows_end_as_the_rfc_says_and_unknown_cells_are_empty(void **state) {
    (void)state;
    assert_writes(write_plain, "function,bytes\r\nmain,-9223372036854775808\r\n,\r\n");
}

static void write_quoted(struct csv *csv) {
    csv_text(csv, "map<int, char>");
    csv_text(csv, "operator\"\"_s");
    csv_text(csv, "a\nb\x1b[31m");
    csv_text(csv, "\xff\xfe");
    csv_row_end(csv);
}

static void test_commas_and_quotes_are_quoted_and_controls_do_not_come_through(void **state) {
    (void)state;
    assert_writes(write_quoted, "\"map<int, char>\",\"operator\"\"\"\"_s\",a?b?[31m,\?\?\r\n");
}

static void write_formulas(struct csv *csv) {
    csv_text(csv, "=cmd|'/C calc'!A0");
    csv_text(csv, "+1,2");
    csv_text(csv, "-x");
    csv_text(csv, "@SUM(A1)");
    csv_text(csv, "\t=1");
    csv_text(csv, "a=b");
    csv_int(csv, -1);
    csv_row_end(csv);
}

static void test_what_a_spreadsheet_would_run_is_text(void **state) {
    (void)state;
    assert_writes(write_formulas, "'=cmd|'/C calc'!A0,\"'+1,2\",'-x,'@SUM(A1),'?=1,a=b,-1\r\n");
}

static void write_reals(struct csv *csv) {
    csv_real(csv, 0.1);
    csv_real(csv, (double)INFINITY);
    csv_real(csv, -2.0);
    csv_row_end(csv);
}

static void test_numbers_that_are_none_are_empty(void **state) {
    (void)state;
    assert_writes(write_reals, "0.10000000000000001,,-2\r\n");
}

static void test_a_full_disk_is_an_error(void **state) {
    (void)state;
    struct csv csv = {.stream = fopen("/dev/full", "w")};
    if (!csv.stream)
        skip();
    csv_text(&csv, "x");
    fflush(csv.stream);
    assert_int_equal(csv_finish(&csv), -EIO);
    fclose(csv.stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_end_as_the_rfc_says_and_unknown_cells_are_empty),
        cmocka_unit_test(test_commas_and_quotes_are_quoted_and_controls_do_not_come_through),
        cmocka_unit_test(test_what_a_spreadsheet_would_run_is_text),
        cmocka_unit_test(test_numbers_that_are_none_are_empty),
        cmocka_unit_test(test_a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
