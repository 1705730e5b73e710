/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cell_text.c: literals of TABLEDATA.
 *
 * A text that is not a literal of the datatype is never guessed at: it is null, and the reader is
 * warned. A text that VALUES null names is null without a word, be it a number or not.
 */
#include "cell_text.h"

#include "decimal.h"
#include "decimal_many.h"
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
    struct warnings *warnings;
    struct problem *problem;
};

/* The token is no literal. Returns 0 when it is to be taken as null, otherwise as above. */
static int warn_of_token(const struct place *place, int r, const char *text, const char *end) {
    if (r == -ENOMEM)
        return problem_set_memory(place->problem);
    int length = end - text > QUOTED_BYTES ? QUOTED_BYTES : (int)(end - text);
    const char *more = end - text > QUOTED_BYTES ? "..." : "";
    const char *type = field_type_name(place->field->type);
    if (r == -ERANGE)
        return warnings_add(place->warnings, place->problem, WARNING_RANGE, place->lineno,
                            "'%.*s%s' in column '%.60s' is beyond the range of %s, correct the "
                            "cell or the datatype",
                            length, text, more, place->field->name, type);
    return warnings_add(place->warnings, place->problem, WARNING_LITERAL, place->lineno,
                        "'%.*s%s' in column '%.60s' is no %s, correct the cell or the datatype",
                        length, text, more, place->field->name, type);
}

static bool is_scalar(const struct field *field) {
    return !field->variable && field->items == 1;
}

/* Large cells are not filled: a few bytes of text could ask for a lot of memory. */
static bool can_fill(const struct column *column) {
    const struct field *field = column->field;
    return column->fixed ||
           (field->variable && field_wire_bytes(field, field->items) <= COLUMN_FIXED_BYTES_MAX);
}

/* Items that a cell has when it is filled: as many as arraysize says, or the next multiple. */
static uint64_t filled_items(const struct field *field, uint64_t items) {
    if (!field->variable)
        return field->items;
    return (items + field->items - 1) / field->items * field->items;
}

/*
 * Not the number of items that arraysize says. Too few are made enough where the cells are
 * small; in large ones it is an error.
 */
static int adjust_items(struct column *column, uint64_t items, const struct place *place) {
    const struct field *field = column->field;
    const uint64_t filled = filled_items(field, items);
    if (items == filled)
        return 0;
    int r = warnings_add(
        can_fill(column) ? place->warnings : NULL, place->problem, WARNING_ITEMS, place->lineno,
        "the number of items in column '%.60s' is %" PRIu64 ", arraysize asks for %s%" PRIu64
        ", correct the cell or the arraysize",
        field->name, items, field->variable ? "a multiple of " : "", field->items);
    for (; r == 0 && items < filled; items++)
        if (column_store_null_item(column) < 0)
            r = problem_set_memory(place->problem);
    return r;
}

/* One token of an item. What is no literal becomes null, a scalar as a whole. */
static int store_token(struct column *column, const char *token, const char *end,
                       const struct place *place, bool *ret_null) {
    const struct field *field = column->field;
    int r = literals[field->type].store(column, token, end);
    if (r == 0)
        return 0;
    r = warn_of_token(place, r, token, end);
    if (r < 0)
        return r;
    if (is_scalar(field) && literals[field->type].tokens == 1) {
        *ret_null = true;
        return 0;
    }
    if (field->type == FIELD_FLOAT_COMPLEX)
        return store_float(column, "NaN", &"NaN"[3]);
    if (field->type == FIELD_DOUBLE_COMPLEX)
        return store_double(column, "NaN", &"NaN"[3]);
    return column_store_null_item(column) < 0 ? problem_set_memory(place->problem) : 0;
}

static bool is_border(char c, bool commas) {
    return is_blank(c) || (commas && c == ',');
}

/*
 * Where the token ends: XML has no bytes below a blank but blanks. Eight bytes are tested at once;
 * the lowest that seems to be one is, unless it is beyond ASCII, from where on it goes by bytes.
 */
