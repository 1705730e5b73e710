/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h: columns that line up, whatever is in them.
 *
 * Cells are added row by row; the widths are known when all are there. The last column is never
 * padded, so nothing trails.
 */
#pragma once

#include "attributes.h"
#include "term.h"
#include "vector.h"

struct table {
    const char *aligns; /* one letter a column: `l` left, `r` right; borrowed */
    struct vector cells;
    bool failed; /* no memory: table_print() says so */
};

struct table table_new(const char *aligns) _nonnull_;

/* The next cell; what it quotes is made fit for a terminal. */
void table_cell(struct table *table, enum term_color color, const char *format, ...)
    _printf_(3, 4);

/* Print with two blanks between columns. Returns 0 or -ENOMEM, and ends the table. */
int table_print(struct table *table, const struct term *term, const char *indent) _nonnull_;
