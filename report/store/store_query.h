/* SPDX-License-Identifier: BSD-3-Clause */
/* store_query.h: questions that others ask of a store, in SQL. Nothing can be written by them. */
#pragma once

#include "store.h"

#include <stddef.h>
#include <stdint.h>

enum store_cell_kind { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT, STORE_BLOB };

/* What a column of a row holds. Bytes are good until the next row. */
struct store_cell {
    enum store_cell_kind kind;
    int64_t integer;
    double real;
    const char *bytes; /* of a text (ended by NUL) or a blob; NULL for all else */
    size_t size;
};

/* Who is told the answer. A negative errno ends it. */
struct store_query_sink {
    void *context;
    int (*columns)(void *context, const char *const *names, size_t count);
    int (*row)(void *context, const struct store_cell *cells, size_t count);
};

/*
 * Ask @sql, one statement that only reads. Returns 0; -EPERM when it would do more, or is more
 * than one; -EINVAL when it is no SQL; what the sink says; other negative errno. On failure @fault.
 */
int store_query(struct store *store, const char *sql, const struct store_query_sink *sink,
                struct fault *fault) _must_check_ _nonnull_;
