/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer_text.c: cells as the text of TABLEDATA, and text as XML wants it.
 *
 * What is written is well-formed whatever the values are: bytes that are no UTF-8 and
 * characters that XML cannot hold are replaced, and counted.
 */
#include "writer.h"

#include "columns.h"
#include "decimal.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* Tags around a number, and a blank. */
#define CELL_BYTES (DECIMAL_TEXT_BYTES + 16)

enum {
    PLAIN = 0,
    ESCAPED = 1,    /* everywhere */
    ATTRIBUTED = 2, /* in attributes only */
    CONTROL = 4,
    HIGH = 8,
};

// clang-format off
#define C CONTROL
#define H16 HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, \
            HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH
static const unsigned char kinds[256] = {
    C, C, C, C, C, C, C, C, C, ATTRIBUTED, ATTRIBUTED, C, C, ESCAPED, C, C,
    C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C,
    ['"'] = ATTRIBUTED, ['&'] = ESCAPED, ['<'] = ESCAPED, ['>'] = ESCAPED,
    [0x80] =
    H16, H16, H16, H16, H16, H16, H16, H16,
};
#undef H16
#undef C
// clang-format on

static const char replacement[] = "\xef\xbf\xbd";

static const char *entity_of(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#13;";
    case '\n':
        return "&#10;";
    default:
        return "&#9;";
    }
}

/* What stands for bytes that are no UTF-8, or no character of XML. */
static void write_replaced(struct output *output, unsigned char byte,
                           struct writer_losses *losses, const struct field *field) {
    if (field == NULL || field->type != FIELD_CHAR || byte < 0x80) {
        output_text(output, replacement, sizeof(replacement) - 1);
        if (losses != NULL)
            writer_count_loss(losses, LOSS_CONTROL, field);
        return;
    }
    const char latin[2] = {(char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f))};
    output_text(output, latin, sizeof(latin));
    writer_count_loss(losses, LOSS_ENCODING, field);
}

/* Bytes at @c that can be written as they are; 0 when they cannot. */
static size_t legal_bytes(const char *c, const char *end) {
    uint32_t point;
    size_t bytes = utf8_decode(c, (size_t)(end - c), &point);
    return point == UTF8_INVALID || point == 0xfffe || point == 0xffff ? 0 : bytes;
}

static void write_escaped(struct output *output, const char *text, size_t length,
                          bool attribute, struct writer_losses *losses,
                          const struct field *field) {
    const unsigned char wanted =
        attribute ? ESCAPED | ATTRIBUTED | CONTROL | HIGH : ESCAPED | CONTROL | HIGH;
    const char *plain = text;
    const char *end = text + length;
    for (const char *c = text; c < end;) {
        unsigned char kind = kinds[(unsigned char)*c] & wanted;
        size_t bytes = kind == PLAIN ? 1 : kind == HIGH ? legal_bytes(c, end) : 0;
        if (bytes > 0) {
            c += bytes;
            continue;
        }
        output_text(output, plain, (size_t)(c - plain));
        if ((kind & (ESCAPED | ATTRIBUTED)) != 0) {
            const char *entity = entity_of(*c);
            output_text(output, entity, strlen(entity));
            c++;
        } else {
            uint32_t point;
            size_t bad = utf8_decode(c, (size_t)(end - c), &point);
            write_replaced(output, point == UTF8_INVALID ? (unsigned char)*c : 0, losses,
                           field);
            /* A surrogate by itself is three bytes of one character. */
            if (point == UTF8_INVALID && (field == NULL || field->type != FIELD_CHAR) &&
                end - c >= 3 && (unsigned char)*c == 0xed)
                bad = 3;
            c += bad;
        }
        plain = c;
    }
    output_text(output, plain, (size_t)(end - plain));
}

void writer_escape(struct output *output, const char *text, size_t length, bool attribute) {
    write_escaped(output, text, length, attribute, NULL, NULL);
}

/* Would a CDATA section hold the text as it is, and save an entity? */
static bool fits_cdata(const char *text, size_t length) {
    return (memchr(text, '<', length) != NULL || memchr(text, '&', length) != NULL) &&
           memchr(text, '\r', length) == NULL && memmem(text, length, "]]>", 3) == NULL;
}

static bool is_legal(const char *text, size_t length) {
    const char *end = text + length;
    for (const char *c = text; c < end;) {
        unsigned char kind = kinds[(unsigned char)*c];
        size_t bytes = kind == HIGH ? legal_bytes(c, end) : kind == CONTROL ? 0 : 1;
        if (bytes == 0)
            return false;
        c += bytes;
    }
    return true;
}

