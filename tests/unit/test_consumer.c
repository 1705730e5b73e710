/* SPDX-License-Identifier: BSD-3-Clause */
/* What a consumer is told, and in which order: the same in every strategy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "consumer.h"
#include "generate.h"
#include "votable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char document[] =
    "<v:VOTABLE xmlns:v=\"http://www.ivoa.net/xml/VOTable/v1.3\" xmlns:m=\"urn:m\" "
    "version=\"1.4\"><v:RESOURCE name=\"a &amp; b\" m:x=\"y\"><v:INFO name=\"q\" "
    "value=\"&lt;\">i"
    "</v:INFO><m:BLOCK><INNER z='1'/></m:BLOCK>"
    "<v:TABLE name=\"t\"><v:FIELD name=\"i\" datatype=\"int\"/><v:DATA><v:TABLEDATA>"
    "<v:TR><v:TD>1</v:TD></v:TR> <v:TR><v:TD>2</v:TD></v:TR></v:TABLEDATA>"
    "<v:INFO name=\"in\" value=\"data\"/></v:DATA><v:INFO name=\"s\" value=\"v\"/></v:TABLE>"
    "<v:TABLE name=\"u\"/></v:RESOURCE></v:VOTABLE>\n";

static const char wanted[] = "<v:VOTABLE xmlns:v=http://www.ivoa.net/xml/VOTable/v1.3 "
                             "xmlns:m=urn:m version=1.4>\n"
                             "<v:RESOURCE name=a & b m:x=y>\n"
                             "<v:INFO name=q value=<>\n'i'\n</v:INFO INFO>\n"
                             "<m:BLOCK foreign>\n<INNER z=1 foreign>\n</INNER INNER>\n"
                             "</m:BLOCK BLOCK>\n"
                             "<v:TABLE name=t>\n<v:FIELD name=i datatype=int>\n"
                             "</v:FIELD FIELD>\n"
                             "begin t tabledata\nrows 0 2\nend t 2\n"
                             "<v:INFO name=in value=data>\n</v:INFO INFO>\n"
                             "<v:INFO name=s value=v>\n</v:INFO INFO>\n</v:TABLE TABLE>\n"
                             "<v:TABLE name=u>\nbegin u none\nend u 0\n</v:TABLE TABLE>\n"
                             "</v:RESOURCE RESOURCE>\n</v:VOTABLE VOTABLE>\n";

struct record {
    char text[4096];
    size_t length;
    const char *fail_at; /* the event with this text is answered by an error */
    uint64_t rows;
    uint64_t batches;
    uint64_t sum;
};

static char path[] = "/tmp/test_consumer.XXXXXX";

_printf_(3, 4) static int note(struct record *record, struct problem *problem,
                               const char *format, ...) {
    char *line = record->text + record->length;
    va_list arguments;
    va_start(arguments, format);
    record->length +=
        (size_t)vsnprintf(line, sizeof(record->text) - record->length, format, arguments);
    va_end(arguments);
    assert_true(record->length < sizeof(record->text));
    if (record->fail_at != NULL && strstr(line, record->fail_at) != NULL)
        return problem_set(problem, -EPERM, 77, "stop here, please");
    return 0;
}

static int on_table_begin(void *context, struct table *table, struct problem *problem) {
    return note(context, problem, "begin %s %s\n", table->name,
                serialization_name(table->serialization));
}

static int on_table_end(void *context, struct table *table, struct problem *problem) {
    return note(context, problem, "end %s %" PRIu64 "\n", table->name, table->rows);
}

static int on_rows(void *context, struct table *table, uint64_t first_row, uint64_t row_count,
                   struct problem *problem) {
    assert_true(table->columns[0].rows == row_count);
    return note(context, problem, "rows %" PRIu64 " %" PRIu64 "\n", first_row, row_count);
}

static int on_element_begin(void *context, const struct consumer_element *element,
                            struct problem *problem) {
    int r = note(context, problem, "<%s", element->name);
    for (size_t i = 0; r == 0 && i < element->attribute_count; i++)
        r = note(context, problem, " %s=%.*s", element->attributes[i].name,
                 (int)element->attributes[i].length, element->attributes[i].value);
    return r < 0 ? r : note(context, problem, element->foreign ? " foreign>\n" : ">\n");
}

