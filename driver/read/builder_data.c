/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder_data.c: DATA and below: TDs become cells, STREAMs rows, and the consumer is told.
 *
 * A row is complete before it is told of, and what is not wanted (tables, columns, rows beyond
 * the limit) is passed over without being decoded or kept.
 */
#include "builder_parts.h"
#include "cell_text.h"
#include "fits_data.h"
#include "href.h"
#include "plain_rows.h"
#include "selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The element that has just begun is passed over with all that is in it. */
static int pass_over(struct builder *builder, enum element parent) {
    builder->inside = parent;
    builder->skipped = 1;
    builder->hidden = true;
    return 0;
}

int builder_begin_data(struct builder *builder, const struct attributes *attributes,
                       uint64_t lineno) {
    if (builder->seen_data)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second DATA in one TABLE, split the TABLE");
    builder->seen_data = true;
    builder->seen_rows = false;
    return 0;
}

/* A binary stream has no borders: a cell of unknown width ends nowhere. */
static int require_datatypes(struct builder *builder, uint64_t lineno) {
    const struct table *table = builder->table;
    for (size_t i = 0; i < table->field_count; i++)
        if (table->fields[i]->guessed)
            return problem_set(builder->problem, -EBADMSG, lineno,
                               "FIELD '%.60s' has no datatype that VOTable knows, so that its "
                               "cells in a binary stream have no known width, use one of its "
                               "twelve",
                               table->fields[i]->name);
    return 0;
}

static int begin_serialization(struct builder *builder, enum serialization serialization,
                               uint64_t lineno) {
    struct table *table = builder->table;
    const struct consumer *consumer = builder->consumer;
    if (builder->seen_rows)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second serialization in one DATA, keep one of them");
    builder->seen_rows = true;
    builder->seen_stream = false;
    builder->binary_lineno = lineno;
    if (table->skipped) {
        table->serialization = serialization;
        return pass_over(builder, ELEMENT_DATA);
    }
    int r = selection_mark_fields(builder->options->columns, table, builder->problem);
    if (r < 0)
        return r;
    if (table_begin_data(table, serialization) < 0)
        return problem_set_memory(builder->problem);
    if (serialization == SERIALIZATION_BINARY || serialization == SERIALIZATION_BINARY2)
        r = require_datatypes(builder, lineno);
    if (r == 0 && consumer->table_begin != NULL)
        r = consumer->table_begin(consumer->context, table, builder->problem);
    return r;
}

/* All rows are there: the last batch, and that it was the last. */
static int end_serialization(struct builder *builder) {
    const struct consumer *consumer = builder->consumer;
    int r = consumer_rows_flush(consumer, builder->table, builder->problem);
    if (r == 0 && consumer->table_end != NULL)
        r = consumer->table_end(consumer->context, builder->table, builder->problem);
    return r;
}

int builder_begin_tabledata(struct builder *builder, const struct attributes *attributes,
                            uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_TABLEDATA, lineno);
}

int builder_begin_binary(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_BINARY, lineno);
}

int builder_begin_binary2(struct builder *builder, const struct attributes *attributes,
                          uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_BINARY2, lineno);
}

int builder_begin_fits(struct builder *builder, const struct attributes *attributes,
                       uint64_t lineno) {
    const char *extnum = attributes_quoted(attributes, ATTRIBUTE_EXTNUM);
    size_t length = attributes->of[ATTRIBUTE_EXTNUM].length;
    builder->extnum = 0;
    for (size_t i = 0; i < length; i++) {
        if (extnum[i] < '0' || extnum[i] > '9' || i > 5)
            return problem_set(builder->problem, -EBADMSG, lineno,
                               "FITS extnum '%.*s' is no number of an extension, correct it",
                               attributes_quoted_length(attributes, ATTRIBUTE_EXTNUM), extnum);
        builder->extnum = builder->extnum * 10 + (unsigned)(extnum[i] - '0');
    }
    return begin_serialization(builder, SERIALIZATION_FITS, lineno);
}

int builder_end_tabledata(struct builder *builder) {
    return end_serialization(builder);
}

int builder_end_binary(struct builder *builder) {
    if (!builder->seen_stream)
        return problem_set(builder->problem, -EBADMSG, builder->binary_lineno,
                           "%s without a STREAM, add an empty one if the table has no rows",
                           builder->inside == ELEMENT_BINARY ? "BINARY" : "BINARY2");
    return end_serialization(builder);
}

int builder_end_fits(struct builder *builder) {
    if (!builder->seen_stream)
        return problem_set(builder->problem, -EBADMSG, builder->binary_lineno,
                           "FITS without a STREAM, add the one that has the file");
    return end_serialization(builder);
}

