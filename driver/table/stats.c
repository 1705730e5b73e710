/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.c: one pass over each batch, a column at a time.
 *
 * Sums are exact: those of reals are rounded once, at the end, and those of integers have 128
 * bits, which 2^64 values of 2^63 do not fill. So the figures depend on neither the order of
 * rows nor the size of batches.
 */
#include "stats.h"

#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* One column of one batch. */
struct counting {
    const struct field *field;
    struct column_stats *stats;
    bool scalar_is_null; /* a scalar item that stands for null makes its cell null */
};

static void add_real(struct column_stats *stats, double value) {
    if (isnan(value)) {
        stats->nan++;
        return;
    }
    if (isinf(value)) {
        stats->inf++;
        return;
    }
    if (stats->numbers == 0 || value < stats->real_low)
        stats->real_low = value;
    if (stats->numbers == 0 || value > stats->real_high)
        stats->real_high = value;
    stats->numbers++;
    exact_sum_add(&stats->real_sum, value);
}

static void add_integer(struct column_stats *stats, int64_t value) {
    if (stats->numbers == 0 || value < stats->integer_low)
        stats->integer_low = value;
    if (stats->numbers == 0 || value > stats->integer_high)
        stats->integer_high = value;
    stats->numbers++;
    stats->integer_sum += value;
}

static int64_t integer_at(enum field_type type, const unsigned char *item) {
    int16_t narrow;
    int32_t integer;
    int64_t wide;
    switch (type) {
    case FIELD_SHORT:
        memcpy(&narrow, item, sizeof(narrow));
        return narrow;
    case FIELD_INT:
        memcpy(&integer, item, sizeof(integer));
        return integer;
    case FIELD_LONG:
        memcpy(&wide, item, sizeof(wide));
        return wide;
    default:
        return *item;
    }
}

static bool is_magic(const struct field *field, const unsigned char *item) {
    if (field->type == FIELD_BOOLEAN)
        return *item == COLUMN_BOOLEAN_NULL;
    return field->has_null && field_is_integer(field) &&
           integer_at(field->type, item) == field->null_integer;
}

static void add_items(struct counting *counting, const unsigned char *items, uint64_t bytes) {
    struct column_stats *stats = counting->stats;
    enum field_type type = counting->field->type;
    uint64_t item_bytes = field_item_bytes(type);
    uint64_t step = 4;
    float real;
    double precise;
    switch (type) {
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        for (uint64_t at = 0; at < bytes; at += step) {
            memcpy(&real, items + at, sizeof(real));
            add_real(stats, (double)real);
        }
        break;
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        step = 8;
        for (uint64_t at = 0; at < bytes; at += step) {
            memcpy(&precise, items + at, sizeof(precise));
            add_real(stats, precise);
        }
        break;
    default:
        for (uint64_t at = 0; at < bytes; at += item_bytes) {
            if (is_magic(counting->field, items + at))
                stats->magic++;
            else
                add_integer(stats, integer_at(type, items + at));
        }
        break;
    }
    stats->items += bytes / item_bytes;
}

static void add_bits(struct column_stats *stats, const unsigned char *bytes, uint64_t bits) {
    for (uint64_t i = 0; i < bits; i++)
        add_integer(stats, (bytes[i / 8] & (0x80 >> i % 8)) != 0);
    stats->items += bits;
}

/* Bytes that are no UTF-8 count as the replacement character, one for each of them. */
static void add_text(struct column_stats *stats, const char *text, uint64_t length) {
    static const unsigned char replacement[] = {0xef, 0xbf, 0xbd};
    const char *plain = text;
    const char *end = text + length;
    for (const char *c = text; c < end;) {
        uint32_t point;
        size_t bytes = utf8_decode(c, (size_t)(end - c), &point);
        if (point == UTF8_INVALID) {
            stats->crc = (uint32_t)crc32_z(stats->crc, (const unsigned char *)plain,
                                           (size_t)(c - plain));
            stats->crc = (uint32_t)crc32_z(stats->crc, replacement, sizeof(replacement));
            stats->bytes += (uint64_t)(c - plain) + sizeof(replacement);
            plain = c + bytes;
        }
        c += bytes;
    }
    stats->crc =
        (uint32_t)crc32_z(stats->crc, (const unsigned char *)plain, (size_t)(end - plain));
    stats->crc = (uint32_t)crc32_z(stats->crc, (const unsigned char *)"\n", 1);
    stats->bytes += (uint64_t)(end - plain);
}

