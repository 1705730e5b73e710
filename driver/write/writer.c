/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.c: the elements of DATA, and rows of BINARY and BINARY2 as lines of base64.
 *
 * Rows never fail: the output keeps the first error. Allocates nothing but for FITS.
 */
#include "writer.h"

#include "base64.h"
#include "columns.h"
#include "fits_write.h"

#include <string.h>

#define PIECE_BYTES 3072 /* encoded at once */

static const char *const data_names[SERIALIZATIONS] = {
    [SERIALIZATION_TABLEDATA] = "TABLEDATA",
    [SERIALIZATION_BINARY] = "BINARY",
    [SERIALIZATION_BINARY2] = "BINARY2",
    [SERIALIZATION_FITS] = "FITS",
};

void writer_count_loss(struct writer_losses *losses, enum writer_loss loss,
                       const struct field *field) {
    if (losses->counts[loss]++ == 0)
        losses->first[loss] = field;
}

/* Lines of base64; the last one that is not full goes on with the next piece. */
static void encode_raw(struct wire *wire) {
    struct writer *writer = wire->context;
    uint64_t line_bytes = writer->layout->line_characters / 4 * 3;
    for (size_t at = 0; at < wire->used;) {
        size_t piece = wire->used - at < PIECE_BYTES ? wire->used - at : PIECE_BYTES;
        if (line_bytes > 0 && piece > line_bytes - writer->line_bytes)
            piece = (size_t)(line_bytes - writer->line_bytes);
        char *text = output_room(writer->output, BASE64_ENCODED_BYTES(PIECE_BYTES) + 1);
        size_t length = base64_encode(wire->raw + at, piece, text);
        writer->line_bytes += piece;
        if (writer->line_bytes == line_bytes) {
            text[length++] = '\n';
            writer->line_bytes = 0;
        }
        output_keep(writer->output, length);
        at += piece;
    }
}

static void copy_raw(struct wire *wire) {
    struct writer *writer = wire->context;
    output_text(writer->layout->stream, (const char *)wire->raw, wire->used);
}

static void write_tag(struct writer *writer, const char *start, const char *name,
                      const char *end) {
    output_format(writer->output, "%s%s%s%s", start, writer->layout->prefix, name, end);
}

static void begin_stream(struct writer *writer) {
    const struct writer_layout *layout = writer->layout;
    if (layout->href != NULL) {
        write_tag(writer, "<", "STREAM", " href=\"");
        writer_escape(writer->output, layout->href, strlen(layout->href), true);
        output_format(writer->output, "\"%s/>\n",
                      layout->href_gzip ? " encoding=\"gzip\"" : "");
        return;
    }
    write_tag(writer, "<", "STREAM", " encoding=\"base64\">");
    output_format(writer->output, "%s\n", layout->cdata ? "<![CDATA[" : "");
}

static void end_stream(struct writer *writer) {
    wire_flush(&writer->wire);
    if (writer->layout->href != NULL)
        return;
    if (writer->line_bytes > 0)
        output_text(writer->output, "\n", 1);
    output_format(writer->output, "%s", writer->layout->cdata ? "]]>" : "");
    write_tag(writer, "</", "STREAM", ">\n");
}

int writer_begin(struct writer *ret_writer, struct output *output,
                 const struct writer_layout *layout, struct field *const *fields,
                 size_t field_count, struct problem *problem) {
    struct writer *writer = ret_writer;
    writer->output = output;
    writer->layout = layout;
    writer->fields = fields;
    writer->field_count = field_count;
    writer->losses = (struct writer_losses){0};
    writer->line_bytes = 0;
    writer->fits = NULL;
    wire_init(&writer->wire, layout->stream != NULL ? copy_raw : encode_raw, writer);

    write_tag(writer, "<", "DATA", ">\n");
    write_tag(writer, "<", data_names[layout->serialization], ">\n");
    if (layout->serialization != SERIALIZATION_TABLEDATA)
        begin_stream(writer);
    if (layout->serialization != SERIALIZATION_FITS)
        return 0;
    return fits_writer_new(fields, field_count, &writer->losses, &writer->fits, problem);
}

/* A null that BINARY cannot say: it has neither flags nor a value for it. */
static bool loses_null(const struct writer *writer, const struct field *field) {
    if (writer->layout->serialization != SERIALIZATION_BINARY || field->variable)
        return false;
    return field->type == FIELD_BIT || (field_is_integer(field) && !field->has_null);
}

static void put_strings(struct writer *writer, const struct field *field,
                        const struct wire_cell *cell) {
    uint64_t units = wire_string_units(field, cell);
    if (field->variable)
        wire_put_be32(&writer->wire, (uint32_t)units);
    else if (units > field->items)
        writer_count_loss(&writer->losses, LOSS_LENGTH, field);
    wire_put_strings(&writer->wire, field, cell, field->variable ? units : field->items);
}

static void put_cell(struct writer *writer, const struct field *field,
                     const struct wire_cell *cell) {
    struct wire *wire = &writer->wire;
    if (field_is_string(field)) {
        put_strings(writer, field, cell);
    } else if (cell->null && field->variable) {
        wire_put_be32(wire, 0);
    } else if (cell->null) {
        if (loses_null(writer, field))
            writer_count_loss(&writer->losses, LOSS_NULL, field);
        wire_put_nulls(wire, field, field->items);
    } else {
        if (field->variable)
            wire_put_be32(wire, (uint32_t)cell->count);
        wire_put_items(wire, field->type, cell->items, cell->count);
    }
}

static void put_row(struct writer *writer, const struct wire_cell *cells) {
    size_t count = writer->field_count;
    bool flags_wanted = writer->layout->serialization == SERIALIZATION_BINARY2;
    for (size_t i = 0; flags_wanted && i < count; i += 8) {
        unsigned char flags = 0;
        for (size_t j = i; j < i + 8 && j < count; j++)
            flags |= (unsigned char)(cells[j].null ? 0x80 >> (j - i) : 0);
        wire_put(&writer->wire, &flags, 1);
    }
    for (size_t i = 0; i < count; i++)
        put_cell(writer, writer->fields[i], &cells[i]);
}

void writer_row(struct writer *writer, const struct wire_cell *cells) {
    switch (writer->layout->serialization) {
    case SERIALIZATION_TABLEDATA:
        writer_text_row(writer, cells);
        break;
    case SERIALIZATION_FITS:
        fits_writer_row(writer->fits, cells);
        break;
    default:
        put_row(writer, cells);
        break;
    }
}

int writer_end(struct writer *writer, struct problem *problem) {
    int r = 0;
    if (writer->fits != NULL)
        r = fits_writer_end(writer->fits, &writer->wire, problem);
    if (writer->layout->serialization != SERIALIZATION_TABLEDATA)
        end_stream(writer);
    write_tag(writer, "</", data_names[writer->layout->serialization], ">\n");
    write_tag(writer, "</", "DATA", ">");
    writer_abandon(writer);
    return r;
}

void writer_abandon(struct writer *writer) {
    fits_writer_free(writer->fits);
    writer->fits = NULL;
}
