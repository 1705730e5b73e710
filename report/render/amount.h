/* SPDX-License-Identifier: BSD-3-Clause */
/* amount.h: a number of a metric, for people: bytes, blocks or a time. */
#pragma once

#include "attributes.h"
#include "metric.h"
#include "term.h"

#define AMOUNT_TEXT_BYTES (SIZES_TEXT_BYTES + 4)

/*
 * "77.4 MiB", "1,234", "12.3 ms"; with exact_bytes of @term "81,159,094", "1,234",
 * "12,300,456 ns". With @sign, "+" stands before a growth. Returns @ret_text.
 */
char *amount_text(const struct term *term, char ret_text[AMOUNT_TEXT_BYTES],
                  enum metric_unit unit, int64_t value, bool sign) _nonnull_;
