/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary_items.c: items of BINARY, big-endian, become items of columns.
 *
 * One function for each kind of item; each takes any number of whole ones. Turning is left to
 * the compiler, which makes it a load and a swap.
 */
#include "binary_items.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct field *field_at(const struct binary_rows *rows) {
    return rows->columns[rows->at].field;
}

/* Items that arrive, turned and stored. @bytes is whole items, at most what the cell lacks. */
static int store_turned(struct binary_rows *rows, const unsigned char *bytes, size_t length,
                        size_t width, size_t item_bytes) {
    struct column *column = &rows->columns[rows->at];
    while (length > 0) {
        uint64_t room;
        unsigned char *to = column_room(column, item_bytes, length, &room);
        if (to == NULL)
            return problem_set_memory(rows->problem);
        room -= room % item_bytes;
        for (size_t i = 0; width == 8 && i < room; i += 8) {
            uint64_t item;
            memcpy(&item, bytes + i, 8);
            item = be64toh(item);
            memcpy(to + i, &item, 8);
        }
        for (size_t i = 0; width == 4 && i < room; i += 4) {
            uint32_t item;
            memcpy(&item, bytes + i, 4);
            item = be32toh(item);
            memcpy(to + i, &item, 4);
        }
        for (size_t i = 0; width == 2 && i < room; i += 2) {
            uint16_t item;
            memcpy(&item, bytes + i, 2);
            item = be16toh(item);
            memcpy(to + i, &item, 2);
        }
        if (width == 1)
            memcpy(to, bytes, room);
        column_keep(column, room);
        bytes += room;
        length -= room;
    }
    return 0;
}

static int store_1(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 1, 1);
}

static int store_2(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 2, 2);
}

static int store_4(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 4, 4);
}

static int store_8(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 8, 8);
}

static int store_2x4(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 4, 8);
}

static int store_2x8(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    return store_turned(rows, bytes, length, 8, 16);
}

static int store_booleans(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char value = COLUMN_BOOLEAN_NULL;
        if (bytes[i] == 'T' || bytes[i] == 't' || bytes[i] == '1')
            value = 1;
        else if (bytes[i] == 'F' || bytes[i] == 'f' || bytes[i] == '0')
            value = 0;
        else if (bytes[i] != '?' && bytes[i] != ' ' && bytes[i] != '\0')
            return problem_set(rows->problem, -EBADMSG, rows->lineno,
                               "row %" PRIu64 " has byte 0x%02x in boolean column '%s', the "
                               "stream does not fit its FIELDs, correct one of them",
                               rows->rows + 1, bytes[i], field_at(rows)->name);
        if (column_store(&rows->columns[rows->at], &value, 1) < 0)
            return problem_set_memory(rows->problem);
    }
    return 0;
}

static int store_bits(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    struct column *column = &rows->columns[rows->at];
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = bytes[i];
        uint64_t bits = rows->cell_items - column->bits;
        if (bits < 8)
            byte &= (unsigned char)(0xff00 >> bits);
        if (column_store(column, &byte, 1) < 0)
            return problem_set_memory(rows->problem);
        column_count_bits(column, bits < 8 ? bits : 8);
    }
    return 0;
}

static int store_chars(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    int r = string_cell_bytes(&rows->string, bytes, length);
    return r < 0 ? problem_set_memory(rows->problem) : 0;
}

static int store_units(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    int r = string_cell_units(&rows->string, bytes, length);
    return r < 0 ? problem_set_memory(rows->problem) : 0;
}

const struct binary_items_kind binary_items_kinds[FIELD_TYPES] = {
    [FIELD_BOOLEAN] = {store_booleans, 1},
    [FIELD_BIT] = {store_bits, 1},
    [FIELD_UNSIGNED_BYTE] = {store_1, 1},
    [FIELD_SHORT] = {store_2, 2},
    [FIELD_INT] = {store_4, 4},
    [FIELD_LONG] = {store_8, 8},
    [FIELD_CHAR] = {store_chars, 1},
    [FIELD_UNICODE_CHAR] = {store_units, 2},
    [FIELD_FLOAT] = {store_4, 4},
    [FIELD_DOUBLE] = {store_8, 8},
    [FIELD_FLOAT_COMPLEX] = {store_2x4, 8},
    [FIELD_DOUBLE_COMPLEX] = {store_2x8, 16},
};
