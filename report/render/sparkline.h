/* SPDX-License-Identifier: BSD-3-Clause */
/* sparkline.h: a series as one line of eight heights. */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * @values between @least and @most, a column each; all as high as can be where those are equal.
 */
void sparkline_write(FILE *stream, const int64_t *values, size_t count, int64_t least,
                     int64_t most) _nonnull_;
