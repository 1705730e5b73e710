/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.c: cells as text, or as big-endian bytes that become lines of base64.
 *
 * Never fails: the output keeps the first error. Never allocates.
 */
#include "writer.h"

#include "base64.h"
#include "columns.h"
#include "decimal.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

static void write_string(struct output *output, const char *text) {
    output_text(output, text, strlen(text));
}

/* Text between tags or in an attribute. */
static void write_escaped(struct output *output, const char *text, size_t length) {
    const char *plain = text;
    const char *end = text + length;
    for (const char *c = text; c < end; c++) {
        const char *entity = *c == '&'   ? "&amp;"
                             : *c == '<' ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '"' ? "&quot;"
                                         : NULL;
        if (entity == NULL)
            continue;
        output_text(output, plain, (size_t)(c - plain));
        write_string(output, entity);
        plain = c + 1;
    }
    output_text(output, plain, (size_t)(end - plain));
}

static void write_arraysize(struct output *output, const struct field *field) {
    if (!field->variable && field->items == 1 && !field_is_string(field))
        return;
    write_string(output, " arraysize=\"");
    if (field->string_items > 0)
        output_format(output, "%" PRIu64 "x", field->string_items);
    uint64_t items =
        field->string_items > 0 ? field->items / field->string_items : field->items;
    if (!field->variable)
        output_format(output, "%" PRIu64, items);
    else if (items > 1)
        output_format(output, "%" PRIu64 "x*", items);
    else
        write_string(output, "*");
    write_string(output, "\"");
}

static void write_field(struct output *output, const struct field *field) {
    write_string(output, "<FIELD name=\"");
    write_escaped(output, field->name, strlen(field->name));
    output_format(output, "\" datatype=\"%s\"", field_type_name(field->type));
    write_arraysize(output, field);
    if (field->null_text == NULL) {
        write_string(output, "/>\n");
        return;
    }
    write_string(output, "><VALUES null=\"");
    write_escaped(output, field->null_text, strlen(field->null_text));
    write_string(output, "\"/></FIELD>\n");
}

static const struct {
    const char *begin;
    const char *end;
} data_tags[SERIALIZATIONS] = {
    [SERIALIZATION_TABLEDATA] = {"<TABLEDATA>\n", "</TABLEDATA>\n"},
    [SERIALIZATION_BINARY] = {"<BINARY>\n<STREAM encoding=\"base64\">\n",
                              "</STREAM>\n</BINARY>\n"},
    [SERIALIZATION_BINARY2] = {"<BINARY2>\n<STREAM encoding=\"base64\">\n",
                               "</STREAM>\n</BINARY2>\n"},
};

void writer_begin(struct writer *ret_writer, struct output *output, const char *table_name,
                  const struct field *fields, size_t field_count,
                  enum serialization serialization, uint64_t rows) {
    ret_writer->output = output;
    ret_writer->fields = fields;
    ret_writer->field_count = field_count;
    ret_writer->serialization = serialization;
    ret_writer->used = 0;

    write_string(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<VOTABLE version=\"1.4\" "
                         "xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
                         "<RESOURCE type=\"results\">\n<TABLE name=\"");
    write_escaped(output, table_name, strlen(table_name));
    output_format(output, "\" nrows=\"%" PRIu64 "\">\n", rows);
    for (size_t i = 0; i < field_count; i++)
        write_field(output, &fields[i]);
    write_string(output, "<DATA>\n");
    write_string(output, data_tags[serialization].begin);
}

static void encode_raw(struct writer *writer) {
    for (size_t at = 0; at < writer->used; at += WRITER_LINE_BYTES) {
        size_t left = writer->used - at;
        char *line = output_room(writer->output, BASE64_ENCODED_BYTES(WRITER_LINE_BYTES) + 1);
        size_t length = base64_encode(
            writer->raw + at, left < WRITER_LINE_BYTES ? left : WRITER_LINE_BYTES, line);
        line[length] = '\n';
        output_keep(writer->output, length + 1);
    }
    writer->used = 0;
}

static void put_raw(struct writer *writer, const void *bytes, size_t length) {
    const unsigned char *from = bytes;
    while (length > 0) {
        size_t room = sizeof(writer->raw) - writer->used;
        size_t piece = length < room ? length : room;
        memcpy(writer->raw + writer->used, from, piece);
        writer->used += piece;
        from += piece;
        length -= piece;
        if (writer->used == sizeof(writer->raw))
            encode_raw(writer);
    }
}

