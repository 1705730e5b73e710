/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * field.c: datatypes, their sizes, and the two attributes that need reading.
 *
 * What arraysize means is decided here alone; everything behind it sees a number of items and
 * whether that number varies.
 */
#include "field.h"

#include "decimal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t item_bytes;
} types[FIELD_TYPES] = {
    [FIELD_BOOLEAN] = {"boolean", 1},
    [FIELD_BIT] = {"bit", 0},
    [FIELD_UNSIGNED_BYTE] = {"unsignedByte", 1},
    [FIELD_SHORT] = {"short", 2},
    [FIELD_INT] = {"int", 4},
    [FIELD_LONG] = {"long", 8},
    [FIELD_CHAR] = {"char", 1},
    [FIELD_UNICODE_CHAR] = {"unicodeChar", 2},
    [FIELD_FLOAT] = {"float", 4},
    [FIELD_DOUBLE] = {"double", 8},
    [FIELD_FLOAT_COMPLEX] = {"floatComplex", 8},
    [FIELD_DOUBLE_COMPLEX] = {"doubleComplex", 16},
};

const char *field_type_name(enum field_type type) {
    return types[type].name;
}

int field_type_find(const char *text, size_t length, enum field_type *ret_type) {
    for (size_t i = 0; i < FIELD_TYPES; i++) {
        if (strlen(types[i].name) != length || memcmp(types[i].name, text, length) != 0)
            continue;
        *ret_type = (enum field_type)i;
        return 0;
    }
    return -EINVAL;
}

uint64_t field_item_bytes(enum field_type type) {
    return types[type].item_bytes;
}

uint64_t field_wire_bytes(const struct field *field, uint64_t items) {
    if (field->type == FIELD_BIT)
        return (items + 7) / 8;
    return items * types[field->type].item_bytes;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void trim(const char **text, size_t *length) {
    while (*length > 0 && is_blank(**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && is_blank((*text)[*length - 1]))
        (*length)--;
}

/* One number of an arraysize; moves *c behind it. */
static int read_extent(const char **c, const char *end, uint64_t *ret_extent) {
    uint64_t extent = 0;
    const char *start = *c;
    for (; *c < end && **c >= '0' && **c <= '9'; (*c)++) {
        extent = extent * 10 + (uint64_t)(**c - '0');
        if (extent > FIELD_ITEMS_MAX)
            return -ERANGE;
    }
    if (*c == start)
        return -EINVAL;
    *ret_extent = extent;
    return 0;
}

int field_set_arraysize(struct field *field, const char *text, size_t length) {
    trim(&text, &length);
    const char *c = text;
    const char *end = text + length;
    uint64_t items = 1;
    uint64_t first = 0;
    size_t dimensions = 0;
    bool variable = false;

    while (c < end) {
        uint64_t extent = 1;
        if (*c != '*') {
            int r = read_extent(&c, end, &extent);
            if (r < 0)
                return r;
        }
        if (dimensions++ == 0)
            first = extent;
        if (c < end && *c == '*') {
            variable = true;
            if (++c != end)
                return -EINVAL;
            break;
        }
        items *= extent;
        if (items > FIELD_ITEMS_MAX)
            return -ERANGE;
        if (c == end)
            break;
        if (*c++ != 'x' || c == end)
            return -EINVAL;
    }
    if (variable && items == 0)
        return -EINVAL;

    field->variable = variable;
    field->items = items;
    field->string_items = field_is_string(field) && dimensions > 1 ? first : 0;
    if (field_is_string(field) && dimensions > 1 && first == 0)
        return -EINVAL;
    return 0;
}

/* The number that VALUES null names, if the datatype can hold it. */
static bool read_null(struct field *field, const char *text, size_t length) {
    const char *end = text + length;
    float real;
    switch (field->type) {
    case FIELD_UNSIGNED_BYTE:
        return decimal_parse_integer(text, end, 0, UINT8_MAX, &field->null_integer) == 0;
    case FIELD_SHORT:
        return decimal_parse_integer(text, end, INT16_MIN, INT16_MAX, &field->null_integer) ==
               0;
    case FIELD_INT:
        return decimal_parse_integer(text, end, INT32_MIN, INT32_MAX, &field->null_integer) ==
               0;
    case FIELD_LONG:
        return decimal_parse_integer(text, end, INT64_MIN, INT64_MAX, &field->null_integer) ==
               0;
    case FIELD_FLOAT:
        if (decimal_parse_float(text, end, &real) < 0)
            return false;
        field->null_real = (double)real;
        return true;
    case FIELD_DOUBLE:
        return decimal_parse_double(text, end, &field->null_real) == 0;
    default:
        return false;
    }
}

int field_set_null(struct field *field, const char *text, size_t length) {
    trim(&text, &length);
    if (length == 0)
        return 0;
    char *copy = strndup(text, length);
    if (copy == NULL)
        return -ENOMEM;
    free(field->null_text);
    field->null_text = copy;
    field->has_null = read_null(field, copy, length);
    return 0;
}

static int copy_text(const char *from, char **ret_copy) {
    if (from == NULL)
        return 0;
    *ret_copy = strdup(from);
    return *ret_copy == NULL ? -ENOMEM : 0;
}

int field_copy(const struct field *from, struct field *ret_field) {
    *ret_field = *from;
    ret_field->name = NULL;
    ret_field->arraysize = NULL;
    ret_field->null_text = NULL;
    int r = copy_text(from->name, &ret_field->name);
    if (r == 0)
        r = copy_text(from->arraysize, &ret_field->arraysize);
    if (r == 0)
        r = copy_text(from->null_text, &ret_field->null_text);
    return r;
}

void field_finish(struct field *field) {
    free(field->name);
    free(field->arraysize);
    free(field->null_text);
    memset(field, 0, sizeof(*field));
}