static const char *token_end(const char *text, const char *end, bool commas) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (!commas && end - text >= 8) {
        uint64_t eight;
        memcpy(&eight, text, sizeof(eight));
        uint64_t blanks = (eight - UINT64_C(0x2121212121212121)) & UINT64_C(0x8080808080808080);
        if (blanks == 0) {
            text += 8;
            continue;
        }
        text += __builtin_ctzll(blanks) / 8;
        if (is_blank(*text))
            return text;
        break;
    }
#endif
    while (text < end && !is_border(*text, commas))
        text++;
    return text;
}

/* Are the items of an array set apart by commas? */
static int find_commas(const struct field *field, const char *text, const char *end,
                       const struct place *place, bool *ret_commas) {
    *ret_commas = false;
    if (is_scalar(field) || memchr(text, ',', (size_t)(end - text)) == NULL)
        return 0;
    *ret_commas = true;
    return warnings_add(place->warnings, place->problem, WARNING_COMMAS, place->lineno,
                        "column '%.60s' has commas between items, use blanks", field->name);
}

/*
 * Doubles as long as they come as they should, at most @most. *text is then at the first that
 * did not, or at the end.
 */
static int store_doubles(struct column *column, const char **text, const char *end,
                         uint64_t most, const struct place *place, uint64_t *ret_count) {
    uint64_t count = 0;
    for (uint64_t room, read = 0; *text < end && count < most; count += read) {
        /* There are not more numbers than half the bytes. */
        uint64_t wanted = (uint64_t)(end - *text) / 2 + 1;
        if (wanted > most - count)
            wanted = most - count;
        unsigned char *to = column_room(column, 8, 8 * wanted, &room);
        if (to == NULL)
            return problem_set_memory(place->problem);
        read = decimal_parse_doubles(*text, end, to, (size_t)(room / 8), text);
        if (read == 0)
            break;
        column_keep(column, 8 * read);
    }
    *ret_count = count;
    return 0;
}

/* Numbers and booleans: tokens with white space between. */
static int store_tokens(struct column *column, const char *text, const char *end,
                        const struct place *place, bool *ret_null) {
    const struct field *field = column->field;
    const uint64_t per_item = literals[field->type].tokens == 2 ? 2 : 1;
    const uint64_t wanted = field->variable ? UINT64_MAX : field->items * per_item;
    uint64_t tokens = 0;
    bool commas;
    int r = find_commas(field, text, end, place, &commas);
    if (r < 0)
        return r;
    const bool doubles =
        !commas && (field->type == FIELD_DOUBLE || field->type == FIELD_DOUBLE_COMPLEX);
    while (text < end) {
        if (doubles && tokens < wanted) {
            uint64_t count = 0;
            r = store_doubles(column, &text, end, wanted - tokens, place, &count);
            if (r < 0)
                return r;
            tokens += count;
            if (text == end)
                break;
        }
        const char *token = text;
        text = token_end(text, end, commas);
        /* Behind the comma is no NUL and no part of a number: parsers may look at it. */
        if (tokens++ < wanted) {
            r = store_token(column, token, text, place, ret_null);
            if (r < 0)
                return r;
        }
        while (text < end && is_border(*text, commas))
            text++;
    }
    if (tokens % per_item != 0)
        return problem_set(place->problem, -EBADMSG, place->lineno,
                           "column '%.60s' has %" PRIu64
                           " numbers where complex ones come in pairs, correct the cell",
                           field->name, tokens);
    return adjust_items(column, tokens / per_item, place);
}

/* Booleans written without blanks between: "TFFT". */
static int store_letters(struct column *column, const char *text, const char *end,
                         const struct place *place) {
    const uint64_t wanted = column->field->variable ? UINT64_MAX : column->field->items;
    uint64_t items = 0;
    for (const char *c = text; c < end; c++) {
        unsigned char value = COLUMN_BOOLEAN_NULL;
        int r = boolean_of(*c, &value);
        if (r == 0 && items++ < wanted)
            r = column_store(column, &value, 1);
        if (r < 0)
            return problem_set_memory(place->problem);
    }
    return adjust_items(column, items, place);
}