static void put_number(struct writer *writer, const unsigned char *item, uint64_t bytes) {
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 2:
        memcpy(&two, item, 2);
        put_raw(writer, &(uint16_t){htobe16(two)}, 2);
        break;
    case 4:
        memcpy(&four, item, 4);
        put_raw(writer, &(uint32_t){htobe32(four)}, 4);
        break;
    case 8:
        memcpy(&eight, item, 8);
        put_raw(writer, &(uint64_t){htobe64(eight)}, 8);
        break;
    default:
        put_raw(writer, item, bytes);
        break;
    }
}

/* Complex numbers are two of these. */
static uint64_t number_bytes(enum field_type type) {
    bool complex = type == FIELD_FLOAT_COMPLEX || type == FIELD_DOUBLE_COMPLEX;
    return complex ? field_item_bytes(type) / 2 : field_item_bytes(type);
}

/* The next character of a UTF-8 text as one or two units. */
static size_t next_units(const unsigned char **c, const unsigned char *end,
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
    ret_units[0] = (uint16_t)(0xd800 + ((character - 0x10000) >> 10));
    ret_units[1] = (uint16_t)(0xdc00 + (character & 0x3ff));
    return 2;
}

static uint64_t count_units(const struct writer_cell *cell) {
    const unsigned char *c = cell->items;
    const unsigned char *end = c + cell->count;
    uint16_t pair[2];
    uint64_t units = 0;
    while (c < end)
        units += next_units(&c, end, pair);
    return units;
}

static void put_zeros(struct writer *writer, uint64_t bytes) {
    static const unsigned char zeros[64];
    for (; bytes > sizeof(zeros); bytes -= sizeof(zeros))
        put_raw(writer, zeros, sizeof(zeros));
    put_raw(writer, zeros, bytes);
}

static void put_count(struct writer *writer, uint64_t count) {
    put_raw(writer, &(uint32_t){htobe32((uint32_t)count)}, 4);
}

static void put_chars(struct writer *writer, const struct field *field,
                      const struct writer_cell *cell) {
    uint64_t bytes = cell->null ? 0 : cell->count;
    if (field->variable)
        put_count(writer, bytes);
    else if (bytes > field->items)
        bytes = field->items;
    put_raw(writer, cell->items, bytes);
    if (!field->variable)
        put_zeros(writer, field->items - bytes);
}

static void put_unicode(struct writer *writer, const struct field *field,
                        const struct writer_cell *cell) {
    uint64_t units = cell->null ? 0 : count_units(cell);
    if (field->variable)
        put_count(writer, units);
    else if (units > field->items)
        units = field->items;
    const unsigned char *c = cell->items;
    const unsigned char *end = c + cell->count;
    for (uint64_t put = 0; put < units;) {
        uint16_t pair[2];
        size_t length = next_units(&c, end, pair);
        for (size_t i = 0; i < length && put < units; i++, put++)
            put_raw(writer, &(uint16_t){htobe16(pair[i])}, 2);
    }
    if (!field->variable)
        put_zeros(writer, 2 * (field->items - units));
}

/* A fixed cell that is null: every item is what stands for null. */
static void put_null_items(struct writer *writer, const struct field *field) {
    static const double nan = __builtin_nan("");
    static const float float_nan = __builtin_nanf("");
    for (uint64_t i = 0; i < field->items; i++) {
        switch (field->type) {
        case FIELD_BOOLEAN:
            put_raw(writer, "?", 1);
            break;
        case FIELD_FLOAT:
        case FIELD_FLOAT_COMPLEX:
            for (uint64_t j = 0; j < field_item_bytes(field->type); j += 4)
                put_number(writer, (const unsigned char *)&float_nan, 4);
            break;
        case FIELD_DOUBLE:
        case FIELD_DOUBLE_COMPLEX:
            for (uint64_t j = 0; j < field_item_bytes(field->type); j += 8)
                put_number(writer, (const unsigned char *)&nan, 8);
            break;
        default: {
            uint64_t bytes = field_item_bytes(field->type);
            uint64_t big = htobe64((uint64_t)field->null_integer);
            put_raw(writer, (const unsigned char *)&big + 8 - bytes, bytes);
            break;
        }
        }
    }
}

