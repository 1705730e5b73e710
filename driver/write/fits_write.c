/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_write.c: rows and heap as bytes, headers by cfitsio.
 *
 * cfitsio would move the heap each time a row is added, and hold a file in memory; so it makes
 * the headers only, of a table without rows in its memory, and the values take the same way as
 * those of BINARY.
 */
#include "fits_write.h"

#include "fits_library.h"
#include "output.h"
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES     2880
#define CARD_BYTES      80
#define UTF8_PER_UNIT   3
#define FORM_BYTES      48
#define DIMENSION_BYTES 70

/* A column: its field as FITS sees it, and what the header must say of its values. */
struct output_column {
    struct field field; /* shallow; strings are bytes of char, integers have a null_integer */
    uint64_t cells_null;
    uint64_t items_max;   /* of a cell of a variable column */
    uint64_t values_null; /* items that look null but are not */
    const struct field *given;
};

struct fits_writer {
    struct writer_losses *losses;
    struct output_column *columns;
    size_t column_count;
    uint64_t rows;
    struct wire row_wire;
    struct wire heap_wire;
    struct output row_spool;
    struct output heap_spool;
};

static const char type_letters[FIELD_TYPES] = {
    [FIELD_BOOLEAN] = 'L', [FIELD_BIT] = 'X',           [FIELD_UNSIGNED_BYTE] = 'B',
    [FIELD_SHORT] = 'I',   [FIELD_INT] = 'J',           [FIELD_LONG] = 'K',
    [FIELD_CHAR] = 'A',    [FIELD_UNICODE_CHAR] = 'A',  [FIELD_FLOAT] = 'E',
    [FIELD_DOUBLE] = 'D',  [FIELD_FLOAT_COMPLEX] = 'C', [FIELD_DOUBLE_COMPLEX] = 'M',
};

static void drain(struct wire *wire) {
    output_text(wire->context, (const char *)wire->raw, wire->used);
}

static int64_t default_null(enum field_type type) {
    switch (type) {
    case FIELD_UNSIGNED_BYTE:
        return UINT8_MAX;
    case FIELD_SHORT:
        return INT16_MIN;
    case FIELD_INT:
        return INT32_MIN;
    default:
        return INT64_MIN;
    }
}

static void make_column(const struct field *field, struct output_column *ret_column) {
    ret_column->field = *field;
    ret_column->given = field;
    if (!field->has_null)
        ret_column->field.null_integer = default_null(field->type);
    if (field->type != FIELD_UNICODE_CHAR)
        return;
    ret_column->field.type = FIELD_CHAR;
    ret_column->field.string_items *= UTF8_PER_UNIT;
    ret_column->field.items *= UTF8_PER_UNIT;
    if (field->variable && field->string_items == 0)
        ret_column->field.items = 1;
}

int fits_writer_new(struct field *const *fields, size_t field_count,
                    struct writer_losses *losses, struct fits_writer **ret_writer,
                    struct problem *problem) {
    if (field_count > FITS_COLUMNS_MAX)
        return problem_set(problem, -ENOTSUP, 0,
                           "the table has %zu columns, FITS has at most %d, choose another "
                           "format",
                           field_count, FITS_COLUMNS_MAX);
    struct fits_writer *writer = malloc(sizeof(*writer));
    if (writer == NULL)
        return problem_set_memory(problem);
    writer->losses = losses;
    writer->column_count = field_count;
    writer->rows = 0;
    writer->row_spool.fd = -1;
    writer->columns = calloc(field_count + 1, sizeof(*writer->columns));
    int r = writer->columns == NULL ? problem_set_memory(problem) : 0;
    if (r == 0)
        r = output_open_spool(&writer->row_spool, problem);
    if (r == 0)
        r = output_open_spool(&writer->heap_spool, problem);
    if (r < 0) {
        if (writer->row_spool.fd >= 0)
            output_abandon(&writer->row_spool);
        free(writer->columns);
        free(writer);
        return r;
    }
    wire_init(&writer->row_wire, drain, &writer->row_spool);
    wire_init(&writer->heap_wire, drain, &writer->heap_spool);
    writer->row_wire.boolean_null = '\0';
    writer->heap_wire.boolean_null = '\0';
    for (size_t i = 0; i < field_count; i++)
        make_column(fields[i], &writer->columns[i]);
    *ret_writer = writer;
    return 0;
}

void fits_writer_free(struct fits_writer *writer) {
    if (writer == NULL)
        return;
    output_abandon(&writer->row_spool);
    output_abandon(&writer->heap_spool);
    free(writer->columns);
    free(writer);
}

/* Integers that happen to be what will stand for null, where nobody chose that value. */
static void count_null_values(struct output_column *column, const struct wire_cell *cell) {
    uint64_t width = field_item_bytes(column->field.type);
    const int64_t value = column->field.null_integer;
    unsigned char null[8];
    if (width == 1)
        null[0] = (unsigned char)value;
    else if (width == 2)
        memcpy(null, &(int16_t){(int16_t)value}, 2);
    else if (width == 4)
        memcpy(null, &(int32_t){(int32_t)value}, 4);
    else
        memcpy(null, &value, 8);
    const unsigned char *items = cell->items;
    for (uint64_t i = 0; i < cell->count; i++)
        column->values_null += memcmp(items + i * width, null, width) == 0;
}

