/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h: text from files that may be hostile, for a terminal. */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * Decode the character at @text, of which @length > 0 bytes are there. Returns the bytes it
 * takes, at least 1; @ret_point is UTF8_INVALID when they are no UTF-8 (RFC 3629: shortest
 * form, no surrogates).
 */
size_t utf8_decode(const char *text, size_t length, uint32_t *ret_point) _nonnull_;

/*
 * Make @text fit for a terminal, in place: control characters, invisible ones, those that
 * change the direction of writing, and invalid bytes become `?`. Never longer than before.
 */
void utf8_clean(char *text) _nonnull_;

/* Columns that cleaned @text takes. */
size_t utf8_width(const char *text) _nonnull_;