static int on_element_end(void *context, const struct consumer_element *element,
                          struct problem *problem) {
    return note(context, problem, "</%s %s>\n", element->name, element->local_name);
}

static int on_text(void *context, const char *text, size_t length, struct problem *problem) {
    return note(context, problem, "'%.*s'\n", (int)length, text);
}

static const struct consumer recorder = {
    .table_begin = on_table_begin,
    .table_end = on_table_end,
    .rows = on_rows,
    .element_begin = on_element_begin,
    .element_end = on_element_end,
    .text = on_text,
};

static int scan(struct record *record, const struct consumer *how, enum strategy strategy,
                struct problem *problem) {
    struct consumer consumer = *how;
    struct votable votable = {0};
    const struct read_options options = {
        .strategy = strategy,
        .consumer = &consumer,
        .limits = READ_LIMITS,
    };
    consumer.context = record;
    int r = votable_scan(path, &options, &votable, problem);
    votable_finish(&votable);
    return r;
}

static void write_document(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_everything_comes_in_document_order(void **state) {
    write_document(document);
    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        struct record record = {0};
        struct problem problem = {0};
        assert_int_equal(scan(&record, &recorder, (enum strategy)strategy, &problem), 0);
        assert_string_equal(record.text, wanted);
    }
}

static void test_an_error_of_the_consumer_ends_the_read(void **state) {
    static const char *const places[] = {"<v:RESOURCE", "'i'",      "begin t", "rows 0",
                                         "end t",       "</v:INFO", "begin u", "</v:VOTABLE"};
    write_document(document);
    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            struct record record = {.fail_at = places[i]};
            struct problem problem = {0};
            assert_int_equal(scan(&record, &recorder, (enum strategy)strategy, &problem),
                             -EPERM);
            assert_int_equal(problem.lineno, 77);
            assert_string_equal(problem.text, "stop here, please");
            /* Nothing after it was told. */
            const char *last = strstr(record.text, places[i]);
            assert_non_null(last);
            assert_null(strstr(last + 1, "\n<"));
        }
    }
}

static int count_rows(void *context, struct table *table, uint64_t first_row,
                      uint64_t row_count, struct problem *problem) {
    struct record *record = context;
    struct column_cursor cursor;
    struct column_cell cell;
    assert_true(first_row == record->rows && table->columns[0].rows == row_count);
    assert_true(column_stored_bytes(&table->columns[0]) < 2 * CONSUMER_BATCH_BYTES);
    column_cursor_init(&cursor, &table->columns[0]);
    while (column_cursor_next(&cursor, &cell)) {
        uint64_t bytes;
        int32_t item;
        memcpy(&item, column_cursor_take(&cursor, cell.bytes, &bytes), sizeof(item));
        record->sum += (uint64_t)item;
    }
    record->rows += row_count;
    record->batches++;
    return 0;
}

static void write_rows(bool binary, int rows) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("<VOTABLE><RESOURCE><TABLE><FIELD name=\"i\" datatype=\"int\"/><DATA>", file);
    fputs(binary ? "<BINARY><STREAM encoding=\"base64\">" : "<TABLEDATA>", file);
    for (int i = 0; i < rows; i++) /* three ints of 1 are 16 characters */
        fputs(binary ? "AAAAAQAAAAEAAAAB" : "<TR><TD>1</TD></TR>", file);
    fputs(binary ? "</STREAM></BINARY>" : "</TABLEDATA>", file);
    fputs("</DATA></TABLE></RESOURCE></VOTABLE>\n", file);
    assert_int_equal(fclose(file), 0);
}

static void test_batches_are_bounded_and_together_are_all_rows(void **state) {
    const struct consumer counter = {.rows = count_rows};
    for (int binary = 0; binary < 2; binary++) {
        write_rows(binary != 0, 300000);
        for (int strategy = 0; strategy < STRATEGIES; strategy++) {
            struct record record = {0};
            struct problem problem = {0};
            assert_int_equal(scan(&record, &counter, (enum strategy)strategy, &problem), 0);
            assert_true(record.rows == (binary ? 900000 : 300000));
            assert_true(record.sum == record.rows);
            assert_true(record.batches >= 3);
        }
    }
}

