/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary_rows.h: the bytes of BINARY and BINARY2 become rows, in pieces of any size.
 *
 * VOTable 1.4, sections 5.3 and 5.4. A row is its cells in FIELD order, without any border; in
 * BINARY2 a bit for each FIELD goes before, 1 for null:
 *
 *     | flags, ceil(N/8) | cell | count, 4 | items ... | cell | ...
 *       BINARY2 only            a variable cell
 */
#pragma once

#include "columns.h"
#include "problem.h"
#include "string_cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum binary_phase {
    BINARY_BETWEEN_ROWS,
    BINARY_FLAGS,
    BINARY_COUNT,
    BINARY_ITEMS,
};

struct binary_rows {
    struct column *columns; /* borrowed */
    size_t column_count;
    uint64_t lineno; /* of the STREAM, for messages */
    struct problem *problem;
    enum binary_phase phase;
    size_t at;            /* the column whose cell is being read */
    uint64_t phase_bytes; /* that are still to come in this phase */
    uint64_t cell_items;  /* of this cell */
    uint64_t row_start;   /* stream bytes before this row */
    uint64_t offset;      /* stream bytes taken so far */
    uint64_t rows;        /* complete ones */
    uint64_t row_limit;   /* what follows this many is passed over; the most there is */
    bool enough;          /* there was more */
    uint64_t told;        /* offset when rows_done() was called last */
    int (*rows_done)(void *context, uint64_t rows); /* between rows, often; NULL: not at all */
    void *context;
    struct binary_plan *plan; /* owned; NULL without columns */
    unsigned char *flags;     /* BINARY2: null bits of this row, owned; otherwise NULL */
    size_t flags_bytes;
    unsigned char carry[16]; /* the start of an item that was cut by the end of a piece */
    size_t carried;
    struct string_cell string;
};

/*
 * Rows are appended to @columns; cells of fields that are skipped are passed over. row_limit,
 * rows_done and its context are set afterwards, where they are wanted. Returns 0 or -ENOMEM
 * with a problem.
 */
int binary_rows_init(struct binary_rows *rows, struct column *columns, size_t column_count,
                     bool with_flags, uint64_t lineno, struct problem *problem) _must_check_;
void binary_rows_finish(struct binary_rows *rows) _nonnull_;

/* Take the next piece. Returns 0, or -EBADMSG or -ENOMEM with a problem. */
int binary_rows_push(struct binary_rows *rows, const unsigned char *bytes,
                     size_t length) _must_check_ _nonnull_;

/* The stream is over: -EBADMSG and a problem when that is in the middle of a row. */
int binary_rows_end(struct binary_rows *rows) _must_check_ _nonnull_;