static void put_string(struct fits_writer *writer, struct output_column *column,
                       const struct wire_cell *cell) {
    const struct field *field = &column->field;
    uint64_t units = wire_string_units(field, cell);
    const unsigned char *text = cell->items;
    bool ascii = true;
    for (uint64_t i = 0; !cell->null && i < cell->count; i++)
        ascii = ascii && text[i] < 0x80;
    if (!ascii)
        writer_count_loss(writer->losses, LOSS_UNICODE, column->given);
    if (!field->variable) {
        if (units > field->items)
            writer_count_loss(writer->losses, LOSS_LENGTH, column->given);
        wire_put_strings(&writer->row_wire, field, cell, field->items);
        return;
    }
    wire_put_be64(&writer->row_wire, units);
    wire_put_be64(&writer->row_wire, writer->heap_wire.total);
    wire_put_strings(&writer->heap_wire, field, cell, units);
    if (units > column->items_max)
        column->items_max = units;
}

static void put_values(struct fits_writer *writer, struct output_column *column,
                       const struct wire_cell *cell) {
    const struct field *field = &column->field;
    if (cell->null && field->type == FIELD_BIT && !field->variable)
        writer_count_loss(writer->losses, LOSS_NULL, column->given);
    if (!cell->null && field_is_integer(field) && !field->has_null)
        count_null_values(column, cell);
    if (field->variable) {
        uint64_t count = cell->null ? 0 : cell->count;
        wire_put_be64(&writer->row_wire, count);
        wire_put_be64(&writer->row_wire, writer->heap_wire.total);
        wire_put_items(&writer->heap_wire, field->type, cell->items, count);
        if (count > column->items_max)
            column->items_max = count;
    } else if (cell->null) {
        column->cells_null++;
        wire_put_nulls(&writer->row_wire, field, field->items);
    } else {
        wire_put_items(&writer->row_wire, field->type, cell->items, cell->count);
    }
}

void fits_writer_row(struct fits_writer *writer, const struct wire_cell *cells) {
    for (size_t i = 0; i < writer->column_count; i++) {
        struct output_column *column = &writer->columns[i];
        if (field_is_string(&column->field))
            put_string(writer, column, &cells[i]);
        else
            put_values(writer, column, &cells[i]);
    }
    writer->rows++;
}

/* TFORM, and TDIM of an array of several dimensions, which variable ones cannot have. */
static void print_form(const struct output_column *column, char ret_form[FORM_BYTES]) {
    const struct field *field = &column->field;
    if (field->variable)
        snprintf(ret_form, FORM_BYTES, "1Q%c(%" PRIu64 ")", type_letters[field->type],
                 column->items_max);
    else
        snprintf(ret_form, FORM_BYTES, "%" PRIu64 "%c", field->items,
                 type_letters[field->type]);
}

static bool print_dimensions(const struct output_column *column,
                             char ret_text[DIMENSION_BYTES]) {
    const char *arraysize = column->given->arraysize;
    if (column->field.variable || arraysize == NULL || strchr(arraysize, 'x') == NULL ||
        strlen(arraysize) > 40)
        return false;
    size_t used = 1;
    ret_text[0] = '(';
    for (const char *c = arraysize; *c != '\0'; c++) {
        if (c == arraysize && column->given->type == FIELD_UNICODE_CHAR) {
            used +=
                (size_t)snprintf(ret_text + used, 24, "%" PRIu64, column->field.string_items);
            c += strcspn(c, "x") - 1;
        } else if (*c == 'x') {
            ret_text[used++] = ',';
        } else if (*c >= '0' && *c <= '9') {
            ret_text[used++] = *c;
        }
    }
    ret_text[used++] = ')';
    ret_text[used] = '\0';
    return true;
}

/* Names are ASCII there, and no longer than a card. */
static void print_name(const struct field *field, char ret_name[FLEN_VALUE]) {
    size_t used = 0;
    for (const char *c = field->name; *c != '\0' && used < 60; c++)
        ret_name[used++] = *c >= 0x20 && *c < 0x7f ? *c : '_';
    ret_name[used] = '\0';
}

static void describe_column(const struct fits_session *session, int number,
                            const struct output_column *column, int *status) {
    char key[FLEN_KEYWORD];
    char dimensions[DIMENSION_BYTES];
    if (print_dimensions(column, dimensions)) {
        session->library->fits_make_keyn("TDIM", number, key, status);
        session->library->fits_write_key(session->file, TSTRING, key, dimensions, NULL, status);
    }
    bool has_null =
        field_is_integer(&column->field) && (column->field.has_null || column->cells_null > 0);
    if (has_null) {
        LONGLONG null = column->field.null_integer;
        session->library->fits_make_keyn("TNULL", number, key, status);
        session->library->fits_write_key(session->file, TLONGLONG, key, &null, NULL, status);
    }
}