/* A file that loses its second half when the first rows of it have come. */
struct shrinking {
    const char *path;
    uint64_t rows;
    bool shrunk;
};

static int shrink(void *context, struct table *table, uint64_t first_row, uint64_t row_count,
                  struct problem *problem) {
    struct shrinking *shrinking = context;
    struct stat status;
    shrinking->rows += row_count;
    if (shrinking->shrunk)
        return 0;
    shrinking->shrunk = true;
    assert_int_equal(stat(shrinking->path, &status), 0);
    assert_int_equal(truncate(shrinking->path, status.st_size / 2 + 1), 0);
    return 0;
}

/* Read @document_path while @shrinking loses its end: what was read to its end before is whole. */
static void read_shrinking(const char *document_path, struct shrinking *shrinking,
                           enum strategy strategy, uint64_t rows, const char *words) {
    const struct consumer consumer = {.context = shrinking, .rows = shrink};
    const struct read_options options = {
        .strategy = strategy, .consumer = &consumer, .limits = READ_LIMITS};
    struct votable votable = {0};
    struct problem problem = {0};
    int r = votable_scan(document_path, &options, &votable, &problem);
    votable_finish(&votable);
    assert_true(shrinking->shrunk);
    if (r == 0) {
        assert_int_not_equal(strategy, STRATEGY_STREAM);
        assert_int_equal(shrinking->rows, rows);
        return;
    }
    assert_int_equal(r, -EBADMSG);
    assert_string_equal(problem.text, words);
    assert_true(problem.lineno > 0 && shrinking->rows < rows);
}

static void test_a_document_that_shrinks_is_cut_short(void **state) {
    for (int binary = 0; binary < 2; binary++) {
        for (int strategy = 0; strategy < STRATEGIES; strategy++) {
            struct shrinking shrinking = {.path = path};
            write_rows(binary != 0, 300000);
            read_shrinking(path, &shrinking, (enum strategy)strategy, binary ? 900000 : 300000,
                           "the XML ends before its last tag, the file is cut short, fetch or "
                           "write it again");
        }
    }
}

static void test_a_stream_file_that_shrinks_is_cut_short(void **state) {
    static const char stream_ends[] =
        "the stream ends in row 25001, column 'ra', at byte 1 of the row, the stream is cut "
        "short or does not fit its FIELDs, fetch or write it again";
    static const char file_ends[] =
        "the FITS file cannot be read: it became shorter, fetch it again";
    char folder[] = "/tmp/test_consumer_stream.XXXXXX";
    char document_path[64];
    char stream_path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(document_path, sizeof(document_path), "%s/t.vot", folder);
    snprintf(stream_path, sizeof(stream_path), "%s/stream", folder);
    for (int format = SERIALIZATION_BINARY2; format < SERIALIZATIONS; format++) {
        struct shrinking shrinking = {.path = stream_path};
        struct problem problem = {0};
        const char *bad_path;
        const struct generate_options options = {.preset = "numeric",
                                                 .rows = 50000,
                                                 .format = (enum serialization)format,
                                                 .null_fraction = GENERATE_NULLS_UNSAID,
                                                 .path = document_path,
                                                 .stream_file = "stream"};
        assert_int_equal(generate_run(&options, &bad_path, &problem), 0);
        read_shrinking(document_path, &shrinking, STRATEGY_STREAM, 50000,
                       format == SERIALIZATION_FITS ? file_ends : stream_ends);
        unlink(stream_path);
        unlink(document_path);
    }
    rmdir(folder);
}

static int make_path(void **state) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    votable_library_init();
    return 0;
}

static int remove_path(void **state) {
    votable_library_finish();
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_comes_in_document_order),
        cmocka_unit_test(test_an_error_of_the_consumer_ends_the_read),
        cmocka_unit_test(test_batches_are_bounded_and_together_are_all_rows),
        cmocka_unit_test(test_a_document_that_shrinks_is_cut_short),
        cmocka_unit_test(test_a_stream_file_that_shrinks_is_cut_short),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