static void add_strings(struct counting *counting, const char *text, uint64_t length) {
    const char *end = text + length;
    counting->stats->items++;
    if (counting->field->string_items == 0) {
        add_text(counting->stats, text, length);
        return;
    }
    while (text < end) {
        uint64_t string = strnlen(text, (size_t)(end - text));
        add_text(counting->stats, text, string);
        text += string + 1;
    }
}

static void add_cell(struct counting *counting, const struct column_cell *cell,
                     const unsigned char *bytes) {
    const struct field *field = counting->field;
    if (cell->null ||
        (counting->scalar_is_null && cell->bytes > 0 && is_magic(counting->field, bytes)))
        counting->stats->nulls++;
    else if (field_is_string(field))
        add_strings(counting, (const char *)bytes, cell->bytes);
    else if (field->type == FIELD_BIT)
        add_bits(counting->stats, bytes, cell->bits);
    else
        add_items(counting, bytes, cell->bytes);
}

static int count_column(const struct table *table, const struct column *column,
                        struct column_stats *stats, struct column_scratch *scratch) {
    struct counting counting = {.field = column->field, .stats = stats};
    counting.scalar_is_null =
        column->field->arraysize == NULL && table->serialization != SERIALIZATION_TABLEDATA;
    struct column_cursor cursor;
    struct column_cell cell;
    column_cursor_init(&cursor, column);
    while (column_cursor_next(&cursor, &cell)) {
        const unsigned char *bytes = column_cursor_whole(&cursor, &cell, scratch);
        if (bytes == NULL)
            return -ENOMEM;
        add_cell(&counting, &cell, bytes);
    }
    return 0;
}

static int on_rows(void *context, struct table *table, uint64_t first_row, uint64_t row_count,
                   struct problem *problem) {
    struct stats *stats = context;
    struct column_stats *columns = stats->tables[stats->table_count - 1].columns;
    struct column_scratch scratch = {0};
    int r = 0;
    for (size_t i = 0; i < table->field_count && r == 0; i++)
        r = count_column(table, &table->columns[i], &columns[i], &scratch);
    column_scratch_finish(&scratch);
    return r < 0 ? problem_set_memory(problem) : 0;
}

static int on_table(void *context, struct table *table, struct problem *problem) {
    struct stats *stats = context;
    struct table_stats *grown =
        reallocarray(stats->tables, stats->table_count + 1, sizeof(*stats->tables));
    if (grown == NULL)
        return problem_set_memory(problem);
    stats->tables = grown;
    struct column_stats *columns = calloc(table->field_count + 1, sizeof(*columns));
    if (columns == NULL)
        return problem_set_memory(problem);
    stats->tables[stats->table_count++] = (struct table_stats){table, columns};
    for (size_t i = 0; i < table->field_count; i++) {
        columns[i].real = table->fields[i]->type >= FIELD_FLOAT;
        if (table->columns != NULL)
            table->columns[i].marks_nulls = true;
    }
    return 0;
}

void stats_init(struct stats *ret_stats, struct consumer *ret_consumer) {
    *ret_stats = (struct stats){0};
    *ret_consumer =
        (struct consumer){.context = ret_stats, .table_begin = on_table, .rows = on_rows};
}

void stats_finish(struct stats *stats) {
    for (size_t i = 0; i < stats->table_count; i++)
        free(stats->tables[i].columns);
    free(stats->tables);
    *stats = (struct stats){0};
}