static int store_booleans(struct column *column, const char *text, const char *end,
                          const struct place *place, bool *ret_null) {
    bool letters = end - text > 1 && !is_scalar(column->field);
    for (const char *c = text; letters && c < end; c++)
        letters = strchr("TtFf01?", *c) != NULL;
    return letters ? store_letters(column, text, end, place)
                   : store_tokens(column, text, end, place, ret_null);
}

/* Bits have no null of their own: a cell with anything but 0 and 1 is null as a whole. */
static int check_bits(const char *text, const char *end, const struct place *place,
                      bool *ret_null) {
    for (const char *c = text; c < end; c++) {
        if (is_blank(*c) || *c == '0' || *c == '1')
            continue;
        *ret_null = true;
        return warn_of_token(place, -EINVAL, text, end);
    }
    return 0;
}

static int store_byte(struct column *column, unsigned char byte, const struct place *place) {
    return column_store(column, &byte, 1) < 0 ? problem_set_memory(place->problem) : 0;
}

static int store_bits(struct column *column, const char *text, const char *end,
                      const struct place *place, bool *ret_null) {
    const struct field *field = column->field;
    const uint64_t wanted = field->variable ? UINT64_MAX : field->items;
    uint64_t bits = 0;
    uint64_t stored = 0;
    unsigned char byte = 0;
    int r = check_bits(text, end, place, ret_null);
    for (const char *c = text; r == 0 && !*ret_null && c < end; c++) {
        if (is_blank(*c) || bits++ >= wanted)
            continue;
        byte = (unsigned char)(byte << 1 | (*c - '0'));
        if (++stored % 8 == 0)
            r = store_byte(column, byte, place);
    }
    if (r < 0 || *ret_null)
        return r;
    const uint64_t filled = filled_items(field, bits);
    if (bits != filled)
        r = warnings_add(
            can_fill(column) ? place->warnings : NULL, place->problem, WARNING_ITEMS,
            place->lineno,
            "the number of items in column '%.60s' is %" PRIu64
            ", arraysize asks for %s%" PRIu64 ", correct the cell or the arraysize",
            field->name, bits, field->variable ? "a multiple of " : "", field->items);
    /* Bits that are missing are 0, as far as the cell goes. */
    const uint64_t whole = column->fixed || field->variable ? filled : stored;
    while (r == 0 && (stored % 8 != 0 || stored < whole)) {
        byte = (unsigned char)(byte << 1);
        if (++stored % 8 == 0)
            r = store_byte(column, byte, place);
    }
    column_count_bits(column, whole);
    return r;
}

static uint64_t count_characters(const char *text, size_t length) {
    uint64_t characters = 0;
    for (size_t i = 0; i < length; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    return characters;
}

/* Longer than arraysize says? Bytes or characters: VOTable meant either at some time. */
static int check_length(const char *text, size_t length, const struct place *place) {
    const struct field *field = place->field;
    if (field->variable || field->guessed || length <= field->items ||
        count_characters(text, length) <= field->items)
        return 0;
    return warnings_add(place->warnings, place->problem, WARNING_STRING_LENGTH, place->lineno,
                        "a text of %" PRIu64 " characters in column '%.60s' is longer than its "
                        "arraysize, %" PRIu64 ", and kept whole, correct the arraysize",
                        count_characters(text, length), field->name, field->items);
}

static int store_string(struct column *column, const char *text, size_t length,
                        const struct place *place) {
    struct string_cell cell;
    int r = check_length(text, length, place);
    if (r < 0)
        return r;
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
                        const struct place *place, bool *ret_null) {
    if (column->field->type == FIELD_BIT)
        return store_bits(column, text, end, place, ret_null);
    if (column->field->type == FIELD_BOOLEAN)
        return store_booleans(column, text, end, place, ret_null);
    return store_tokens(column, text, end, place, ret_null);
}

int cell_text_store(struct column *column, const char *text, size_t length, uint64_t lineno,
                    struct warnings *warnings, struct problem *problem) {
    const struct place place = {column->field, lineno, warnings, problem};
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
                                           : store_values(column, text, end, &place, &null);
    if (r < 0)
        return r;
    r = null ? column_end_null(column) : column_end_cell(column);
    return r < 0 ? problem_set_memory(problem) : 0;
}
