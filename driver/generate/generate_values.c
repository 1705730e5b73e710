/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate_values.c: cells of any datatype and arraysize.
 *
 * What another serialization would not bring back is not made: strings without trailing blanks
 * in arrays, no NaN that stands alone, no array of nothing but nulls.
 */
#include "generate_values.h"

#include "columns.h"

#include <string.h>

#define VARIABLE_MULTIPLES_MAX 5  /* of the fixed dimensions */
#define STRING_CHARACTERS_MAX  24 /* of a variable one */
#define CHARACTER_BYTES_MAX    3

/* The next cell begins at a multiple of 8. */
static void reserve(struct generator *generator, struct wire_cell *ret_cell, size_t bytes,
                    uint64_t count) {
    *ret_cell = (struct wire_cell){.items = generator->arena + generator->used, .count = count};
    generator->used += (bytes + 7) / 8 * 8;
}

void generate_keep(struct generator *generator, struct wire_cell *ret_cell, const void *items,
                   size_t bytes, uint64_t count) {
    memcpy(generator->arena + generator->used, items, bytes);
    reserve(generator, ret_cell, bytes, count);
}

uint64_t generate_cell_bytes(const struct field *field) {
    uint64_t items = field->items * (field->variable ? VARIABLE_MULTIPLES_MAX : 1);
    if (field_is_string(field)) {
        if (field->variable && field->string_items == 0)
            items = STRING_CHARACTERS_MAX;
        uint64_t ends = field->string_items > 0 ? items / field->string_items : 0;
        return items * CHARACTER_BYTES_MAX + ends + 8;
    }
    return field_wire_bytes(field, items) + 8;
}

