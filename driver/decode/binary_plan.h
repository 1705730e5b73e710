/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary_plan.h: what is known of a table's rows before the first of them arrives.
 *
 * What a cell is, how wide it is and where it goes is found once for each column; a row that is
 * there as a whole is then stored without a question for each item.
 */
#pragma once

#include "binary_rows.h"

#include <stdbool.h>
#include <stddef.h>

struct binary_plan;

/* For these columns, borrowed; NULL when memory ran out. */
struct binary_plan *binary_plan_new(struct column *columns, size_t column_count,
                                    bool with_flags) _must_check_;
void binary_plan_free(struct binary_plan *plan);

/*
 * Bytes of the row at @bytes; 0 when it does not end before @length, when the count of a cell
 * is none that its FIELD allows, or when there is no plan.
 */
size_t binary_plan_measure(const struct binary_plan *plan, const unsigned char *bytes,
                           size_t length) _must_check_;

/* Store the row, whose length is known. Returns 0, or -EBADMSG or -ENOMEM with a problem. */
int binary_plan_store(struct binary_rows *rows, const unsigned char *bytes) _must_check_;
