/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h: a VOTable with one table, written row by row in constant memory.
 *
 * VOTable 1.4, sections 5.1 (TABLEDATA), 5.3 (BINARY) and 5.4 (BINARY2). The same rows read
 * back with the same checksum whichever is written.
 */
#pragma once

#include "attributes.h"
#include "field.h"
#include "output.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRITER_LINE_BYTES 48  /* 64 characters of base64 */
#define WRITER_LINES      128 /* encoded at once */

/*
 * A cell to write. Fixed cells have exactly the field's items.
 *
 * items   in the machine's byte order: booleans as COLUMN_BOOLEAN_* bytes, bits eight to a
 *         byte, complex numbers as two reals; strings as UTF-8 without NUL. Borrowed.
 * count   of items; of a string its bytes
 * null    the items are not looked at. In BINARY only reals, booleans, strings, variable cells
 *         and integers with VALUES null can be null.
 */
struct writer_cell {
    const void *items;
    uint64_t count;
    bool null;
};

struct writer {
    struct output *output;      /* borrowed */
    const struct field *fields; /* borrowed, likewise */
    size_t field_count;
    enum serialization serialization;
    size_t used; /* of raw */
    unsigned char raw[WRITER_LINE_BYTES * WRITER_LINES];
};

/* Write everything before the first row; @rows becomes nrows. */
void writer_begin(struct writer *ret_writer, struct output *output, const char *table_name,
                  const struct field *fields, size_t field_count,
                  enum serialization serialization, uint64_t rows) _nonnull_;
void writer_row(struct writer *writer, const struct writer_cell *cells) _nonnull_;
void writer_end(struct writer *writer) _nonnull_;
