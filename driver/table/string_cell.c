/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_cell.c: NULs, padding and UCS-2, so that nobody behind has to know of them.
 *
 * A plain string goes through in pieces; an array of strings goes character by character, and
 * blanks are held back until something follows them.
 */
#include "string_cell.h"

#include <errno.h>
#include <string.h>

void string_cell_begin(struct string_cell *cell, struct column *column) {
    *cell = (struct string_cell){
        .column = column,
        .string_items = column->field->string_items,
    };
}

static int end_string(struct string_cell *cell) {
    cell->at = 0;
    cell->blanks = 0;
    cell->over = false;
    return column_store_text(cell->column, "", 1);
}

/* One character, @length bytes of UTF-8, which fills @width places of its string. */
static int put_character(struct string_cell *cell, const char *bytes, size_t length,
                         unsigned width) {
    int r = 0;
    if (!cell->over && length == 1 && *bytes == '\0')
        cell->over = true;
    if (cell->over) {
        r = 0;
    } else if (length == 1 && *bytes == ' ' && cell->string_items > 0) {
        cell->blanks++;
    } else {
        for (; r == 0 && cell->blanks > 0; cell->blanks--)
            r = column_store_text(cell->column, " ", 1);
        if (r == 0)
            r = column_store_text(cell->column, bytes, length);
    }
    cell->at += width;
    if (r == 0 && cell->string_items > 0 && cell->at >= cell->string_items)
        r = end_string(cell);
    return r;
}

int string_cell_text(struct string_cell *cell, const char *text, size_t length) {
    if (cell->string_items == 0)
        return column_store_text(cell->column, text, length);
    if (cell->column->field->type == FIELD_CHAR)
        return string_cell_bytes(cell, (const unsigned char *)text, length);

    const char *end = text + length;
    while (text < end) {
        unsigned char lead = (unsigned char)*text;
        size_t bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        if (bytes > (size_t)(end - text))
            bytes = (size_t)(end - text);
        int r = put_character(cell, text, bytes, bytes == 4 ? 2 : 1);
        if (r < 0)
            return r;
        text += bytes;
    }
    return 0;
}

int string_cell_bytes(struct string_cell *cell, const unsigned char *bytes, size_t length) {
    if (cell->string_items == 0) {
        if (cell->over)
            return 0;
        const unsigned char *nul = memchr(bytes, '\0', length);
        cell->over = nul != NULL;
        return column_store_text(cell->column, (const char *)bytes,
                                 nul != NULL ? (size_t)(nul - bytes) : length);
    }
    for (size_t i = 0; i < length; i++) {
        int r = put_character(cell, (const char *)bytes + i, 1, 1);
        if (r < 0)
            return r;
    }
    return 0;
}

static size_t encode_utf8(uint32_t character, char ret_bytes[4]) {
    if (character < 0x80) {
        ret_bytes[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        ret_bytes[0] = (char)(0xc0 | character >> 6);
        ret_bytes[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        ret_bytes[0] = (char)(0xe0 | character >> 12);
        ret_bytes[1] = (char)(0x80 | (character >> 6 & 0x3f));
        ret_bytes[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    ret_bytes[0] = (char)(0xf0 | character >> 18);
    ret_bytes[1] = (char)(0x80 | (character >> 12 & 0x3f));
    ret_bytes[2] = (char)(0x80 | (character >> 6 & 0x3f));
    ret_bytes[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

static int put_unit(struct string_cell *cell, uint16_t unit) {
    char bytes[4];
    uint16_t high = cell->high;
    cell->high = 0;
    if (high != 0 && unit >= 0xdc00 && unit < 0xe000) {
        uint32_t character = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (unit - 0xdc00u);
        return put_character(cell, bytes, encode_utf8(character, bytes), 2);
    }
    if (high != 0) {
        /* A half without its other half is no character, but it was there: keep it. */
        int r = put_character(cell, bytes, encode_utf8(high, bytes), 1);
        if (r < 0)
            return r;
    }
    if (unit >= 0xd800 && unit < 0xdc00) {
        cell->high = unit;
        return 0;
    }
    return put_character(cell, bytes, encode_utf8(unit, bytes), 1);
}

/* Runs of ASCII in a plain string, most of what there is, are stored together. */
static int store_ascii_run(struct string_cell *cell, const unsigned char *bytes, size_t length,
                           size_t *ret_taken) {
    char run[256];
    size_t characters = 0;
    size_t at = 0;
    while (at + 1 < length && characters < sizeof(run) && bytes[at] == 0 && bytes[at + 1] > 0 &&
           bytes[at + 1] < 0x80) {
        run[characters++] = (char)bytes[at + 1];
        at += 2;
    }
    *ret_taken = at;
    return column_store_text(cell->column, run, characters);
}

int string_cell_units(struct string_cell *cell, const unsigned char *bytes, size_t length) {
    bool plain = cell->string_items == 0;
    for (size_t at = 0; at + 1 < length;) {
        size_t taken = 0;
        int r = 0;
        if (plain && cell->over)
            return 0;
        if (plain && cell->high == 0)
            r = store_ascii_run(cell, bytes + at, length - at, &taken);
        if (taken == 0 && r == 0) {
            r = put_unit(cell, (uint16_t)(bytes[at] << 8 | bytes[at + 1]));
            taken = 2;
        }
        if (r < 0)
            return r;
        at += taken;
    }
    return 0;
}

int string_cell_end(struct string_cell *cell) {
    if (cell->high != 0) {
        char bytes[4];
        size_t length = encode_utf8(cell->high, bytes);
        cell->high = 0;
        int r = put_character(cell, bytes, length, 1);
        if (r < 0)
            return r;
    }
    if (cell->string_items > 0 && cell->at > 0)
        return end_string(cell);
    return 0;
}
