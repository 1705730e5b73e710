/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.c: every value is brought to one canonical form, then mixed in.
 *
 * Each column is hashed by itself in row order, the columns' hashes then in column order. Null
 * items are counted until a value follows, because a cell of nothing but null items is the null
 * cell, whatever its length.
 */
#include "checksum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum tag {
    TAG_NULL_CELL = 1,
    TAG_NULL_ITEM,
    TAG_LENGTH,
    TAG_VALUE,
    TAG_STRING_END,
};

static uint64_t mix(uint64_t hash, uint64_t value, enum tag tag) {
    hash = (hash + (uint64_t)tag) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= value;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* The value of an item as 64 bits. False when it is null. */
static bool canonical_real(const struct field *field, double value, uint64_t *ret_value) {
    if (isnan(value) || (field->has_null && value == field->null_real))
        return false;
    memcpy(ret_value, &value, sizeof(value));
    return true;
}

static bool canonical_integer(const struct field *field, int64_t value, uint64_t *ret_value) {
    *ret_value = (uint64_t)value;
    return !(field->has_null && value == field->null_integer);
}

static bool canonical_item(const struct field *field, const unsigned char *bytes,
                           uint64_t *ret_value) {
    int16_t narrow;
    int32_t integer;
    int64_t wide;
    float real;
    double precise;
    switch (field->type) {
    case FIELD_BOOLEAN:
        *ret_value = *bytes;
        return *bytes != COLUMN_BOOLEAN_NULL;
    case FIELD_UNSIGNED_BYTE:
        return canonical_integer(field, *bytes, ret_value);
    case FIELD_SHORT:
        memcpy(&narrow, bytes, sizeof(narrow));
        return canonical_integer(field, narrow, ret_value);
    case FIELD_INT:
        memcpy(&integer, bytes, sizeof(integer));
        return canonical_integer(field, integer, ret_value);
    case FIELD_LONG:
        memcpy(&wide, bytes, sizeof(wide));
        return canonical_integer(field, wide, ret_value);
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        memcpy(&real, bytes, sizeof(real));
        return canonical_real(field, (double)real, ret_value);
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        memcpy(&precise, bytes, sizeof(precise));
        return canonical_real(field, precise, ret_value);
    default: /* bits */
        *ret_value = *bytes;
        return true;
    }
}

/* Bytes of what canonical_item() takes: half of a complex item. */
static uint64_t canonical_bytes(enum field_type type) {
    switch (type) {
    case FIELD_BIT:
        return 1;
    case FIELD_FLOAT_COMPLEX:
    case FIELD_DOUBLE_COMPLEX:
        return field_item_bytes(type) / 2;
    default:
        return field_item_bytes(type);
    }
}

static uint64_t hash_items(uint64_t hash, struct column_cursor *cursor,
                           const struct column_cell *cell) {
    const struct column *column = cursor->column;
    uint64_t item_bytes = canonical_bytes(column->field->type);
    uint64_t left = cell->bytes;
    uint64_t nulls = 0;
    uint64_t start = hash;
    bool all_null = true;

    while (left > 0) {
        uint64_t piece;
        const unsigned char *bytes = column_cursor_take(cursor, left, &piece);
        left -= piece;
        for (uint64_t i = 0; i < piece; i += item_bytes) {
            uint64_t value;
            if (!canonical_item(column->field, bytes + i, &value)) {
                nulls++;
                continue;
            }
            if (nulls > 0)
                hash = mix(hash, nulls, TAG_NULL_ITEM);
            hash = mix(hash, value, TAG_VALUE);
            nulls = 0;
            all_null = false;
        }
    }
    if (!column->field->variable && (all_null || cell->null))
        return mix(start, 0, TAG_NULL_CELL);
    return nulls > 0 ? mix(hash, nulls, TAG_NULL_ITEM) : hash;
}

static uint64_t hash_string(uint64_t hash, struct column_cursor *cursor,
                            const struct column_cell *cell) {
    bool array = cursor->column->field->string_items > 0;
    uint64_t left = cell->bytes;
    uint64_t empties = 0;
    while (left > 0) {
        uint64_t piece;
        const unsigned char *bytes = column_cursor_take(cursor, left, &piece);
        left -= piece;
        for (uint64_t i = 0; i < piece; i++) {
            if (array && bytes[i] == '\0') {
                empties++;
                continue;
            }
            if (empties > 0)
                hash = mix(hash, empties, TAG_STRING_END);
            empties = 0;
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
        }
    }
    return mix(hash, 0, TAG_STRING_END);
}

static uint64_t cell_items(const struct field *field, const struct column_cell *cell) {
    return field->type == FIELD_BIT ? cell->bits : cell->bytes / field_item_bytes(field->type);
}

static uint64_t hash_column(const struct column *column) {
    const struct field *field = column->field;
    uint64_t hash = UINT64_C(0x6a09e667f3bcc908);
    struct column_cursor cursor;
    struct column_cell cell;

    column_cursor_init(&cursor, column);
    while (column_cursor_next(&cursor, &cell)) {
        if (field_is_string(field)) {
            hash = hash_string(hash, &cursor, &cell);
            continue;
        }
        if (field->variable)
            hash = mix(hash, cell_items(field, &cell), TAG_LENGTH);
        hash = hash_items(hash, &cursor, &cell);
    }
    return hash;
}

uint64_t checksum_columns(const struct column *columns, size_t column_count, uint64_t rows) {
    uint64_t hash = mix(0, rows, TAG_LENGTH);
    for (size_t i = 0; i < column_count; i++)
        if (!columns[i].field->skipped)
            hash = mix(hash, hash_column(&columns[i]), TAG_VALUE);
    return hash;
}