int builder_begin_tr(struct builder *builder, const struct attributes *attributes,
                     uint64_t lineno) {
    if (builder->table->rows >= builder->table->row_limit)
        return pass_over(builder, ELEMENT_TABLEDATA);
    builder->tr_lineno = lineno;
    builder->cells = 0;
    return 0;
}

/* A TD without encoding, by far the most frequent element there is. */
int builder_begin_plain_td(struct builder *builder, uint64_t lineno) {
    const struct table *table = builder->table;
    builder->inside = ELEMENT_TD;
    if (builder->cells == table->field_count) {
        int r = warnings_add(&builder->warnings, builder->problem, WARNING_CELLS_MANY, lineno,
                             "row %" PRIu64 " has more cells than its table has FIELDs (%zu), "
                             "remove the TD or add a FIELD",
                             table->rows + 1, table->field_count);
        return r < 0 ? r : pass_over(builder, ELEMENT_TR);
    }
    builder->td_lineno = lineno;
    builder->td_base64 = false;
    builder->text_bytes = 0;
    builder->wants_text = !table->fields[builder->cells]->skipped;
    return 0;
}

int builder_begin_td(struct builder *builder, const struct attributes *attributes,
                     uint64_t lineno) {
    int r = builder_begin_plain_td(builder, lineno);
    if (r < 0 || !attributes_have(attributes, ATTRIBUTE_ENCODING) ||
        attributes_say(attributes, ATTRIBUTE_ENCODING, "none"))
        return r;
    if (!attributes_say(attributes, ATTRIBUTE_ENCODING, "base64"))
        return problem_set(builder->problem, -ENOTSUP, lineno,
                           "TD encoding '%.*s' is not supported, use base64 or none",
                           attributes_quoted_length(attributes, ATTRIBUTE_ENCODING),
                           attributes->of[ATTRIBUTE_ENCODING].text);
    builder->td_base64 = true;
    return 0;
}

/* The text is base64: decode it where it stands. It becomes shorter. */
static int decode_text(struct builder *builder, uint64_t lineno) {
    struct base64_decoder decoder;
    size_t bytes = 0;
    size_t rest = 0;
    base64_decoder_init(&decoder, lineno);
    int r = base64_decode(&decoder, builder->text, builder->text_bytes,
                          (unsigned char *)builder->text, &bytes, builder->problem);
    if (r == 0)
        r = warnings_end_base64(&builder->warnings, builder->problem, &decoder,
                                (unsigned char *)builder->text + bytes, &rest);
    builder->text_bytes = bytes + rest;
    return r;
}

/* A TD of base64 holds what BINARY would have for this one cell. */
static int store_encoded_cell(struct builder *builder, struct column *column) {
    struct binary_rows rows;
    int r = builder->text_bytes > 0 ? decode_text(builder, builder->td_lineno) : 0;
    if (r < 0)
        return r;
    if (builder->text_bytes == 0)
        return column_end_null(column) < 0 ? problem_set_memory(builder->problem) : 0;
    r = binary_rows_init(&rows, column, 1, false, builder->td_lineno, builder->problem);
    if (r < 0)
        return r;
    rows.rows = builder->table->rows;
    rows.row_limit = rows.rows + 1;
    r = binary_rows_push(&rows, (const unsigned char *)builder->text, builder->text_bytes);
    if (r == 0)
        r = binary_rows_end(&rows);
    if (r == 0 && rows.enough)
        r = problem_set(builder->problem, -EBADMSG, builder->td_lineno,
                        "the TD of base64 in row %" PRIu64
                        ", column '%.60s', has more bytes than its cell, correct the cell or "
                        "the FIELD",
                        builder->table->rows + 1, column->field->name);
    binary_rows_finish(&rows);
    return r;
}

int builder_end_td(struct builder *builder) {
    struct column *column = &builder->table->columns[builder->cells++];
    builder->wants_text = false;
    if (column->field->skipped)
        return 0;
    if (builder->td_base64)
        return store_encoded_cell(builder, column);
    const char *text = "";
    if (builder->text_bytes > 0) {
        builder->text[builder->text_bytes] = '\0';
        text = builder->text;
    }
    return cell_text_store(column, text, builder->text_bytes, builder->td_lineno,
                           &builder->warnings, builder->problem);
}

bool builder_takes_rows(const struct builder *builder) {
    return builder->inside == ELEMENT_TABLEDATA && builder->skipped == 0 &&
           builder->table->rows < builder->table->row_limit;
}

int builder_take_row(struct builder *builder, const char *from, uint64_t lines,
                     uint64_t lineno) {
    struct table *table = builder->table;
    struct plain_cursor cursor;
    plain_row_enter(&cursor, from, lines);
    for (size_t i = 0; i < table->field_count; i++) {
        size_t length;
        uint64_t below;
        const char *text = plain_row_cell(&cursor, &length, &below);
        if (table->fields[i]->skipped)
            continue;
        int r = cell_text_store(&table->columns[i], text, length, lineno + (lines - below),
                                &builder->warnings, builder->problem);
        if (r < 0)
            return r;
    }
    table->rows++;
    return consumer_rows_done(builder->consumer, table, builder->problem);
}

