/* SPDX-License-Identifier: BSD-3-Clause */
/* store_reader.h: what store_read.c and store_load.c share; nobody else includes it. */
#pragma once

#include "store_sql.h"

/* One call of store_list() or store_load(). */
struct store_reader {
    struct store *store;
    struct fault *fault;
    struct arena *arena; /* of everything that is handed out */
};

/* -EBADMSG and -ENOMEM, with the words for them. */
int store_damaged(struct store_reader *reader, const char *what) _nonnull_;
int store_no_memory(struct store_reader *reader) _nonnull_;

/* A text column, kept; a NUL byte inside ends it. NULL when there is no memory. */
const char *store_text(struct arena *arena, sqlite3_stmt *statement, int column) _nonnull_;

/* The place of a text column among @words, or -1. */
int store_word(sqlite3_stmt *statement, int column, const char *const *words,
               int count) _nonnull_;

/* False when the column's number is no uint32_t. */
bool store_uint32(sqlite3_stmt *statement, int column, uint32_t *ret) _nonnull_;

/* The run's own columns, parameters and arguments: everything but its tables. */
int store_load_run(struct store_reader *reader, int64_t id,
                   struct run *run) _must_check_ _nonnull_;
