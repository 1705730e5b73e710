/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal.h: numbers as VOTable writes them in TABLEDATA (1.4, section 2.1 and table 2).
 *
 * Correct to the last bit in both directions, whatever the locale: what is printed reads back
 * as the same value, in the fewest digits that do.
 */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_TEXT_BYTES 48

/*
 * Read the number that [@text, @end) is, all of it, without blanks. The byte at @end must be
 * readable and no part of a number.
 *
 * Integers: digits with an optional sign, or 0x and hexadecimal digits. Returns 0; -EINVAL when
 * it is no integer; -ERANGE when it lies outside [@low, @high].
 * Reals: digits, point, exponent, or NaN and Inf in any case. Returns 0 or -EINVAL; beyond the
 * largest number is infinity.
 */
int decimal_parse_integer(const char *text, const char *end, int64_t low, int64_t high,
                          int64_t *ret_value) _must_check_ _nonnull_;
int decimal_parse_double(const char *text, const char *end,
                         double *ret_value) _must_check_ _nonnull_;
int decimal_parse_float(const char *text, const char *end,
                        float *ret_value) _must_check_ _nonnull_;

/* Write @value without a terminating NUL. Returns the number of bytes, at most 25; the rest of
 * @ret_text is scratch. */
size_t decimal_print_integer(char ret_text[DECIMAL_TEXT_BYTES], int64_t value) _nonnull_;
size_t decimal_print_double(char ret_text[DECIMAL_TEXT_BYTES], double value) _nonnull_;
size_t decimal_print_float(char ret_text[DECIMAL_TEXT_BYTES], float value) _nonnull_;
