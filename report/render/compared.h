/* SPDX-License-Identifier: BSD-3-Clause */
/* compared.h: what the texts of diff and gate have in common; for render_*.c alone. */
#pragma once

#include "amount.h"
#include "attributes.h"
#include "diff.h"
#include "table.h"
#include "term.h"

/* The table with asv's columns; @first_head is that of the column in which they differ. */
struct table compared_table(const char *first_head) _nonnull_;

/* What follows the first cell; @reason may be NULL. */
void compared_cells(struct table *table, const struct term *term, const struct diff_row *row,
                    enum metric_unit unit, enum term_color ratio_color, const char *reason);

/* "0 B -> 4.77 MiB (+4.77 MiB)", with @words before the bracket. */
void compared_change(const struct term *term, enum metric_unit unit, int64_t before,
                     int64_t after, const char *words) _nonnull_;

/* One line about the memory that is not the heap's. */
void compared_mappings(const struct term *term, const struct diff_row *row) _nonnull_;

/* "1.05", "inf", "" where there is none. */
void compared_ratio(char ret_text[32], const struct diff_row *row) _nonnull_;

/*
 * How far the difference of @row can be believed: "within noise (p 0.31)", "needs at least 4
 * repeats on each side"; "" where it is exact. free() it; NULL when there is no memory.
 */
char *compared_certainty(const struct diff_row *row) _must_check_ _nonnull_;
