/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.h: write JSON (RFC 8259) piece by piece.
 *
 * Numbers are written as exact integers; text is escaped, and bytes that are no UTF-8 become
 * U+FFFD. A key is NULL inside arrays and at the top. With in_html, no text can end or change the
 * <script> element that it stands in: what HTML gives a meaning is escaped, too.
 */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    bool compact; /* one line instead of an indented tree */
    bool in_html; /* inside a <script> element */
    int depth;
    bool has_items; /* of the innermost open object or array */
};

void json_begin(struct json *json, const char *key, char bracket);
void json_end(struct json *json, char bracket) _nonnull_;
void json_text(struct json *json, const char *key, const char *value);
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/* With four decimals; null when @value is not finite. */
void json_ratio(struct json *json, const char *key, double value);
/* A number as it was printed elsewhere; it must be one in JSON's grammar. */
void json_real(struct json *json, const char *key, const char *digits, size_t length);