static void write_text(struct writer *writer, const struct field *field, const char *text,
                       size_t length) {
    if (writer->layout->cdata && fits_cdata(text, length) && is_legal(text, length)) {
        output_text(writer->output, "<![CDATA[", 9);
        output_text(writer->output, text, length);
        output_text(writer->output, "]]>", 3);
        return;
    }
    write_escaped(writer->output, text, length, false, &writer->losses, field);
}

/* Every string of an array fills its place with blanks, so that their number is kept. */
static void write_strings(struct writer *writer, const struct field *field,
                          const struct wire_cell *cell) {
    const char *text = cell->items;
    const char *end = text + cell->count;
    while (text < end) {
        size_t length = strnlen(text, (size_t)(end - text));
        const struct wire_cell one = {.items = text, .count = length};
        struct field alone = *field;
        alone.string_items = 0;
        write_text(writer, field, text, length);
        for (uint64_t units = wire_string_units(&alone, &one); units < field->string_items;
             units++)
            output_text(writer->output, " ", 1);
        text += length + 1;
    }
}

/* The text of one number, boolean or half of a complex number. Returns its length. */
static size_t print_item(char *text, enum field_type type, const unsigned char *item) {
    static const char letters[] = {'F', 'T', '?', '?'};
    int16_t narrow;
    int32_t integer;
    int64_t wide;
    float real;
    double precise;
    switch (type) {
    case FIELD_BOOLEAN:
        text[0] = letters[*item & 3];
        return 1;
    case FIELD_UNSIGNED_BYTE:
        return decimal_print_integer(text, *item);
    case FIELD_SHORT:
        memcpy(&narrow, item, sizeof(narrow));
        return decimal_print_integer(text, narrow);
    case FIELD_INT:
        memcpy(&integer, item, sizeof(integer));
        return decimal_print_integer(text, integer);
    case FIELD_LONG:
        memcpy(&wide, item, sizeof(wide));
        return decimal_print_integer(text, wide);
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        memcpy(&real, item, sizeof(real));
        return decimal_print_float(text, real);
    default:
        memcpy(&precise, item, sizeof(precise));
        return decimal_print_double(text, precise);
    }
}

/* Complex numbers are two of these. */
static uint64_t number_bytes(enum field_type type) {
    bool complex = type == FIELD_FLOAT_COMPLEX || type == FIELD_DOUBLE_COMPLEX;
    return complex ? field_item_bytes(type) / 2 : field_item_bytes(type);
}

static void write_items(struct output *output, const struct field *field,
                        const struct wire_cell *cell) {
    const unsigned char *items = cell->items;
    uint64_t step = number_bytes(field->type);
    uint64_t bytes = field_wire_bytes(field, cell->count);
    for (uint64_t at = 0; at < bytes; at += step) {
        char *text = output_room(output, CELL_BYTES);
        *text = ' ';
        size_t length = at > 0;
        length += print_item(text + length, field->type, items + at);
        output_keep(output, length);
    }
}

/* A blank between bits: there are readers that take 1011 for one value. */
static void write_bits(struct output *output, const struct wire_cell *cell) {
    const unsigned char *bytes = cell->items;
    for (uint64_t i = 0; i < cell->count; i++) {
        char *text = output_room(output, 2);
        size_t length = 0;
        if (i > 0)
            text[length++] = ' ';
        text[length++] = (bytes[i / 8] & (0x80 >> i % 8)) != 0 ? '1' : '0';
        output_keep(output, length);
    }
}

static void write_cell(struct writer *writer, const struct field *field,
                       const struct wire_cell *cell) {
    if (field->string_items > 0)
        write_strings(writer, field, cell);
    else if (field_is_string(field))
        write_text(writer, field, cell->items, cell->count);
    else if (field->type == FIELD_BIT)
        write_bits(writer->output, cell);
    else
        write_items(writer->output, field, cell);
}

void writer_text_row(struct writer *writer, const struct wire_cell *cells) {
    struct output *output = writer->output;
    const char *prefix = writer->layout->prefix;
    char open[80], close[80];
    bool bare = *prefix == '\0';
    size_t open_length = 4, close_length = 5;
    memcpy(open, "<TD>", 4);
    memcpy(close, "</TD>", 5);
    if (!bare) {
        open_length = (size_t)snprintf(open, sizeof(open), "<%.64sTD>", prefix);
        close_length = (size_t)snprintf(close, sizeof(close), "</%.64sTD>", prefix);
        output_format(output, "<%sTR>", prefix);
    } else {
        output_text(output, "<TR>", 4);
    }
    for (size_t i = 0; i < writer->field_count; i++) {
        output_text(output, open, open_length);
        if (!cells[i].null)
            write_cell(writer, writer->fields[i], &cells[i]);
        output_text(output, close, close_length);
    }
    if (bare)
        output_text(output, "</TR>\n", 6);
    else
        output_format(output, "</%sTR>\n", prefix);
}
