/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_table.c: TABLEs, and whether their cells and streams fit their FIELDs.
 */
#include "check_document.h"
#include "check_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct findings *findings_of(struct check_document *document) {
    return &document->findings;
}

static uint64_t lineno_of(const struct check_document *document) {
    return document->frames[document->depth - 1].lineno;
}

/* ---- TABLE ---- */

static void begin_table(struct check_document *document, const struct check_begin *begin) {
    struct check_table *table = &document->table;
    const char *nrows = check_begin_get(begin, "nrows");
    const char *ref = check_begin_get(begin, "ref");
    document->in_table = true;
    table->lineno = begin->lineno;
    table->rows_known = true;
    if (nrows != NULL && value_is_of_kind(KIND_COUNT, nrows, document->version)) {
        errno = 0;
        table->nrows = strtoull(nrows, NULL, 10);
        table->has_nrows = errno == 0;
    }
    const struct check_id *other = ref != NULL ? check_ids_find(&document->ids, ref) : NULL;
    if (other != NULL && other->element == SCHEMA_TABLE) {
        table->has_ref = true;
        table->fields = other->fields;
    } else if (ref != NULL && other == NULL) {
        table->has_ref = true;
        table->unknown = true;
    }
}

static int compare_names(const void *a, const void *b) {
    const struct check_field *const *one = a;
    const struct check_field *const *other = b;
    int order = strcmp((*one)->field.name, (*other)->field.name);
    return order != 0 ? order : *one < *other ? -1 : 1;
}

static void check_names(struct check_document *document) {
    const struct check_fields *fields = &document->table.fields;
    if (fields->count < 2)
        return;
    const struct check_field **sorted = calloc(fields->count, sizeof(*sorted));
    if (sorted == NULL) {
        problem_set_memory(document->problem);
        return;
    }
    for (size_t i = 0; i < fields->count; i++)
        sorted[i] = &fields->items[i];
    qsort(sorted, fields->count, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < fields->count; i++) {
        const char *name = sorted[i]->field.name;
        if (*name == '\0' || strcmp(sorted[i - 1]->field.name, name) != 0)
            continue;
        findings_add(findings_of(document), FINDING_R04, document->table.lineno, SCHEMA_TABLE,
                     NULL, "FIELDs %td and %td are both named '%.60s'",
                     sorted[i - 1] - fields->items + 1, sorted[i] - fields->items + 1, name);
    }
    free(sorted);
}

static void end_table(struct check_document *document) {
    struct check_table *table = &document->table;
    if (!table->has_ref)
        check_names(document);
    if (table->has_data && table->has_nrows && table->rows_known && table->nrows != table->rows)
        findings_add(findings_of(document), FINDING_T01, table->lineno, SCHEMA_TABLE, "nrows",
                     "TABLE has nrows=\"%" PRIu64 "\" and %" PRIu64 " rows, correct nrows",
                     table->nrows, table->rows);
    if (!table->has_ref && table->id != NULL)
        table->id->fields = table->fields;
    else if (!table->has_ref)
        check_fields_finish(&table->fields);
    *table = (struct check_table){0};
    document->in_table = false;
    document->field = NULL;
}

static void begin_data(struct check_document *document, const struct check_begin *begin) {
    struct check_table *table = &document->table;
    table->has_data = true;
    document->field = NULL;
    if (table->fields.count == 0 && !table->unknown)
        findings_add(findings_of(document), FINDING_F08, begin->lineno, SCHEMA_DATA, NULL,
                     "the TABLE has data but no FIELDs, nothing can be read from it");
}

/* ---- rows of TABLEDATA ---- */

static void end_row(struct check_document *document) {
    struct check_table *table = &document->table;
    table->rows++;
    if (table->fields.count > 0 && document->cells != table->fields.count)
        findings_add(findings_of(document), FINDING_C05, document->tr_lineno, SCHEMA_TR, NULL,
                     "row %" PRIu64 " has %zu cells, the table has %zu FIELDs", table->rows,
                     document->cells, table->fields.count);
}

static void begin_cell(struct check_document *document, const struct check_begin *begin) {
    const char *encoding = check_begin_get(begin, "encoding");
    document->cell_encoded = encoding != NULL && strcmp(encoding, "none") != 0;
    document->cell_base64 = encoding != NULL && strcmp(encoding, "base64") == 0;
    document->text_bytes = 0;
}

/* The text is the cell's BINARY form. */
static void check_encoded_cell(struct check_document *document, struct check_field *field) {
    struct check_fields fields = {field, 1, 1};
    struct check_stream stream;
    uint64_t rows = 0;
    const struct check_stream_place place = {
        .findings = findings_of(document),
        .fields = &fields,
        .problem = document->problem,
        .version = document->version,
        .kind = CHECK_STREAM_BINARY,
        .element = SCHEMA_TD,
        .lineno = lineno_of(document),
    };
    check_stream_init(&stream, &place);
    check_stream_text(&stream, document->text, document->text_bytes);
    if (check_stream_end(&stream, &rows) && rows != 1)
        findings_add(
            findings_of(document), FINDING_C11, lineno_of(document), SCHEMA_TD, "encoding",
            "row %" PRIu64 ", column '%.60s': the text encodes %" PRIu64 " cells, not one",
            document->table.rows + 1, field->field.name, rows);
    check_stream_finish(&stream);
}

