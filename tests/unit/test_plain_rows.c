/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and text that are taken without the parser, and those that must not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checksum.h"
#include "plain_rows.h"
#include "votable.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What follows a row in a document; a row at the very end of the text is left to the parser. */
#define BEHIND "</TABLEDATA></DATA>"

/* Find a row in exactly these bytes and no more, so that reading beyond them is seen. */
static const char *find(const char *text, size_t length, size_t cells, char **ret_copy,
                        uint64_t *ret_lines) {
    char *copy = malloc(length > 0 ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    *ret_copy = copy;
    return plain_row_find(copy, copy + length, cells, ret_lines);
}

static bool is_found(const char *text, size_t length, size_t cells) {
    char *copy;
    uint64_t lines;
    bool found = find(text, length, cells, &copy, &lines) != NULL;
    free(copy);
    return found;
}

#define LONG_TEXT "a text of more bytes than are looked at in one step, [x] and \"y\"]]"

static void test_plain_rows_have_the_cells_that_they_show(void **state) {
    static const struct {
        const char *row;
        size_t cells;
        const char *texts[4];
        uint64_t lines[4]; /* before the TD */
    } rows[] = {
        {"<TR></TR>", 0, {NULL}, {0}},
        {" \n\t<TR>\r\n</TR>", 0, {NULL}, {0}},
        {"<TR><TD>1</TD></TR>", 1, {"1"}, {0}},
        {"<TR><TD></TD><TD/><TD> 2 </TD></TR>", 3, {"", "", " 2 "}, {0}},
        {"\n<TR>\n <TD>1</TD>\r\n <TD>a\nb\tc\n</TD><TD>3</TD>\n<TD/>\n</TR>",
         4,
         {"1", "a\nb\tc\n", "3", ""},
         {2, 3, 5, 6}},
        {"<TR><TD>" LONG_TEXT "</TD><TD>1</TD></TR>", 2, {LONG_TEXT, "1"}, {0}},
        {"<TR><TD>\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80</TD></TR>",
         1,
         {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
         {0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256];
        char *copy;
        uint64_t lines;
        uint64_t below;
        struct plain_cursor cursor;
        int length = snprintf(text, sizeof(text), "%s%s", rows[i].row, BEHIND);
        const char *behind = find(text, (size_t)length, rows[i].cells, &copy, &lines);
        assert_non_null(behind);
        assert_int_equal(behind - copy, strlen(rows[i].row));
        plain_row_enter(&cursor, copy, lines);
        for (size_t j = 0; j < rows[i].cells; j++) {
            size_t bytes;
            const char *cell = plain_row_cell(&cursor, &bytes, &below);
            assert_int_equal(bytes, strlen(rows[i].texts[j]));
            assert_memory_equal(cell, rows[i].texts[j], bytes);
            assert_int_equal(lines - below, rows[i].lines[j]);
        }
        free(copy);
    }
}

static void test_what_is_not_plain_is_left_to_the_parser(void **state) {
    static const char *const rows[] = {
        "<TR><TD>a&amp;b</TD></TR>",
        "<TR><TD>a<!-- --></TD></TR>",
        "<TR><TD><![CDATA[1]]></TD></TR>",
        "<TR><TD>a<?p?></TD></TR>",
        "<TR><TD>a]]>b</TD></TR>",
        "<TR><TD>a\rb</TD></TR>",
        "<TR><TD>a\x01</TD></TR>",
        "<TR><TD>\xff</TD></TR>",
        "<TR><TD>\xc3</TD></TR>",
        "<TR><TD>\xed\xa0\x80</TD></TR>",
        "<TR><TD>\xef\xbf\xbf</TD></TR>",
        "<TR><TD>\xef\xbf\xbe</TD></TR>",
        "<TR><TD>\xf5\x80\x80\x80</TD></TR>",
        "<TR ID='a'><TD>1</TD></TR>",
        "<TR ><TD>1</TD></TR>",
        "<tr><TD>1</TD></tr>",
        "<v:TR><TD>1</TD></v:TR>",
        "<TR><TD encoding='none'>1</TD></TR>",
        "<TR><TD >1</TD></TR>",
        "<TR><TD>1</TD ></TR>",
        "<TR><TD>1</TD></TR >",
        "<TR><TD />1</TR>",
        "<TR><TD>1</TR>",
        "<TR><TD>1<TD>2</TD></TD></TR>",
        "<TR>text<TD>1</TD></TR>",
        "<TR><TD>1</TD>text</TR>",
        "<TR><!-- --><TD>1</TD></TR>",
        "text<TR><TD>1</TD></TR>",
        "<TR></TR>",
        "<TR><TD>1</TD><TD>2</TD></TR>",
        "<TRX><TD>1</TD></TRX>",
        "<TR><TDX>1</TDX></TR>",
        "</TABLEDATA>",
        "",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256];
        int length = snprintf(text, sizeof(text), "%s%s", rows[i], BEHIND);
        assert_false(is_found(text, (size_t)length, 1));
    }
    static const char nul[] = "<TR><TD>a\0b</TD></TR>" BEHIND;
    assert_false(is_found(nul, sizeof(nul) - 1, 1));
}

static void test_a_row_that_is_cut_anywhere_is_left_to_the_parser(void **state) {
    static const char row[] = "\n<TR>\n<TD>" LONG_TEXT "</TD><TD/><TD>\xc3\xa9</TD>\n</TR>";
    static const char text[] =
        "\n<TR>\n<TD>" LONG_TEXT "</TD><TD/><TD>\xc3\xa9</TD>\n</TR>" BEHIND;
    for (size_t length = 0; length < sizeof(row) - 1; length++)
        assert_false(is_found(text, length, 3));
    assert_true(is_found(text, sizeof(text) - 1, 3));
}

/* Warnings, as text: what they say and about which line. */
static void note_warning(void *context, const struct warning *warning) {
    char *words = context;
    size_t used = strlen(words);
    snprintf(words + used, 4096 - used, "%llu: W%02u x %llu %s\n",
             (unsigned long long)warning->lineno, warning->number,
             (unsigned long long)warning->count, warning->text);
}

/* Plain rows and others, in documents of 64 to 70,000 bytes, so that pieces end anywhere. */
static void write_document(const char *start, size_t rows, const char *row_end, char path[32]) {
    static const char *const others[] = {
        "<TR><TD>7</TD><TD>a &amp; b</TD><TD>1 2</TD>",
        "<TR><TD>8</TD><TD><![CDATA[<]]>x</TD><TD>1 2</TD>",
        "<TR><!-- <TR> --><TD>9</TD><TD>c<!-- -->d</TD><TD>3 4</TD>",
        "<TR><TD>10</TD><TD>many</TD><TD>3 4</TD><TD>cells</TD>",
        "<TR><TD>11</TD>",
        "<TR ID='x'><TD encoding='none'>12</TD><TD/><TD/>",
        "<TR><TD>13</TD><TD>\r\n\r</TD><TD>1 2</TD>",
        "<TR xmlns='urn:other'><TD>14</TD><TD/><TD/>",
    };
    strcpy(path, "/tmp/test_plain.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fputs(start, file);
    for (size_t i = 0; i < rows; i++) {
        if (i % 11 == 7)
            fprintf(file, "%s%s", others[i / 11 % 8], row_end);
        else if (i % 50 == 20)
            fprintf(file, "<TR>\n<TD>no number</TD>\n<TD>n</TD><TD>1</TD>%s", row_end);
        else
            fprintf(file, "<TR><TD>%zu</TD><TD>\xc3\xa9 %zu</TD><TD>\n%zu.5 1e%zu</TD>%s", i,
                    i * i, i, i % 300, row_end);
    }
    fprintf(file, "</TABLEDATA></DATA></TABLE></RESOURCE></%sVOTABLE>\n",
            start[1] == 'v' ? "v:" : "");
    assert_int_equal(fclose(file), 0);
}

static uint64_t read_document(const char *path, enum strategy strategy, char words[4096]) {
    struct votable votable = {0};
    struct problem problem = {0};
    const struct read_options options = {.strategy = strategy,
                                         .limits = READ_LIMITS,
                                         .warn = note_warning,
                                         .warn_context = words};
    words[0] = '\0';
    int r = votable_scan(path, &options, &votable, &problem);
    assert_string_equal(problem.text, "");
    assert_int_equal(r, 0);
    const struct table *table = votable.tables[0];
    uint64_t hash = checksum_columns(table->columns, table->field_count, table->rows);
    snprintf(words + strlen(words), 4096 - strlen(words), "%llu rows\n",
             (unsigned long long)table->rows);
    votable_finish(&votable);
    return hash;
}

#define FIELDS                                                                                 \
    "<FIELD name='i' datatype='int'/><FIELD name='s' datatype='unicodeChar' arraysize='*'/>"   \
    "<FIELD name='d' datatype='double' arraysize='2'/><DATA><TABLEDATA>\n"

static void test_taken_rows_are_those_of_the_parser(void **state) {
    static const char *const starts[] = {
        "<VOTABLE><RESOURCE><TABLE>" FIELDS,
        "<VOTABLE xmlns='http://www.ivoa.net/xml/VOTable/v1.3'><RESOURCE><TABLE>" FIELDS,
        "<v:VOTABLE xmlns:v='http://www.ivoa.net/xml/VOTable/v1.3'><RESOURCE><TABLE>" FIELDS,
    };
    static const char *const row_ends[] = {"</TR>\n", "</TR>", "\r\n</TR>\r\n\r\n  "};
    for (size_t i = 0; i < 9; i++)
        for (size_t rows = 1; rows < 2000; rows = rows * 3 + 1) {
            char path[32];
            char wanted[4096];
            char words[4096];
            write_document(starts[i % 3], rows, row_ends[i / 3], path);
            uint64_t hash = read_document(path, STRATEGY_DOM, wanted);
            assert_int_equal(read_document(path, STRATEGY_STREAM, words), hash);
            assert_string_equal(words, wanted);
            unlink(path);
        }
}

/* What looks like ours but is of another namespace is passed over, plain or not. */
static void test_rows_of_another_namespace_are_not_taken(void **state) {
    static const char start[] =
        "<v:VOTABLE xmlns:v='urn:ours' xmlns='urn:other'><v:RESOURCE><v:TABLE>"
        "<v:FIELD name='i' datatype='int'/><v:DATA><v:TABLEDATA>"
        "<v:TR><v:TD>1</v:TD></v:TR><TR><TD>2</TD></TR><TR xmlns='urn:ours'><TD>3</TD></TR>"
        "<TR><TD>4</TD></TR><TR><TD>5</TD></TR>"
        "</v:TABLEDATA></v:DATA></v:TABLE></v:RESOURCE></v:VOTABLE>\n";
    char path[] = "/tmp/test_plain.XXXXXX";
    char words[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, start, sizeof(start) - 1), sizeof(start) - 1);
    close(fd);
    uint64_t hash = read_document(path, STRATEGY_DOM, words);
    assert_string_equal(words, "2 rows\n");
    assert_int_equal(read_document(path, STRATEGY_STREAM, words), hash);
    assert_string_equal(words, "2 rows\n");
    unlink(path);
}

static void test_plain_text_ends_at_what_a_parser_has_to_see(void **state) {
    static const char stops[] = {'<', '&', '>', '\r', '\x01', '\x1f', '\x80', '\xff', '\0'};
    for (size_t i = 0; i <= sizeof(stops); i++)
        for (size_t length = 0; length < 70; length++) {
            char *text = malloc(length + 1);
            uint64_t lines = 99;
            assert_non_null(text);
            for (size_t j = 0; j < length; j++)
                text[j] = j % 20 == 7 ? '\n' : j % 20 == 9 ? '\t' : "A /~]\x7f"[j % 6];
            bool stopped = i < sizeof(stops);
            if (stopped)
                text[length] = stops[i];
            assert_ptr_equal(plain_text_end(text, text + length + stopped, &lines),
                             text + length);
            assert_int_equal(lines, (length + 12) / 20);
            free(text);
        }
}

/* 6 bytes a line, one row each; a piece of the document ends in the middle of one. */
static void write_stream(const char *middle, size_t lines, char path[32]) {
    strcpy(path, "/tmp/test_plain.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fputs("<VOTABLE><RESOURCE><TABLE><FIELD name='i' datatype='short' arraysize='3'/>"
          "<DATA><BINARY><STREAM encoding='base64'>\n",
          file);
    for (size_t i = 0; i < lines; i++)
        fprintf(file, "AB%c/%c+Z9\n%s", (char)('A' + i % 26), (char)('a' + i % 25),
                i + 1 == lines * 4 / 5 ? middle : "");
    fputs("</STREAM></BINARY></DATA></TABLE></RESOURCE></VOTABLE>\n", file);
    assert_int_equal(fclose(file), 0);
}

/* The same as from a tree, where all text comes from the parser, and so are line and words. */
static void test_streams_are_those_of_the_parser(void **state) {
    static const char *const middles[] = {
        "",
        "<!-- < -->",
        "&#65;AAAAAAA",
        "<![CDATA[AAAAAAAA]]>",
        "\r\nAAAA\r\nAAAA\r\n",
        "<?p?>",
        "*",
        "\n\n\xc3\xa9",
        "<x/>",
        "A",
        "&lt;",
        "AAAA====",
    };
    for (size_t i = 0; i < sizeof(middles) / sizeof(middles[0]); i++)
        for (size_t lines = 3; lines < 20000; lines = lines * 5 + 1) {
            char path[32];
            struct votable votables[STRATEGIES] = {0};
            struct problem problems[STRATEGIES] = {0};
            uint64_t hashes[STRATEGIES] = {0};
            write_stream(middles[i], lines, path);
            for (int j = 0; j < STRATEGIES; j++) {
                int r = votable_read(path, (enum strategy)j, &votables[j], &problems[j]);
                const struct table *table = r == 0 ? votables[j].tables[0] : NULL;
                if (table != NULL)
                    hashes[j] =
                        checksum_columns(table->columns, table->field_count, table->rows);
                votable_finish(&votables[j]);
            }
            assert_int_equal(hashes[STRATEGY_STREAM], hashes[STRATEGY_DOM]);
            assert_int_equal(hashes[STRATEGY_BUFFER], hashes[STRATEGY_DOM]);
            assert_int_equal(problems[STRATEGY_STREAM].code, problems[STRATEGY_DOM].code);
            assert_int_equal(problems[STRATEGY_STREAM].lineno, problems[STRATEGY_DOM].lineno);
            assert_string_equal(problems[STRATEGY_STREAM].text, problems[STRATEGY_DOM].text);
            unlink(path);
        }
}

static int begin(void **state) {
    votable_library_init();
    return 0;
}

static int finish(void **state) {
    votable_library_finish();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_rows_have_the_cells_that_they_show),
        cmocka_unit_test(test_what_is_not_plain_is_left_to_the_parser),
        cmocka_unit_test(test_a_row_that_is_cut_anywhere_is_left_to_the_parser),
        cmocka_unit_test(test_taken_rows_are_those_of_the_parser),
        cmocka_unit_test(test_rows_of_another_namespace_are_not_taken),
        cmocka_unit_test(test_plain_text_ends_at_what_a_parser_has_to_see),
        cmocka_unit_test(test_streams_are_those_of_the_parser),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
