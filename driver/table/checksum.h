/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.h: 64 bits that say whether two tables hold the same values.
 *
 * Taken over the decoded values, so it is the same for one table written as TABLEDATA, BINARY
 * or BINARY2 and parsed in any way. It depends on the number and order of columns and rows, on
 * every value, on the length of every array and on what is null. It does not depend on names,
 * units or the width of an integer type.
 *
 * Because the serializations cannot tell them apart, these are one:
 * - a null string and the empty string; a null array and the array of no items
 * - every NaN, and a null float or double (so a complex number is two reals)
 * - an integer or real equal to VALUES null, and a null one
 * - a null array of fixed length, and one whose every item is null
 * - an array of strings with and without empty strings at its end
 * char and unicodeChar of the same text are the same. -0.0 and 0.0 are not.
 *
 * It is no cryptographic hash: it finds mistakes, not forgeries.
 */
#pragma once

#include "columns.h"

#include <stddef.h>
#include <stdint.h>

/* Of all columns but those whose fields are skipped. */
uint64_t checksum_columns(const struct column *columns, size_t column_count, uint64_t rows);
