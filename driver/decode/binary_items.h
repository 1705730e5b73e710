/* SPDX-License-Identifier: BSD-3-Clause */
/* binary_items.h: how the items of each datatype get from a stream into a column. */
#pragma once

#include "binary_rows.h"

#include <stddef.h>

/*
 * store    append @length bytes of the stream, whole items of the cell at rows->at; for strings
 *          rows->string has begun, for bits rows->cell_items is set. Returns 0, or -EBADMSG or
 *          -ENOMEM with a problem.
 * item_bytes  that must be there at once
 */
struct binary_items_kind {
    int (*store)(struct binary_rows *rows, const unsigned char *bytes, size_t length);
    size_t item_bytes;
};

extern const struct binary_items_kind binary_items_kinds[FIELD_TYPES];
