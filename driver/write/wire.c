/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.c: runs of numbers are swapped in one go, into the buffer itself; a cell costs a test
 * for room and a copy.
 */
#include "wire.h"

#include "columns.h"

#include <endian.h>
#include <string.h>

void wire_init(struct wire *ret_wire, void (*drain)(struct wire *wire), void *context) {
    ret_wire->drain = drain;
    ret_wire->context = context;
    ret_wire->boolean_null = '?';
    ret_wire->used = 0;
    ret_wire->total = 0;
}

void wire_flush(struct wire *wire) {
    if (wire->used > 0)
        wire->drain(wire);
    wire->used = 0;
}

/* Count what was put at the end of what is used. */
static void keep(struct wire *wire, size_t bytes) {
    wire->used += bytes;
    wire->total += bytes;
    if (wire->used == sizeof(wire->raw))
        wire_flush(wire);
}

void wire_put_long(struct wire *wire, const void *bytes, size_t length) {
    const unsigned char *from = bytes;
    while (length > 0) {
        size_t room = sizeof(wire->raw) - wire->used;
        size_t piece = length < room ? length : room;
        memcpy(wire->raw + wire->used, from, piece);
        keep(wire, piece);
        from += piece;
        length -= piece;
    }
}

void wire_put_zeros(struct wire *wire, uint64_t bytes) {
    while (bytes > 0) {
        size_t room = sizeof(wire->raw) - wire->used;
        size_t piece = bytes < room ? (size_t)bytes : room;
        memset(wire->raw + wire->used, 0, piece);
        keep(wire, piece);
        bytes -= piece;
    }
}

void wire_put_be32(struct wire *wire, uint32_t value) {
    uint32_t big = htobe32(value);
    wire_put(wire, &big, sizeof(big));
}

void wire_put_be64(struct wire *wire, uint64_t value) {
    uint64_t big = htobe64(value);
    wire_put(wire, &big, sizeof(big));
}

static void swap_2(unsigned char *to, const unsigned char *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t value;
        memcpy(&value, from + 2 * i, 2);
        value = htobe16(value);
        memcpy(to + 2 * i, &value, 2);
    }
}

static void swap_4(unsigned char *to, const unsigned char *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        memcpy(&value, from + 4 * i, 4);
        value = htobe32(value);
        memcpy(to + 4 * i, &value, 4);
    }
}

static void swap_8(unsigned char *to, const unsigned char *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, from + 8 * i, 8);
        value = htobe64(value);
        memcpy(to + 8 * i, &value, 8);
    }
}

/* Numbers of 2, 4 or 8 bytes. One that does not fit into the buffer's end is put in pieces. */
static void put_numbers(struct wire *wire, const unsigned char *from, uint64_t count,
                        size_t width) {
    const int shift = __builtin_ctzl(width);
    while (count > 0) {
        size_t room = (sizeof(wire->raw) - wire->used) >> shift;
        size_t piece = count < room ? (size_t)count : room;
        unsigned char *to = wire->raw + wire->used;
        unsigned char cut[8];
        if (piece == 0) {
            piece = 1;
            to = cut;
        }
        if (width == 2)
            swap_2(to, from, piece);
        else if (width == 4)
            swap_4(to, from, piece);
        else
            swap_8(to, from, piece);
        if (to == cut)
            wire_put(wire, cut, width);
        else
            keep(wire, piece * width);
        from += piece * width;
        count -= piece;
    }
}

static void put_booleans(struct wire *wire, const unsigned char *from, uint64_t count) {
    const char letters[] = {'F', 'T', wire->boolean_null, wire->boolean_null};
    for (uint64_t i = 0; i < count; i++)
        wire_put(wire, &letters[from[i] & 3], 1);
}

/* The commonest cell, a number alone. False when it is none, or the buffer's end is near. */
static inline bool put_one(struct wire *wire, enum field_type type, const void *items) {
    unsigned char *to = wire->raw + wire->used;
    if (sizeof(wire->raw) - wire->used <= 8)
        return false;
    if (type == FIELD_INT || type == FIELD_FLOAT) {
        swap_4(to, items, 1);
        wire->used += 4;
        wire->total += 4;
        return true;
    }
    if (type == FIELD_LONG || type == FIELD_DOUBLE) {
        swap_8(to, items, 1);
        wire->used += 8;
        wire->total += 8;
        return true;
    }
    return false;
}

void wire_put_items(struct wire *wire, enum field_type type, const void *items,
                    uint64_t count) {
    if (count == 1 && put_one(wire, type, items))
        return;
    switch (type) {
    case FIELD_BOOLEAN:
        put_booleans(wire, items, count);
        break;
    case FIELD_BIT:
        wire_put(wire, items, (count + 7) / 8);
        break;
    case FIELD_SHORT:
        put_numbers(wire, items, count, 2);
        break;
    case FIELD_INT:
    case FIELD_FLOAT:
        put_numbers(wire, items, count, 4);
        break;
    case FIELD_FLOAT_COMPLEX:
        put_numbers(wire, items, 2 * count, 4);
        break;
    case FIELD_LONG:
    case FIELD_DOUBLE:
        put_numbers(wire, items, count, 8);
        break;
    case FIELD_DOUBLE_COMPLEX:
        put_numbers(wire, items, 2 * count, 8);
        break;
    default:
        wire_put(wire, items, count);
        break;
    }
}

