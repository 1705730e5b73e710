/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_columns.h: the binary table of a FITS file, and how its columns become those of FIELDs.
 *
 *     FIELD                    column of FITS
 *     boolean, bit             L, X
 *     unsignedByte ... long    B, I, J, K; with TZERO or TSCAL those whose values are integers
 *     float, double            E; D for double; integers too, and with any TSCAL
 *     floatComplex, double...  C; M for doubleComplex
 *     char, unicodeChar        A, of UTF-8
 *
 * FITS standard 4.0, section 7.3. Column n belongs to the n-th FIELD, whatever their names.
 */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stdint.h>

#define FITS_WORDS_BYTES 64

/* A FITS file: @bytes, or the file at @path, uncompressed, when @bytes is NULL. Borrowed. */
struct fits_source {
    const char *path;
    const void *bytes;
    uint64_t length; /* of @bytes */
    uint64_t extnum; /* of the FITS element, from 1; 0: the first binary table */
    uint64_t lineno; /* of the FITS element, for messages */
};

struct fits_column {
    char letter;         /* of TFORM */
    bool variable;       /* P or Q: items are in the heap */
    bool wide;           /* Q */
    uint64_t offset;     /* in the row */
    uint64_t repeat;     /* items in the row; of variable ones 0 or 1 */
    uint64_t item_bytes; /* of X: 0 */
    bool scaled;
    bool integral; /* TSCAL is 1, TZERO an integer or 2^63 */
    double scale;
    double zero;
    bool has_null; /* TNULL */
    int64_t null;
};

struct fits_table {
    struct fits_column *columns; /* owned */
    int column_count;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t data_start; /* bytes from the file's start */
    uint64_t heap_start; /* the same */
    uint64_t file_bytes;
};

/*
 * Read the headers; file_bytes of @ret_fits is set before. Returns 0, or a negative errno with a
 * problem; finish in either case.
 */
int fits_table_open(const struct fits_source *source, struct fits_table *ret_fits,
                    struct problem *problem) _must_check_ _nonnull_;
void fits_table_finish(struct fits_table *fits) _nonnull_;

/* Are the columns those of the FIELDs? -EBADMSG and a problem of the first that is not. */
int fits_table_match(const struct fits_source *source, const struct table *table,
                     const struct fits_table *fits,
                     struct problem *problem) _must_check_ _nonnull_;

/* Can the cells of @column be read as @field? If not, what it has instead, in words. */
bool fits_column_fits(const struct fits_column *column, const struct field *field,
                      char ret_words[FITS_WORDS_BYTES]) _must_check_ _nonnull_;

/* Bytes of @items of a column. */
uint64_t fits_column_bytes(const struct fits_column *column, uint64_t items) _nonnull_;
