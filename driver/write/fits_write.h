/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_write.h: a FITS file of one binary table, written row by row in constant memory.
 *
 *     primary header | table's header | rows ............... | heap: variable arrays | padding
 *
 * FITS standard 4.0, section 7.3. The header says how many rows and how large a heap there are,
 * so rows and heap wait in files without a name until the last row.
 *
 * unicodeChar, which FITS has not, is UTF-8 in a column of characters, three bytes for each
 * unit. Null is NaN, an empty string or array, a NUL for a boolean, TNULL for an integer:
 * VALUES null, or the lowest value of the type (255 for a byte) where there is none.
 */
#pragma once

#include "attributes.h"
#include "field.h"
#include "problem.h"
#include "wire.h"

#include <stddef.h>

#define FITS_COLUMNS_MAX 999

struct fits_writer;
struct writer_losses;

/*
 * @fields and @losses are borrowed. Returns 0, or a negative errno with a problem and
 * @ret_writer not set.
 */
int fits_writer_new(struct field *const *fields, size_t field_count,
                    struct writer_losses *losses, struct fits_writer **ret_writer,
                    struct problem *problem) _must_check_ _nonnull_;
void fits_writer_row(struct fits_writer *writer, const struct wire_cell *cells) _nonnull_;

/* Put the whole file into @to. Returns 0, or a negative errno with a problem. */
int fits_writer_end(struct fits_writer *writer, struct wire *to,
                    struct problem *problem) _must_check_ _nonnull_;
void fits_writer_free(struct fits_writer *writer);
