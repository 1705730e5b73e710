/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cell_text.c: literals of TABLEDATA.
 *
 * Strict: a text that is not a literal of the datatype is an error and never a guess. The one
 * exception is a text that VALUES null names, be it a number or not.
 */
#include "cell_text.h"

#include "decimal.h"
#include "string_cell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define QUOTED_BYTES 40 /* of a wrong cell, in messages */

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int store_integer(struct column *column, const char *text, const char *end) {
    int64_t value;
    int r;
    switch (column->field->type) {
    case FIELD_UNSIGNED_BYTE:
        r = decimal_parse_integer(text, end, 0, UINT8_MAX, &value);
        return r < 0 ? r : column_store(column, &(uint8_t){(uint8_t)value}, 1);
    case FIELD_SHORT:
        r = decimal_parse_integer(text, end, INT16_MIN, INT16_MAX, &value);
        return r < 0 ? r : column_store(column, &(int16_t){(int16_t)value}, 2);
    case FIELD_INT:
        r = decimal_parse_integer(text, end, INT32_MIN, INT32_MAX, &value);
        return r < 0 ? r : column_store(column, &(int32_t){(int32_t)value}, 4);
    default:
        r = decimal_parse_integer(text, end, INT64_MIN, INT64_MAX, &value);
        return r < 0 ? r : column_store(column, &value, 8);
    }
}

static int store_float(struct column *column, const char *text, const char *end) {
    float value;
    int r = decimal_parse_float(text, end, &value);
    return r < 0 ? r : column_store(column, &value, sizeof(value));
}

static int store_double(struct column *column, const char *text, const char *end) {
    double value;
    int r = decimal_parse_double(text, end, &value);
    return r < 0 ? r : column_store(column, &value, sizeof(value));
}

static int boolean_of(char c, unsigned char *ret_value) {
    switch (c) {
    case 'T':
    case 't':
    case '1':
        *ret_value = 1;
        return 0;
    case 'F':
    case 'f':
    case '0':
        *ret_value = 0;
        return 0;
    case '?':
        *ret_value = COLUMN_BOOLEAN_NULL;
        return 0;
    default:
        return -EINVAL;
    }
}

static int store_boolean(struct column *column, const char *text, const char *end) {
    unsigned char value;
    size_t length = (size_t)(end - text);
    int r = 0;
    if (length == 4 && strncasecmp(text, "true", 4) == 0)
        value = 1;
    else if (length == 5 && strncasecmp(text, "false", 5) == 0)
        value = 0;
    else
        r = length == 1 ? boolean_of(*text, &value) : -EINVAL;
    return r < 0 ? r : column_store(column, &value, 1);
}

/* What stores one token, and how many tokens make an item. */
static const struct {
    int (*store)(struct column *column, const char *text, const char *end);
    unsigned tokens;
} literals[FIELD_TYPES] = {
    [FIELD_BOOLEAN] = {store_boolean, 1},      [FIELD_UNSIGNED_BYTE] = {store_integer, 1},
    [FIELD_SHORT] = {store_integer, 1},        [FIELD_INT] = {store_integer, 1},
    [FIELD_LONG] = {store_integer, 1},         [FIELD_FLOAT] = {store_float, 1},
    [FIELD_DOUBLE] = {store_double, 1},        [FIELD_FLOAT_COMPLEX] = {store_float, 2},
    [FIELD_DOUBLE_COMPLEX] = {store_double, 2}};

/* Everything that a problem with this cell is told with. */
struct place {
    const struct field *field;
    uint64_t lineno;
    struct problem *problem;
};

static int complain_token(const struct place *place, int r, const char *text, const char *end) {
    if (r == -ENOMEM)
        return problem_set_memory(place->problem);
    int length = end - text > QUOTED_BYTES ? QUOTED_BYTES : (int)(end - text);
    const char *more = end - text > QUOTED_BYTES ? "..." : "";
    const char *type = field_type_name(place->field->type);
    if (r == -ERANGE)
        return problem_set(place->problem, -EBADMSG, place->lineno,
                           "'%.*s%s' in column '%s' is beyond the range of %s, correct the "
                           "cell or the datatype",
                           length, text, more, place->field->name, type);
    return problem_set(place->problem, -EBADMSG, place->lineno,
                       "'%.*s%s' in column '%s' is no %s, correct the cell or the datatype",
                       length, text, more, place->field->name, type);
}

