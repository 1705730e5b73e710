/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_many.h: the numbers of an array, as TABLEDATA writes them: with white space between.
 *
 * For most of them, and fast; the rest is for decimal.h, one at a time.
 */
#pragma once

#include "attributes.h"

#include <stddef.h>

/*
 * Read doubles at @text, which begins with one, until @most are read, the text is over, or one
 * comes that is not so easily read or no number at all. They go to @to one behind the other.
 *
 * Returns how many, which may be none; @ret_next is where the first begins that was not read, or
 * @end. The byte at @end must be readable and no part of a number.
 */
size_t decimal_parse_doubles(const char *text, const char *end, unsigned char *to, size_t most,
                             const char **ret_next) _must_check_ _nonnull_;