static void put_items(struct writer *writer, const struct field *field,
                      const struct writer_cell *cell) {
    static const char letters[] = {'F', 'T', '?'};
    const unsigned char *items = cell->items;
    uint64_t bytes = field_wire_bytes(field, cell->count);
    if (field->type == FIELD_BIT) {
        put_raw(writer, items, bytes);
        return;
    }
    uint64_t step = number_bytes(field->type);
    for (uint64_t at = 0; at < bytes; at += step) {
        if (field->type == FIELD_BOOLEAN)
            put_raw(writer, &letters[items[at]], 1);
        else
            put_number(writer, items + at, step);
    }
}

static void put_cell(struct writer *writer, const struct field *field,
                     const struct writer_cell *cell) {
    if (field->type == FIELD_CHAR) {
        put_chars(writer, field, cell);
    } else if (field->type == FIELD_UNICODE_CHAR) {
        put_unicode(writer, field, cell);
    } else if (cell->null && field->variable) {
        put_count(writer, 0);
    } else if (cell->null && field->type == FIELD_BIT) {
        put_zeros(writer, field_wire_bytes(field, field->items));
    } else if (cell->null) {
        put_null_items(writer, field);
    } else {
        if (field->variable)
            put_count(writer, cell->count);
        put_items(writer, field, cell);
    }
}

static void put_row(struct writer *writer, const struct writer_cell *cells) {
    for (size_t i = 0;
         writer->serialization == SERIALIZATION_BINARY2 && i < writer->field_count; i += 8) {
        unsigned char flags = 0;
        for (size_t j = i; j < i + 8 && j < writer->field_count; j++)
            flags |= (unsigned char)(cells[j].null ? 0x80 >> (j - i) : 0);
        put_raw(writer, &flags, 1);
    }
    for (size_t i = 0; i < writer->field_count; i++)
        put_cell(writer, &writer->fields[i], &cells[i]);
}

/* The text of one number, boolean or half of a complex number. */
static size_t print_item(char text[DECIMAL_TEXT_BYTES], enum field_type type,
                         const unsigned char *item) {
    static const char letters[] = {'F', 'T', '?'};
    int16_t narrow;
    int32_t integer;
    int64_t wide;
    float real;
    double precise;
    switch (type) {
    case FIELD_BOOLEAN:
        text[0] = letters[*item];
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

static void write_items(struct output *output, const struct field *field,
                        const struct writer_cell *cell) {
    const unsigned char *items = cell->items;
    uint64_t step = number_bytes(field->type);
    uint64_t bytes = field_wire_bytes(field, cell->count);
    for (uint64_t at = 0; at < bytes; at += step) {
        char *text = output_room(output, DECIMAL_TEXT_BYTES + 1);
        size_t length = 0;
        if (at > 0)
            text[length++] = ' ';
        length += print_item(text + length, field->type, items + at);
        output_keep(output, length);
    }
}

/* A blank between bits: there are readers that take 1011 for one value. */
static void write_bits(struct output *output, const struct writer_cell *cell) {
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

static void write_row(struct writer *writer, const struct writer_cell *cells) {
    struct output *output = writer->output;
    write_string(output, "<TR>");
    for (size_t i = 0; i < writer->field_count; i++) {
        const struct field *field = &writer->fields[i];
        const struct writer_cell *cell = &cells[i];
        write_string(output, "<TD>");
        if (cell->null)
            ;
        else if (field_is_string(field))
            write_escaped(output, cell->items, cell->count);
        else if (field->type == FIELD_BIT)
            write_bits(output, cell);
        else
            write_items(output, field, cell);
        write_string(output, "</TD>");
    }
    write_string(output, "</TR>\n");
}

void writer_row(struct writer *writer, const struct writer_cell *cells) {
    if (writer->serialization == SERIALIZATION_TABLEDATA)
        write_row(writer, cells);
    else
        put_row(writer, cells);
}

void writer_end(struct writer *writer) {
    encode_raw(writer);
    write_string(writer->output, data_tags[writer->serialization].end);
    write_string(writer->output, "</DATA>\n</TABLE>\n</RESOURCE>\n</VOTABLE>\n");
}