void wire_put_nulls(struct wire *wire, const struct field *field, uint64_t count) {
    static const double nans[2] = {__builtin_nan(""), __builtin_nan("")};
    static const float float_nans[2] = {__builtin_nanf(""), __builtin_nanf("")};
    const int64_t value = field->null_integer;
    const unsigned char byte = (unsigned char)value;
    const int16_t narrow = (int16_t)value;
    const int32_t integer = (int32_t)value;
    static const unsigned char null = COLUMN_BOOLEAN_NULL;
    const void *items = &byte;
    switch (field->type) {
    case FIELD_BIT:
        wire_put_zeros(wire, (count + 7) / 8);
        return;
    case FIELD_BOOLEAN:
        items = &null;
        break;
    case FIELD_SHORT:
        items = &narrow;
        break;
    case FIELD_INT:
        items = &integer;
        break;
    case FIELD_LONG:
        items = &value;
        break;
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        items = float_nans;
        break;
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        items = nans;
        break;
    default:
        break;
    }
    for (uint64_t i = 0; i < count; i++)
        wire_put_items(wire, field->type, items, 1);
}

size_t wire_next_units(const unsigned char **c, const unsigned char *end,
                       uint16_t ret_units[2]) {
    static const unsigned char masks[4] = {0x7f, 0x1f, 0x0f, 0x07};
    unsigned char lead = *(*c)++;
    unsigned more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t character = lead & masks[more];
    for (; more > 0 && *c < end; more--)
        character = character << 6 | (*(*c)++ & 0x3f);
    if (character < 0x10000) {
        ret_units[0] = (uint16_t)character;
        return 1;
    }
    ret_units[0] = (uint16_t)(0xd800 + ((character - 0x10000) >> 10 & 0x3ff));
    ret_units[1] = (uint16_t)(0xdc00 + (character & 0x3ff));
    return 2;
}

static bool is_ascii(const unsigned char *text, uint64_t length) {
    unsigned char all = 0;
    for (uint64_t i = 0; i < length; i++)
        all |= text[i];
    return all < 0x80;
}

static uint64_t text_units(enum field_type type, const unsigned char *text, uint64_t length) {
    if (type == FIELD_CHAR || is_ascii(text, length))
        return length;
    const unsigned char *end = text + length;
    uint16_t pair[2];
    uint64_t units = 0;
    while (text < end)
        units += wire_next_units(&text, end, pair);
    return units;
}

uint64_t wire_string_units(const struct field *field, const struct wire_cell *cell) {
    if (cell->null)
        return 0;
    if (field->string_items == 0)
        return text_units(field->type, cell->items, cell->count);
    const unsigned char *text = cell->items;
    uint64_t strings = 0;
    for (uint64_t i = 0; i < cell->count; i++)
        strings += text[i] == '\0';
    return strings * field->string_items;
}

/* ASCII at the start of a text as UCS-2, at most @most. Returns the units that were put. */
static uint64_t put_ascii_units(struct wire *wire, const unsigned char **text, uint64_t most) {
    const unsigned char *from = *text;
    uint64_t put = 0;
    while (put < most && from[put] < 0x80) {
        unsigned char *to = wire->raw + wire->used;
        size_t room = (sizeof(wire->raw) - wire->used) / 2;
        size_t units = 0;
        for (; units < room && put < most && from[put] < 0x80; units++) {
            to[2 * units] = 0;
            to[2 * units + 1] = from[put++];
        }
        if (units == 0) /* half a unit is all the room that there is */
            break;
        keep(wire, 2 * units);
    }
    *text = from + put;
    return put;
}

/* One string, cut or filled with NULs to @units. */
static void put_string(struct wire *wire, enum field_type type, const unsigned char *text,
                       uint64_t length, uint64_t units) {
    if (type == FIELD_CHAR) {
        uint64_t bytes = length < units ? length : units;
        wire_put(wire, text, bytes);
        if (bytes < units)
            wire_put_zeros(wire, units - bytes);
        return;
    }
    const unsigned char *end = text + length;
    uint64_t put = put_ascii_units(wire, &text, length < units ? length : units);
    while (text < end && put < units) {
        uint16_t pair[2];
        size_t count = wire_next_units(&text, end, pair);
        if (put + count > units)
            break; /* half of a pair is no character */
        put_numbers(wire, (const unsigned char *)pair, count, 2);
        put += count;
    }
    wire_put_zeros(wire, 2 * (units - put));
}

void wire_put_strings(struct wire *wire, const struct field *field,
                      const struct wire_cell *cell, uint64_t units) {
    const unsigned char *text = cell->items;
    uint64_t count = cell->null ? 0 : cell->count;
    if (field->string_items == 0) {
        put_string(wire, field->type, text, count, units);
        return;
    }
    const unsigned char *end = text + count;
    while (text < end && units >= field->string_items) {
        uint64_t length = strnlen((const char *)text, (size_t)(end - text));
        put_string(wire, field->type, text, length, field->string_items);
        units -= field->string_items;
        text += length + 1;
    }
    wire_put_zeros(wire, field->type == FIELD_CHAR ? units : 2 * units);
}