static void end_cell(struct check_document *document) {
    size_t at = document->cells++;
    if (at >= document->table.fields.count)
        return;
    struct check_field *field = &document->table.fields.items[at];
    if (!field->usable)
        return;
    if (document->cell_encoded && document->text_bytes > 0) {
        if (document->cell_base64)
            check_encoded_cell(document, field);
        return;
    }
    char words[FINDING_TEXT_BYTES];
    const char *text = document->text_bytes > 0 ? document->text : "";
    enum finding_code code =
        check_cell_text(field, document->version, text, document->text_bytes, words);
    if (code != FINDING_CODES)
        findings_add(findings_of(document), code, lineno_of(document), SCHEMA_TD, NULL,
                     "row %" PRIu64 ", column '%.60s': %s", document->table.rows + 1,
                     field->field.name, words);
}

static void cell_text(struct check_document *document, const char *text, size_t length) {
    size_t needed = document->text_bytes + length + 1;
    if (needed > document->text_room) {
        size_t room = needed * 2;
        char *grown = realloc(document->text, room);
        if (grown == NULL) {
            problem_set_memory(document->problem);
            return;
        }
        document->text = grown;
        document->text_room = room;
    }
    memcpy(document->text + document->text_bytes, text, length);
    document->text_bytes += length;
    document->text[document->text_bytes] = '\0';
}

/* ---- STREAM ---- */

static enum check_stream_kind kind_of(const struct check_document *document) {
    if (document->table.unknown)
        return CHECK_STREAM_OPAQUE;
    switch (document->frames[document->depth - 2].element) {
    case SCHEMA_BINARY:
        return CHECK_STREAM_BINARY;
    case SCHEMA_BINARY2:
        return CHECK_STREAM_BINARY2;
    default:
        return CHECK_STREAM_FITS;
    }
}

/* What is no number has been told by A04, and is as if it were not there. */
static void begin_fits(struct check_document *document, const struct check_begin *begin) {
    const char *extnum = check_begin_get(begin, "extnum");
    errno = 0;
    document->extnum = extnum != NULL ? strtoull(extnum, NULL, 10) : 0;
    if (errno != 0)
        document->extnum = 0;
}

static void begin_stream(struct check_document *document, const struct check_begin *begin) {
    const char *encoding = check_begin_get(begin, "encoding");
    const char *href = check_begin_get(begin, "href");
    document->stream_has_href = href != NULL;
    document->stream_has_text = false;
    document->stream_is_base64 = encoding != NULL && strcmp(encoding, "base64") == 0;
    check_stream_finish(&document->stream);
    const struct check_stream_place place = {
        .findings = findings_of(document),
        .fields = &document->table.fields,
        .problem = document->problem,
        .version = document->version,
        .kind = kind_of(document),
        .element = SCHEMA_STREAM,
        .lineno = begin->lineno,
        .extnum = document->extnum,
    };
    check_stream_init(&document->stream, &place);
}

static void stream_text(struct check_document *document, const char *text, size_t length) {
    for (size_t i = 0; i < length && !document->stream_has_text; i++)
        document->stream_has_text = strchr(" \t\n\r", text[i]) == NULL;
    /* Even where it is not said: it cannot be anything else. */
    check_stream_text(&document->stream, text, length);
}

static void end_stream(struct check_document *document) {
    uint64_t rows = 0;
    uint64_t lineno = lineno_of(document);
    struct findings *findings = findings_of(document);
    if (document->stream_has_text == document->stream_has_href)
        findings_add(findings, FINDING_B10, lineno, SCHEMA_STREAM, NULL,
                     document->stream_has_href
                         ? "STREAM has both href and text, only one of them can be the data"
                         : "STREAM has neither text nor href: it holds no rows");
    if (document->stream_has_text && !document->stream_is_base64)
        findings_add(findings, FINDING_B11, lineno, SCHEMA_STREAM, "encoding",
                     "STREAM has text, which can only be base64, but not encoding=\"base64\"");
    bool known = check_stream_end(&document->stream, &rows) && !document->stream_has_href;
    document->table.rows_known = document->table.rows_known && known;
    document->table.rows += rows;
}

/* ---- which element is what ---- */

void check_table_begin(struct check_document *document, enum schema_element element,
                       const struct check_begin *begin) {
    switch (element) {
    case SCHEMA_TABLE:
        begin_table(document, begin);
        break;
    case SCHEMA_FIELD:
        check_begin_field(document, begin);
        break;
    case SCHEMA_PARAM:
        check_begin_param(document, begin);
        break;
    case SCHEMA_VALUES:
        check_begin_values(document, begin);
        break;
    case SCHEMA_MIN:
    case SCHEMA_MAX:
    case SCHEMA_OPTION:
        check_begin_bound(document, element, begin);
        break;
    case SCHEMA_DATA:
        begin_data(document, begin);
        break;
    case SCHEMA_TR:
        document->cells = 0;
        document->tr_lineno = begin->lineno;
        break;
    case SCHEMA_TD:
        begin_cell(document, begin);
        break;
    case SCHEMA_FITS:
        begin_fits(document, begin);
        break;
    case SCHEMA_STREAM:
        begin_stream(document, begin);
        break;
    default:
        break;
    }
}

void check_table_end(struct check_document *document, enum schema_element element) {
    switch (element) {
    case SCHEMA_TABLE:
        end_table(document);
        break;
    case SCHEMA_FIELD:
    case SCHEMA_PARAM:
        document->field = NULL;
        break;
    case SCHEMA_TR:
        end_row(document);
        break;
    case SCHEMA_TD:
        end_cell(document);
        break;
    case SCHEMA_STREAM:
        end_stream(document);
        break;
    default:
        break;
    }
}

void check_table_text(struct check_document *document, enum schema_element element,
                      const char *text, size_t length) {
    if (element == SCHEMA_TD)
        cell_text(document, text, length);
    else if (element == SCHEMA_STREAM)
        stream_text(document, text, length);
}
