/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h: values as big-endian bytes, the same in BINARY, BINARY2 and FITS.
 *
 * VOTable 1.4, section 6; FITS standard 4.0, section 7.3.3. Never allocates, never fails: who
 * drains the bytes keeps the errors.
 */
#pragma once

#include "attributes.h"
#include "field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_BYTES 6144 /* a multiple of 3, as base64 wants them */

/*
 * A cell to write. Fixed cells have exactly the field's items; where there are more or fewer
 * they are cut, or filled with zeros.
 *
 * items   in the machine's byte order: booleans as COLUMN_BOOLEAN_* bytes, bits eight to a
 *         byte, complex numbers as two reals; strings as UTF-8 without NUL, arrays of strings
 *         with a NUL after each. Borrowed.
 * count   of items; of a string its bytes, of an array of strings the NULs too
 * null    the items are not looked at
 */
struct wire_cell {
    const void *items;
    uint64_t count;
    bool null;
};

struct wire {
    void (*drain)(struct wire *wire); /* takes raw[0 .. used) */
    void *context;                    /* its own */
    char boolean_null;                /* '?', in FITS a NUL */
    size_t used;
    uint64_t total; /* bytes that were put, ever */
    unsigned char raw[WIRE_BYTES];
};

void wire_init(struct wire *ret_wire, void (*drain)(struct wire *wire),
               void *context) _nonnull_;
void wire_flush(struct wire *wire) _nonnull_;

/* Across the end of the buffer. */
void wire_put_long(struct wire *wire, const void *bytes, size_t length) _nonnull_;

static inline void wire_put(struct wire *wire, const void *bytes, size_t length) {
    if (length >= sizeof(wire->raw) - wire->used) {
        wire_put_long(wire, bytes, length);
        return;
    }
    memcpy(wire->raw + wire->used, bytes, length);
    wire->used += length;
    wire->total += length;
}

void wire_put_zeros(struct wire *wire, uint64_t bytes) _nonnull_;
void wire_put_be32(struct wire *wire, uint32_t value) _nonnull_;
void wire_put_be64(struct wire *wire, uint64_t value) _nonnull_;

/* @count items of a type that is no string. */
void wire_put_items(struct wire *wire, enum field_type type, const void *items,
                    uint64_t count) _nonnull_;

/* @count items that stand for null: NaN, '?', @field->null_integer; zeros for bits. */
void wire_put_nulls(struct wire *wire, const struct field *field, uint64_t count) _nonnull_;

/* Units (bytes of char, UCS-2 of unicodeChar) that a cell of strings takes, with padding. */
uint64_t wire_string_units(const struct field *field, const struct wire_cell *cell) _nonnull_;

/* A cell of strings, @units of it: cut or filled with NULs. */
void wire_put_strings(struct wire *wire, const struct field *field,
                      const struct wire_cell *cell, uint64_t units) _nonnull_;

/* The next character of a UTF-8 text as one or two UTF-16 units. Returns how many. */
size_t wire_next_units(const unsigned char **c, const unsigned char *end,
                       uint16_t ret_units[2]) _nonnull_;
