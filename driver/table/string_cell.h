/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_cell.h: one cell of char or unicodeChar on its way into its column.
 *
 * The same cell gives the same stored bytes from TABLEDATA, BINARY and BINARY2: UTF-8 for
 * unicodeChar, nothing behind a NUL, and in arrays of strings neither the padding (NULs or
 * trailing blanks) nor the borders, but a NUL after each string. VOTable 1.4, section 2.2.
 *
 * TABLEDATA text is kept whole even where arraysize says less: the commonest mistake is a
 * missing arraysize, and what was written is worth more than what was declared.
 */
#pragma once

#include "columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct string_cell {
    struct column *column;
    uint64_t string_items; /* of an array of strings, otherwise 0 */
    uint64_t at;           /* characters of this string so far */
    uint64_t blanks;       /* blanks that are padding unless something follows */
    uint16_t high;         /* first half of a surrogate pair, or 0 */
    bool over;             /* NUL was seen, the rest of this string is padding */
};

void string_cell_begin(struct string_cell *cell, struct column *column) _nonnull_;

/* Pieces of the cell: text from XML, bytes of char, or big-endian pairs of unicodeChar. */
int string_cell_text(struct string_cell *cell, const char *text,
                     size_t length) _must_check_ _nonnull_;
int string_cell_bytes(struct string_cell *cell, const unsigned char *bytes,
                      size_t length) _must_check_ _nonnull_;
int string_cell_units(struct string_cell *cell, const unsigned char *bytes,
                      size_t length) _must_check_ _nonnull_;

/* The last piece was given. The cell is ended by the caller, column_end_cell(). */
int string_cell_end(struct string_cell *cell) _must_check_ _nonnull_;
