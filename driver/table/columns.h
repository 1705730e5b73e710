/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns.h: the decoded values of a column, packed by type, in memory that only grows by
 * chunks: nothing is ever moved, so that a table of N bytes never needs more than N and a bit.
 *
 *     cells   | 1.5 | 2.5 | NaN | ... |                fixed: cell r at r * cell_bytes
 *     cells   | s t a r g a l a x y q s o |            variable: back to back
 *     ends        | 4         | 10    | 13 |           variable: where cell r ends
 *     nulls   0 0 1 0 0 ...                            a bit for each row, where needed
 *
 * Items are in the machine's byte order: boolean a byte (0, 1, COLUMN_BOOLEAN_NULL), bits eight
 * to a byte from the top, integers and reals as they are, complex ones as two reals. Strings
 * are variable, whatever the FIELD says: bytes as they came, unicodeChar as UTF-8, without what
 * follows a NUL; arrays of strings have a NUL after each.
 *
 * What null is: a real is NaN, a boolean COLUMN_BOOLEAN_NULL, a string or variable array has no
 * items, an integer with VALUES null has that value. Only bits and integers without VALUES null
 * need the bit. A null cell of fixed length is one whose every item is null.
 *
 * Who must tell a null cell from one that holds NaN or nothing sets @marks_nulls before the
 * first row: then every null cell has its bit.
 */
#pragma once

#include "attributes.h"
#include "field.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define COLUMN_BOOLEAN_NULL 2

/* Fixed cells beyond this are stored as variable ones, so that a null one costs nothing. */
#define COLUMN_FIXED_BYTES_MAX 1024

struct column_chunk {
    struct column_chunk *next;
    uint64_t used;
    uint64_t capacity;
    unsigned char bytes[];
};

/* Bytes in a row of chunks. A value that was stored whole lies whole in one chunk. */
struct column_bytes {
    struct column_chunk *first;
    struct column_chunk *last;
    uint64_t total;
    uint64_t granule; /* chunk capacities are multiples of it */
};

struct column {
    const struct field *field; /* borrowed */
    struct column_bytes cells;
    struct column_bytes ends;  /* uint64_t; counted in bytes, for bits in bits */
    struct column_bytes nulls; /* reaches as far as the last null row */
    uint64_t cell_bytes;       /* of a fixed column; 0 for variable ones */
    bool fixed;
    bool marks_nulls; /* a null bit for every null cell, also where its items tell */
    uint64_t rows;
    uint64_t bits;       /* variable bits: in this cell so far */
    uint64_t null_cells; /* cells that were null or empty in the file */
};

void column_init(struct column *column, const struct field *field) _nonnull_;
void column_finish(struct column *column) _nonnull_;

/* Forget all rows. Room for the next ones is kept, a chunk of each kind. */
void column_clear(struct column *column) _nonnull_;

/* Memory that the values take, without the chunks' unused ends. */
uint64_t column_stored_bytes(const struct column *column) _nonnull_;

/*
 * Room for at least @least bytes (at most 16, or a cell of a fixed column), in one piece, and up
 * to @most; NULL when memory ran out. Valid until the next call. What was written there is kept
 * by column_keep().
 */
unsigned char *column_room(struct column *column, uint64_t least, uint64_t most,
                           uint64_t *ret_bytes) _nonnull_;

/* The same for @bytes of any number, but only if they are there in the last chunk, else NULL. */
static inline unsigned char *column_room_now(struct column *column, uint64_t bytes) {
    struct column_chunk *chunk = column->cells.last;
    return chunk != NULL && chunk->capacity - chunk->used >= bytes ? chunk->bytes + chunk->used
                                                                   : NULL;
}

static inline void column_keep(struct column *column, uint64_t bytes) {
    column->cells.last->used += bytes;
    column->cells.total += bytes;
}

/* Store one item of @bytes, at most 16. Returns 0 or -ENOMEM. */
static inline int column_store(struct column *column, const void *item, uint64_t bytes) {
    uint64_t room;
    unsigned char *to = column_room(column, bytes, bytes, &room);
    if (to == NULL)
        return -ENOMEM;
    memcpy(to, item, bytes);
    column_keep(column, bytes);
    return 0;
}

/* Store a text of any length. Returns 0 or -ENOMEM. */
int column_store_text(struct column *column, const char *text, uint64_t length) _must_check_;

/* Store an item that is null, 0 where nothing says so. Not for bits. Returns 0 or -ENOMEM. */
int column_store_null_item(struct column *column) _must_check_ _nonnull_;

/* Bits of the cell so far, for columns of bits, before it is ended. */
static inline void column_count_bits(struct column *column, uint64_t bits) {
    column->bits += bits;
}

/* The cell is complete: either as its items were stored, or null with none of them stored. */
int column_end_cell(struct column *column) _must_check_ _nonnull_;
int column_end_null(struct column *column) _must_check_ _nonnull_;

/* column_end_cell() for variable columns of anything but bits, mostly without a call. */
static inline int column_end_variable(struct column *column) {
    struct column_chunk *chunk = column->ends.last;
    if (chunk == NULL || chunk->capacity - chunk->used < sizeof(uint64_t))
        return column_end_cell(column);
    memcpy(chunk->bytes + chunk->used, &column->cells.total, sizeof(uint64_t));
    chunk->used += sizeof(uint64_t);
    column->ends.total += sizeof(uint64_t);
    column->rows++;
    return 0;
}

/* Reading, row after row. */
struct column_cursor {
    const struct column *column;
    const struct column_chunk *cell_chunk;
    uint64_t cell_at; /* in cell_chunk */
    const struct column_chunk *end_chunk;
    uint64_t end_at;
    const struct column_chunk *null_chunk;
    uint64_t null_at;
    uint64_t row;
    uint64_t start; /* of the next cell, as ends count */
};

struct column_cell {
    uint64_t bytes; /* to be taken by column_cursor_take() before the next cell */
    uint64_t bits;  /* columns of bits */
    bool null;      /* its null bit */
};

void column_cursor_init(struct column_cursor *cursor, const struct column *column) _nonnull_;

/* False after the last row. */
bool column_cursor_next(struct column_cursor *cursor, struct column_cell *ret_cell) _nonnull_;

/* The next piece of the cell: at most @most bytes, whole items, at least one if @most > 0. */
const unsigned char *column_cursor_take(struct column_cursor *cursor, uint64_t most,
                                        uint64_t *ret_bytes) _nonnull_;

/* Room for cells that lie in several chunks; all zero at first. */
struct column_scratch {
    unsigned char *bytes;
    uint64_t room;
};

/*
 * All bytes of the cell in one piece: in the column where they lie so, else in @scratch, valid
 * until the next call. Not NULL for an empty cell; NULL when memory ran out.
 */
const unsigned char *column_cursor_whole(struct column_cursor *cursor,
                                         const struct column_cell *cell,
                                         struct column_scratch *scratch) _nonnull_;

/* Room for @bytes; what was there is kept. Returns 0 or -ENOMEM. */
int column_scratch_reserve(struct column_scratch *scratch,
                           uint64_t bytes) _must_check_ _nonnull_;
void column_scratch_finish(struct column_scratch *scratch) _nonnull_;
