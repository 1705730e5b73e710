/* SPDX-License-Identifier: BSD-3-Clause */
/* fits_read.h: the rows of a FITS serialization. */
#pragma once

#include "attributes.h"
#include "consumer.h"
#include "fits_columns.h"
#include "problem.h"
#include "votable.h"

/*
 * Read the rows, no more than table->row_limit, into the table's columns, which have
 * begun, and hand them to @consumer. Null is what FITS says it is: TNULL, NaN, a NUL for a
 * boolean, an empty string or array. Returns 0, or a negative errno with a problem.
 */
int fits_read_table(const struct fits_source *source, struct table *table,
                    const struct consumer *consumer,
                    struct problem *problem) _must_check_ _nonnull_;