/* One in eight is special: the edges of the format, and numbers with few digits. */
static double any_double(struct generator *generator, bool nan_too) {
    static const double special[] = {0,
                                     -0.0,
                                     1,
                                     -1.5,
                                     0x1p-1074,
                                     0x1.fffffffffffffp1023,
                                     0x1p-1022,
                                     1e23,
                                     9007199254740993.0,
                                     0.1,
                                     __builtin_inf(),
                                     -__builtin_inf()};
    uint64_t bits = generate_random(&generator->state);
    double value;
    if ((bits & 7) == 0) {
        uint64_t which = generate_below(generator, 13);
        return which == 12 ? nan_too ? __builtin_nan("") : 2.5 : special[which];
    }
    if ((bits >> 52 & 0x7ff) == 0x7ff)
        bits ^= UINT64_C(1) << 62;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float any_float(struct generator *generator, bool nan_too) {
    static const float special[] = {
        0,         -0.0f,       1,    -1.5f, 0x1p-149f,        0x1.fffffep127f,
        0x1p-126f, 16777217.0f, 0.1f, 1e10f, __builtin_inff(), -__builtin_inff()};
    uint64_t random = generate_random(&generator->state);
    uint32_t bits = (uint32_t)(random >> 32);
    float value;
    if ((random & 7) == 0) {
        uint64_t which = generate_below(generator, 13);
        return which == 12 ? nan_too ? __builtin_nanf("") : 2.5f : special[which];
    }
    if ((bits >> 23 & 0xff) == 0xff)
        bits ^= UINT32_C(1) << 30;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Any of its bits; never what stands for null. */
static int64_t any_integer(struct generator *generator, const struct field *field) {
    static const unsigned shifts[] = {
        [FIELD_UNSIGNED_BYTE] = 56, [FIELD_SHORT] = 48, [FIELD_INT] = 32, [FIELD_LONG] = 0};
    uint64_t random = generate_random(&generator->state);
    /* Small ones as often as large ones. */
    unsigned shift = shifts[field->type];
    int64_t value = field->type == FIELD_UNSIGNED_BYTE ? (int64_t)(random >> shift)
                                                       : (int64_t)random >> shift;
    if ((random & 3) == 0)
        value /= 1 + (int64_t)generate_below(generator, 1000000);
    if (field->has_null && value == field->null_integer)
        value = 1;
    return value;
}

static void make_item(struct generator *generator, const struct field *field, bool first,
                      unsigned char *to) {
    int64_t integer;
    float reals[2];
    double doubles[2];
    switch (field->type) {
    case FIELD_BOOLEAN:
        *to = (unsigned char)generate_below(generator, first ? 2 : 3);
        break;
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        reals[0] = any_float(generator, !first);
        reals[1] = any_float(generator, false);
        memcpy(to, reals, field_item_bytes(field->type));
        break;
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        doubles[0] = any_double(generator, !first);
        doubles[1] = field->type == FIELD_DOUBLE ? 0 : any_double(generator, false);
        memcpy(to, doubles, field_item_bytes(field->type));
        break;
    default:
        integer = any_integer(generator, field);
        if (field->type == FIELD_UNSIGNED_BYTE)
            *to = (unsigned char)integer;
        else if (field->type == FIELD_SHORT)
            memcpy(to, &(int16_t){(int16_t)integer}, 2);
        else if (field->type == FIELD_INT)
            memcpy(to, &(int32_t){(int32_t)integer}, 4);
        else
            memcpy(to, &integer, 8);
        break;
    }
}

static void make_bits(struct generator *generator, struct wire_cell *ret_cell, uint64_t count) {
    unsigned char *to = generator->arena + generator->used;
    for (uint64_t at = 0; at < count; at += 8)
        to[at / 8] = (unsigned char)generate_random(&generator->state);
    if (count % 8 != 0)
        to[count / 8] &= (unsigned char)(0xff << (8 - count % 8));
    reserve(generator, ret_cell, (count + 7) / 8, count);
}

/* A character: mostly ASCII, with what XML must escape; for unicodeChar beyond it too. */
static size_t make_character(struct generator *generator, enum field_type type, char *to) {
    static const char markup[] = "<>&\"' ";
    uint64_t kind = generate_below(generator, 16);
    if (kind == 0) {
        *to = markup[generate_below(generator, sizeof(markup) - 1)];
        return 1;
    }
    if (kind > 4 || type == FIELD_CHAR) {
        *to = (char)('!' + generate_below(generator, '~' - '!' + 1));
        return 1;
    }
    if (kind > 2) {
        uint64_t point = 0xa1 + generate_below(generator, 0x800 - 0xa1);
        to[0] = (char)(0xc0 | point >> 6);
        to[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    uint64_t point = 0x3041 + generate_below(generator, 0x9fa5 - 0x3041);
    to[0] = (char)(0xe0 | point >> 12);
    to[1] = (char)(0x80 | (point >> 6 & 0x3f));
    to[2] = (char)(0x80 | (point & 0x3f));
    return 3;
}

/* One to @most characters, the last of them no blank. Returns the bytes. */
static size_t make_string(struct generator *generator, enum field_type type, uint64_t most,
                          char *to) {
    uint64_t characters = most > 0 ? 1 + generate_below(generator, (uint32_t)most) : 0;
    size_t bytes = 0;
    for (uint64_t i = 0; i < characters; i++)
        bytes += make_character(generator, type, to + bytes);
    if (bytes > 0 && to[bytes - 1] == ' ')
        to[bytes - 1] = '.';
    return bytes;
}

static void make_strings(struct generator *generator, const struct field *field,
                         struct wire_cell *ret_cell, uint64_t items) {
    char *to = (char *)generator->arena + generator->used;
    size_t bytes = 0;
    if (field->string_items == 0) {
        uint64_t most = field->variable ? STRING_CHARACTERS_MAX : items;
        bytes = make_string(generator, field->type, most, to);
    }
    for (uint64_t at = 0; field->string_items > 0 && at < items; at += field->string_items) {
        bytes += make_string(generator, field->type, field->string_items, to + bytes);
        to[bytes++] = '\0';
    }
    reserve(generator, ret_cell, bytes, bytes);
}

void generate_any(struct generator *generator, const struct field *field,
                  struct wire_cell *ret_cell) {
    uint64_t items = field->items;
    if (field->variable)
        items *= 1 + generate_below(generator, VARIABLE_MULTIPLES_MAX);
    if (field_is_string(field)) {
        make_strings(generator, field, ret_cell, items);
        return;
    }
    if (field->type == FIELD_BIT) {
        make_bits(generator, ret_cell, items);
        return;
    }
    unsigned char *to = generator->arena + generator->used;
    uint64_t width = field_item_bytes(field->type);
    for (uint64_t i = 0; i < items; i++)
        make_item(generator, field, i == 0, to + i * width);
    reserve(generator, ret_cell, items * width, items);
}
