/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_convert.c: documents in another format and back.
 *
 *     | FIELDs, 1 to 4 | datatype, arraysize | ... | the texts of TDs, with | between
 *
 * Properties: what can be read can be converted; the BINARY2 of a document, and the TABLEDATA
 * of that, are read with --strict and have the statistics of the first.
 */
#include "convert.h"
#include "corpus.h"
#include "document.h"
#include "exact_sum.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_stats(const struct document *document, bool strict, struct votable *votable,
                       struct stats *ret_stats, struct problem *problem) {
    struct consumer consumer = {0};
    stats_init(ret_stats, &consumer);
    const struct read_options options = {
        .consumer = &consumer, .strict = strict, .limits = READ_LIMITS};
    return votable_scan(document->path, &options, votable, problem) == 0;
}

/* One that was warned of is not what was written: then nothing need be the same. */
static void note_warning(void *context, const struct warning *warning) {
    bool *warned = context;
    *warned = true;
}

static void convert(const struct document *from, enum serialization format,
                    struct document *ret_to, bool *warned) {
    const char *bad_path;
    struct problem problem = {0};
    /* convert puts a new file in its place, which what has no name cannot have. */
    snprintf(ret_to->path, sizeof(ret_to->path), "/tmp/fuzz_convert.XXXXXX");
    ret_to->fd = mkstemp(ret_to->path);
    if (ret_to->fd < 0)
        abort();
    const struct convert_options options = {
        .path = from->path,
        .output_path = ret_to->path,
        .limits = READ_LIMITS,
        .format = format,
        .warn = note_warning,
        .warn_context = warned,
    };
    int r = convert_run(&options, &bad_path, &problem);
    require(r == 0, "read, but not converted", &problem);
}

static void compare(const struct document *one, const struct document *other) {
    struct votable tables = {0};
    struct votable other_tables = {0};
    struct stats stats;
    struct stats other_stats;
    struct problem problem = {0};
    require(read_stats(one, false, &tables, &stats, &problem), "not read again", &problem);
    require(read_stats(other, true, &other_tables, &other_stats, &problem),
            "written, but refused with --strict", &problem);
    require(stats.table_count == other_stats.table_count, "other tables", &problem);
    for (size_t i = 0; i < stats.table_count; i++) {
        const struct table_stats *table = &stats.tables[i];
        require(table->table->rows == other_stats.tables[i].table->rows, "other rows",
                &problem);
        for (size_t j = 0; j < table->table->field_count; j++) {
            const struct column_stats *column = &table->columns[j];
            const struct column_stats *same = &other_stats.tables[i].columns[j];
            require(column->nan + column->nulls + column->magic ==
                            same->nan + same->nulls + same->magic ||
                        table->table->fields[j]->items != 1,
                    "other nulls", &problem);
            require(column->numbers == same->numbers && column->inf == same->inf, "other items",
                    &problem);
            const double sum = exact_sum_value(&column->real_sum);
            const double same_sum = exact_sum_value(&same->real_sum);
            require(column->integer_sum == same->integer_sum &&
                        memcmp(&sum, &same_sum, sizeof(sum)) == 0,
                    "another sum", &problem);
            require(column->bytes == same->bytes, "other strings", &problem);
        }
    }
    stats_finish(&stats);
    stats_finish(&other_stats);
    votable_finish(&tables);
    votable_finish(&other_tables);
}

static void judge(const struct document *document) {
    struct votable tables = {0};
    struct stats stats;
    struct problem problem = {0};
    bool readable = read_stats(document, false, &tables, &stats, &problem);
    stats_finish(&stats);
    votable_finish(&tables);
    if (!readable)
        return;
    struct document binary2;
    struct document tabledata;
    bool warned = false;
    convert(document, SERIALIZATION_BINARY2, &binary2, &warned);
    convert(&binary2, SERIALIZATION_TABLEDATA, &tabledata, &warned);
    if (!warned) {
        compare(document, &binary2);
        compare(&binary2, &tabledata);
    }
    unlink(binary2.path);
    unlink(tabledata.path);
    document_close(&binary2);
    document_close(&tabledata);
}

/* TDs from the text, as many in a row as there are FIELDs. */
static void add_rows(struct document_text *text, unsigned fields, const uint8_t *data,
                     size_t size) {
    size_t at = 0;
    while (at < size) {
        document_text_print(text, "<TR>");
        for (unsigned i = 0; i < fields; i++) {
            size_t start = at;
            while (at < size && data[at] != '|')
                at++;
            document_text_print(text, "<TD>");
            document_text_escape(text, data + start, at - start);
            document_text_print(text, "</TD>");
            at += at < size;
        }
        document_text_print(text, "</TR>\n");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct document_text text = {0};
    struct document document;
    if (size < 1 || size < 1 + 2 * (size_t)(data[0] % 4 + 1))
        return 0;
    unsigned fields = data[0] % 4 + 1;
    document_text_print(&text, "<VOTABLE version=\"1.6\" "
                               "xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\"><RESOURCE>"
                               "<TABLE>");
    for (unsigned i = 0; i < fields; i++) {
        document_text_field(&text, i, data[1 + 2 * i], data[2 + 2 * i]);
        document_text_print(&text, "</FIELD>\n");
    }
    document_text_print(&text, "<DATA><TABLEDATA>\n");
    size_t used = 1 + 2 * (size_t)fields;
    add_rows(&text, fields, data + used, size - used);
    document_text_print(&text, "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>");
    document_open(&document, text.bytes, text.length);
    judge(&document);
    document_close(&document);
    free(text.bytes);
    return 0;
}
