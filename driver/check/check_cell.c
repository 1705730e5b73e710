/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_cell.c: literals, strictly (VOTable 1.4, table 2 and section 5.1).
 *
 * cell_text.c reads the same texts, but as users need them read: it lets pass what it
 * understands, and stops at what it does not. Here everything that the standard does not have
 * is told, and nothing is kept.
 */
#include "check_cell.h"

#include "check_value.h"
#include "decimal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define QUOTED_BYTES 40

void check_field_finish(struct check_field *field) {
    field_finish(&field->field);
}

struct check_field *check_fields_add(struct check_fields *fields) {
    if (fields->count == fields->room) {
        size_t room = fields->room == 0 ? 16 : fields->room * 2;
        struct check_field *grown = reallocarray(fields->items, room, sizeof(*grown));
        if (grown == NULL)
            return NULL;
        fields->items = grown;
        fields->room = room;
    }
    struct check_field *field = &fields->items[fields->count++];
    memset(field, 0, sizeof(*field));
    return field;
}

void check_fields_finish(struct check_fields *fields) {
    for (size_t i = 0; i < fields->count; i++)
        check_field_finish(&fields->items[i]);
    free(fields->items);
    *fields = (struct check_fields){0};
}

/* A cell that is being looked at. */
struct cell {
    const struct field *field;
    const char *text;
    const char *end;
    char *words; /* FINDING_TEXT_BYTES, what is wrong */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static enum finding_code say_token(const struct cell *cell, enum finding_code code,
                                   const char *token, const char *end) {
    int length = end - token > QUOTED_BYTES ? QUOTED_BYTES : (int)(end - token);
    const char *more = end - token > QUOTED_BYTES ? "..." : "";
    const char *type = field_type_name(cell->field->type);
    const char *what = code == FINDING_C02   ? "is beyond the range of"
                       : code == FINDING_C09 ? "is not how the standard writes a"
                                             : "is no";
    snprintf(cell->words, FINDING_TEXT_BYTES, "'%.*s%s' %s %s", length, token, more, what,
             type);
    return code;
}

static enum finding_code check_integer(const struct cell *cell, const char *token,
                                       const char *end) {
    static const struct {
        int64_t low;
        int64_t high;
    } ranges[FIELD_TYPES] = {
        [FIELD_UNSIGNED_BYTE] = {0, UINT8_MAX},
        [FIELD_SHORT] = {INT16_MIN, INT16_MAX},
        [FIELD_INT] = {INT32_MIN, INT32_MAX},
        [FIELD_LONG] = {INT64_MIN, INT64_MAX},
    };
    int64_t value;
    int r = decimal_parse_integer(token, end, ranges[cell->field->type].low,
                                  ranges[cell->field->type].high, &value);
    if (r == 0)
        return FINDING_CODES;
    return say_token(cell, r == -ERANGE ? FINDING_C02 : FINDING_C01, token, end);
}

/* The standard has NaN, +Inf and -Inf; everything else that means them is another spelling. */
static bool is_special(const char *token, const char *end) {
    size_t length = (size_t)(end - token);
    return (length == 3 && memcmp(token, "NaN", 3) == 0) ||
           (length == 4 && (memcmp(token, "+Inf", 4) == 0 || memcmp(token, "-Inf", 4) == 0));
}

static enum finding_code check_real(const struct cell *cell, const char *token,
                                    const char *end) {
    double value;
    if (decimal_parse_double(token, end, &value) < 0)
        return say_token(cell, FINDING_C01, token, end);
    bool letters = false;
    for (const char *c = token; c < end; c++)
        letters = letters || *c == 'n' || *c == 'N';
    if (letters && !is_special(token, end))
        return say_token(cell, FINDING_C09, token, end);
    return FINDING_CODES;
}

static enum finding_code check_boolean(const struct cell *cell, const char *token,
                                       const char *end) {
    size_t length = (size_t)(end - token);
    bool known = (length == 1 && strchr("TtFf10?", *token) != NULL) ||
                 (length == 4 && strncasecmp(token, "true", 4) == 0) ||
                 (length == 5 && strncasecmp(token, "false", 5) == 0);
    return known ? FINDING_CODES : say_token(cell, FINDING_C01, token, end);
}

static enum finding_code check_token(const struct cell *cell, const char *token,
                                     const char *end) {
    if (cell->field->type == FIELD_BOOLEAN)
        return check_boolean(cell, token, end);
    return field_is_integer(cell->field) ? check_integer(cell, token, end)
                                         : check_real(cell, token, end);
}

static enum finding_code check_items(const struct cell *cell, uint64_t items, uint64_t bound) {
    const struct field *field = cell->field;
    bool fits = field->variable ? items % field->items == 0 : items == field->items;
    if (!fits)
        snprintf(cell->words, FINDING_TEXT_BYTES,
                 "it has %" PRIu64 " items, arraysize asks for %s%" PRIu64, items,
                 field->variable ? "a multiple of " : "", field->items);
    else if (items > bound)
        snprintf(cell->words, FINDING_TEXT_BYTES,
                 "it has %" PRIu64 " items, arraysize allows %" PRIu64, items, bound);
    return !fits ? FINDING_C03 : items > bound ? FINDING_C06 : FINDING_CODES;
}

static enum finding_code check_bits(const struct cell *cell, uint64_t *ret_items) {
    *ret_items = 0;
    for (const char *c = cell->text; c < cell->end; c++) {
        if (is_blank(*c))
            continue;
        if (*c != '0' && *c != '1')
            return say_token(cell, FINDING_C01, cell->text, cell->end);
        (*ret_items)++;
    }
    return FINDING_CODES;
}

static enum finding_code check_tokens(const struct cell *cell, uint64_t *ret_items) {
    bool complex =
        cell->field->type == FIELD_FLOAT_COMPLEX || cell->field->type == FIELD_DOUBLE_COMPLEX;
    uint64_t tokens = 0;
    for (const char *c = cell->text; c < cell->end; tokens++) {
        const char *token = c;
        while (c < cell->end && !is_blank(*c))
            c++;
        enum finding_code code = check_token(cell, token, c);
        if (code != FINDING_CODES)
            return code;
        while (c < cell->end && is_blank(*c))
            c++;
    }
    if (complex && tokens % 2 != 0) {
        snprintf(cell->words, FINDING_TEXT_BYTES,
                 "it has %" PRIu64 " numbers, complex ones come in pairs", tokens);
        return FINDING_C03;
    }
    *ret_items = complex ? tokens / 2 : tokens;
    return FINDING_CODES;
}

static enum finding_code check_values(const struct cell *cell, uint64_t bound) {
    uint64_t items = 0;
    enum finding_code code =
        cell->field->type == FIELD_BIT ? check_bits(cell, &items) : check_tokens(cell, &items);
    return code != FINDING_CODES ? code : check_items(cell, items, bound);
}

/* Characters as they are counted: UTF-16 units of unicodeChar, bytes of char. */
static enum finding_code check_string(const struct check_field *field,
                                      enum schema_version version, const struct cell *cell) {
    bool unicode = field->field.type == FIELD_UNICODE_CHAR;
    uint64_t items = 0;
    bool beyond_ascii = false;
    bool beyond_plane = false;
    for (const char *c = cell->text; c < cell->end; c++) {
        unsigned char byte = (unsigned char)*c;
        beyond_ascii = beyond_ascii || byte >= 0x80;
        beyond_plane = beyond_plane || byte >= 0xf0;
        items += !unicode || (byte & 0xc0) != 0x80;
    }
    if (unicode && beyond_plane) {
        snprintf(cell->words, FINDING_TEXT_BYTES, "it has a character beyond U+FFFF");
        return FINDING_C08;
    }
    if (!unicode && beyond_ascii && version < V1_6) {
        snprintf(cell->words, FINDING_TEXT_BYTES,
                 "it has a character beyond ASCII, which char has from 1.6 on");
        return FINDING_C07;
    }
    if (items > field->bound) {
        snprintf(cell->words, FINDING_TEXT_BYTES,
                 "it has %" PRIu64 " characters, arraysize allows %" PRIu64, items,
                 field->bound);
        return FINDING_C06;
    }
    if (field->timestamp && items > 0 && !value_is_timestamp(cell->text)) {
        snprintf(cell->words, FINDING_TEXT_BYTES, "'%.40s' is no timestamp", cell->text);
        return FINDING_C10;
    }
    return FINDING_CODES;
}

/* Before 1.3 only strings, booleans and reals could be left empty. */
static enum finding_code check_empty(const struct cell *cell, enum schema_version version) {
    enum field_type type = cell->field->type;
    bool had_null = type == FIELD_BOOLEAN || type == FIELD_FLOAT || type == FIELD_DOUBLE;
    if (version >= V1_3 || had_null || cell->field->variable)
        return FINDING_CODES;
    snprintf(cell->words, FINDING_TEXT_BYTES,
             "it is empty, which a cell of %s can be from 1.3 on", field_type_name(type));
    return FINDING_C04;
}

enum finding_code check_cell_text(const struct check_field *field, enum schema_version version,
                                  const char *text, size_t length,
                                  char ret_words[FINDING_TEXT_BYTES]) {
    struct cell cell = {&field->field, text, text + length, ret_words};
    if (field_is_string(&field->field))
        return check_string(field, version, &cell);
    while (cell.text < cell.end && is_blank(*cell.text))
        cell.text++;
    while (cell.text < cell.end && is_blank(cell.end[-1]))
        cell.end--;
    if (cell.text == cell.end)
        return check_empty(&cell, version);
    /* What VALUES null names is null, be it a value or not: that is told of VALUES. */
    const char *null = field->field.null_text;
    if (null != NULL && strlen(null) == (size_t)(cell.end - cell.text) &&
        memcmp(null, cell.text, strlen(null)) == 0)
        return FINDING_CODES;
    return check_values(&cell, field->bound);
}
