/* SPDX-License-Identifier: BSD-3-Clause */
/* sizes.h: byte counts and large numbers, for people to read and to type. */
#pragma once

#include "attributes.h"

#include <stdint.h>

#define SIZES_TEXT_BYTES 32

/*
 * Write @bytes with three significant digits and a binary unit to @ret_text: "0 B", "512 B",
 * "1.50 KiB", "77.4 MiB", "-3.00 GiB". Returns @ret_text.
 */
char *sizes_format(char ret_text[SIZES_TEXT_BYTES], int64_t bytes) _nonnull_;

/*
 * Write @number with a comma between groups of three digits: "77,400,123". Returns @ret_text.
 */
char *sizes_group(char ret_text[SIZES_TEXT_BYTES], int64_t number) _nonnull_;

/*
 * Read a size: a non-negative decimal number and an optional unit, B, KB, MB, GB, TB (powers of
 * 1000) or K, KiB, M, MiB, G, GiB, T, TiB (powers of 1024), any case, blanks between allowed:
 * "64KiB", "1.5 MiB", "1000".
 *
 * Returns 0; -EINVAL when @text is not a size; -ERANGE when it is beyond 2^63 - 1 bytes.
 */
int sizes_parse(const char *text, int64_t *ret_bytes) _must_check_ _nonnull_;