static int check_items(const struct place *place, uint64_t items) {
    const struct field *field = place->field;
    if (field->variable ? items % field->items == 0 : items == field->items)
        return 0;
    return problem_set(place->problem, -EBADMSG, place->lineno,
                       "the number of items in column '%s' is %" PRIu64
                       ", arraysize asks for %s%" PRIu64 ", correct the cell or the arraysize",
                       field->name, items, field->variable ? "a multiple of " : "",
                       field->items);
}

/* Numbers and booleans: tokens with white space between. */
static int store_tokens(struct column *column, const char *text, const char *end,
                        const struct place *place) {
    uint64_t tokens = 0;
    while (text < end) {
        const char *token = text;
        while (text < end && !is_blank(*text))
            text++;
        int r = literals[column->field->type].store(column, token, text);
        if (r < 0)
            return complain_token(place, r, token, text);
        tokens++;
        while (text < end && is_blank(*text))
            text++;
    }
    unsigned per_item = literals[column->field->type].tokens;
    if (tokens % per_item != 0)
        return problem_set(place->problem, -EBADMSG, place->lineno,
                           "column '%s' has %" PRIu64
                           " numbers where complex ones come in pairs, correct the cell",
                           place->field->name, tokens);
    return check_items(place, tokens / per_item);
}

/* Booleans written without blanks between: "TFFT". */
static int store_letters(struct column *column, const char *text, const char *end,
                         const struct place *place) {
    uint64_t items = 0;
    for (const char *c = text; c < end; c++) {
        unsigned char value;
        int r = boolean_of(*c, &value);
        if (r == 0)
            r = column_store(column, &value, 1);
        if (r < 0)
            return complain_token(place, r, text, end);
        items++;
    }
    return check_items(place, items);
}

static int store_booleans(struct column *column, const char *text, const char *end,
                          const struct place *place) {
    bool letters = end - text > 1 && (column->field->variable || column->field->items != 1);
    for (const char *c = text; letters && c < end; c++)
        letters = strchr("TtFf01?", *c) != NULL;
    return letters ? store_letters(column, text, end, place)
                   : store_tokens(column, text, end, place);
}

static int store_bits(struct column *column, const char *text, const char *end,
                      const struct place *place) {
    uint64_t bits = 0;
    unsigned char byte = 0;
    for (const char *c = text; c < end; c++) {
        if (is_blank(*c))
            continue;
        if (*c != '0' && *c != '1')
            return complain_token(place, -EINVAL, text, end);
        byte = (unsigned char)(byte << 1 | (*c - '0'));
        if (++bits % 8 == 0 && column_store(column, &byte, 1) < 0)
            return problem_set_memory(place->problem);
    }
    byte = (unsigned char)(byte << (8 - bits % 8) % 8);
    if (bits % 8 != 0 && column_store(column, &byte, 1) < 0)
        return problem_set_memory(place->problem);
    column_count_bits(column, bits);
    return check_items(place, bits);
}

static int store_string(struct column *column, const char *text, size_t length,
                        const struct place *place) {
    struct string_cell cell;
    string_cell_begin(&cell, column);
    if (string_cell_text(&cell, text, length) < 0 || string_cell_end(&cell) < 0)
        return problem_set_memory(place->problem);
    return 0;
}

/* A scalar that is written as VALUES null is, but is no value of the datatype: "--", "null". */
static bool is_null_text(const struct field *field, const char *text, const char *end) {
    return field->null_text != NULL && !field->has_null &&
           strlen(field->null_text) == (size_t)(end - text) &&
           memcmp(field->null_text, text, (size_t)(end - text)) == 0;
}

static int store_values(struct column *column, const char *text, const char *end,
                        const struct place *place) {
    if (column->field->type == FIELD_BIT)
        return store_bits(column, text, end, place);
    if (column->field->type == FIELD_BOOLEAN)
        return store_booleans(column, text, end, place);
    return store_tokens(column, text, end, place);
}

int cell_text_store(struct column *column, const char *text, size_t length, uint64_t lineno,
                    struct problem *problem) {
    const struct place place = {column->field, lineno, problem};
    const char *end = text + length;
    bool null = length == 0;

    if (!field_is_string(column->field)) {
        while (text < end && is_blank(*text))
            text++;
        while (text < end && is_blank(end[-1]))
            end--;
        null = text == end || is_null_text(column->field, text, end);
    }
    int r = 0;
    if (!null)
        r = field_is_string(column->field) ? store_string(column, text, length, &place)
                                           : store_values(column, text, end, &place);
    if (r < 0)
        return r;
    r = null ? column_end_null(column) : column_end_cell(column);
    return r < 0 ? problem_set_memory(problem) : 0;
}