/* Cells that the TR does not have are null. */
static int fill_row(struct builder *builder) {
    struct table *table = builder->table;
    int r = warnings_add(&builder->warnings, builder->problem, WARNING_CELLS_FEW,
                         builder->tr_lineno,
                         "row %" PRIu64 " has %zu of its %zu cells, add the missing TDs or "
                         "remove FIELDs",
                         table->rows + 1, builder->cells, table->field_count);
    for (; r == 0 && builder->cells < table->field_count; builder->cells++) {
        struct column *column = &table->columns[builder->cells];
        if (!column->field->skipped && column_end_null(column) < 0)
            r = problem_set_memory(builder->problem);
    }
    return r;
}

int builder_end_tr(struct builder *builder) {
    int r = builder->cells < builder->table->field_count ? fill_row(builder) : 0;
    if (r < 0)
        return r;
    builder->table->rows++;
    return consumer_rows_done(builder->consumer, builder->table, builder->problem);
}

static int require_encoding(struct builder *builder, const struct attributes *attributes,
                            bool href, uint64_t lineno) {
    const char *const known[] = {"base64", "none", "gzip", "dynamic"};
    for (size_t i = 0; i < (href ? 4 : 1); i++)
        if (attributes_say(attributes, ATTRIBUTE_ENCODING, known[i]))
            return 0;
    if (href && !attributes_have(attributes, ATTRIBUTE_ENCODING))
        return 0;
    return problem_set(builder->problem, -ENOTSUP, lineno,
                       href ? "STREAM encoding '%.*s' is not known, use gzip, base64 or none"
                            : "STREAM encoding '%.*s' is not supported inline, use base64",
                       attributes_quoted_length(attributes, ATTRIBUTE_ENCODING),
                       attributes_quoted(attributes, ATTRIBUTE_ENCODING));
}

/* The data are in another file, which is read here and now. */
static int read_href(struct builder *builder, const struct attributes *attributes,
                     uint64_t lineno) {
    char *path;
    int r =
        href_resolve(builder->path, attributes->of[ATTRIBUTE_HREF].text,
                     attributes->of[ATTRIBUTE_HREF].length, lineno, &path, builder->problem);
    if (r < 0)
        return r;
    if (builder->inside == ELEMENT_FITS || builder->table->serialization == SERIALIZATION_FITS)
        r = fits_data_read_file(path, builder->extnum, lineno, builder->table,
                                builder->consumer, builder->problem);
    else
        r = stream_read_file(&builder->stream, path,
                             attributes_say(attributes, ATTRIBUTE_ENCODING, "base64"), lineno);
    free(path);
    return r;
}

int builder_begin_stream(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    bool fits = builder->table->serialization == SERIALIZATION_FITS;
    bool href = attributes_have(attributes, ATTRIBUTE_HREF) &&
                attributes->of[ATTRIBUTE_HREF].length > 0;
    int r = require_encoding(builder, attributes, href, lineno);
    if (r < 0)
        return r;
    if (builder->seen_stream)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second STREAM in one serialization, keep one of them");
    builder->seen_stream = true;
    builder->td_lineno = lineno;
    builder->text_bytes = 0;
    builder->wants_text = !href;
    if (!fits) {
        builder->streaming = true;
        r = stream_init(&builder->stream, builder->table, builder->consumer,
                        builder->options->strategy == STRATEGY_BUFFER, lineno,
                        &builder->warnings, builder->problem);
    }
    if (r == 0 && href)
        return read_href(builder, attributes, lineno);
    if (r == 0 && fits && builder->options->strategy != STRATEGY_BUFFER)
        r = fits_spool_new(lineno, &builder->warnings, builder->problem, &builder->fits);
    return r;
}

static int end_fits_stream(struct builder *builder) {
    if (builder->fits != NULL) {
        int r =
            fits_spool_read(builder->fits, builder->extnum, builder->table, builder->consumer);
        fits_spool_free(builder->fits);
        builder->fits = NULL;
        return r;
    }
    if (builder->text_bytes == 0)
        return 0;
    int r = decode_text(builder, builder->td_lineno);
    if (r < 0)
        return r;
    return fits_data_read_memory((unsigned char *)builder->text, builder->text_bytes,
                                 builder->extnum, builder->td_lineno, builder->table,
                                 builder->consumer, builder->problem);
}

int builder_end_stream(struct builder *builder) {
    builder->wants_text = false;
    if (!builder->streaming)
        return end_fits_stream(builder);
    int r = stream_end(&builder->stream);
    stream_finish(&builder->stream);
    builder->streaming = false;
    return r;
}