/* A number of 20 characters into a card of the header: `NAXIS2  =                    0`. */
static bool set_card(char *header, const char *name, uint64_t value) {
    size_t length = strlen(header);
    for (size_t at = 0; at + CARD_BYTES <= length; at += CARD_BYTES) {
        char text[24];
        if (strncmp(header + at, name, 8) != 0)
            continue;
        snprintf(text, sizeof(text), "%20" PRIu64, value);
        memcpy(header + at + 10, text, 20);
        return true;
    }
    return false;
}

/*
 * Both headers of an empty table in cfitsio's memory, then the two numbers that it lacks: told
 * to cfitsio, they would make it hold as many rows.
 */
static void make_headers(struct fits_writer *writer, const struct fits_session *session,
                         char **names, char **forms, char **ret_primary, char **ret_table,
                         int *status) {
    int cards;
    session->library->fits_create_img(session->file, BYTE_IMG, 0, NULL, status);
    session->library->fits_hdr2str(session->file, 0, NULL, 0, ret_primary, &cards, status);
    session->library->fits_create_tbl(session->file, BINARY_TBL, 0, (int)writer->column_count,
                                      names, forms, NULL, NULL, status);
    for (size_t i = 0; i < writer->column_count; i++)
        describe_column(session, (int)i + 1, &writer->columns[i], status);
    session->library->fits_hdr2str(session->file, 0, NULL, 0, ret_table, &cards, status);
    /* Without memory cfitsio may say that all is well. */
    if (*status == 0 && (*ret_primary == NULL || *ret_table == NULL))
        *status = MEMORY_ALLOCATION;
    if (*status == 0 && (!set_card(*ret_table, "NAXIS2  ", writer->rows) ||
                         !set_card(*ret_table, "PCOUNT  ", writer->heap_wire.total)))
        *status = NO_NAXES;
}

static void put_header(struct wire *to, const char *header) {
    size_t length = strlen(header);
    wire_put(to, header, length);
    for (size_t at = length; at % BLOCK_BYTES != 0; at++)
        wire_put(to, " ", 1);
}

/* The file is in memory: when it cannot be made or opened, that is what is missing. */
static int complain_headers(const struct fits_session *session, int status,
                            struct problem *problem) {
    char words[FLEN_STATUS] = "";
    if (status == MEMORY_ALLOCATION || status == FILE_NOT_CREATED || status == FILE_NOT_OPENED)
        return problem_set_memory(problem);
    session->library->fits_get_errstatus(status, words);
    return problem_set(problem, -EIO, 0,
                       "the FITS header cannot be made: %s, choose another format", words);
}

static int put_headers(struct fits_writer *writer, struct wire *to, struct problem *problem) {
    size_t count = writer->column_count;
    char(*texts)[FORM_BYTES + FLEN_VALUE] = calloc(count + 1, sizeof(*texts));
    char **pointers = calloc(2 * count + 1, sizeof(*pointers));
    char *primary = NULL;
    char *table = NULL;
    struct fits_session session = {0};
    int status = 0;
    int r = fits_library_load(0, &session.library, problem);
    if (r < 0)
        goto out;
    if (texts == NULL || pointers == NULL) {
        r = problem_set_memory(problem);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        print_form(&writer->columns[i], texts[i]);
        print_name(writer->columns[i].given, texts[i] + FORM_BYTES);
        pointers[i] = texts[i] + FORM_BYTES;
        pointers[count + i] = texts[i];
    }
    session.library->fits_create_file(&session.file, "mem://", &status);
    make_headers(writer, &session, pointers, pointers + count, &primary, &table, &status);
    if (status != 0) {
        r = complain_headers(&session, status, problem);
        goto out;
    }
    put_header(to, primary);
    put_header(to, table);
out:
    if (session.file != NULL) {
        status = 0;
        session.library->fits_delete_file(session.file, &status);
    }
    status = 0;
    if (primary != NULL)
        session.library->fits_free_memory(primary, &status);
    if (table != NULL)
        session.library->fits_free_memory(table, &status);
    free(pointers);
    free(texts);
    return r;
}

static void take_spooled(void *context, const char *bytes, size_t length) {
    wire_put(context, bytes, length);
}

static void count_magic(const struct fits_writer *writer) {
    for (size_t i = 0; i < writer->column_count; i++) {
        const struct output_column *column = &writer->columns[i];
        for (uint64_t j = 0; column->cells_null > 0 && j < column->values_null; j++)
            writer_count_loss(writer->losses, LOSS_MAGIC, column->given);
    }
}

int fits_writer_end(struct fits_writer *writer, struct wire *to, struct problem *problem) {
    wire_flush(&writer->row_wire);
    wire_flush(&writer->heap_wire);
    count_magic(writer);
    int r = put_headers(writer, to, problem);
    if (r == 0)
        r = output_replay(&writer->row_spool, take_spooled, to, problem);
    if (r == 0)
        r = output_replay(&writer->heap_spool, take_spooled, to, problem);
    uint64_t bytes = writer->row_wire.total + writer->heap_wire.total;
    wire_put_zeros(to, (BLOCK_BYTES - bytes % BLOCK_BYTES) % BLOCK_BYTES);
    return r;
}
