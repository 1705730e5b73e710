/* SPDX-License-Identifier: BSD-3-Clause */
/* store_writer.h: runs into a store, inside a transaction; only store_*.c include it. */
#pragma once

#include "store_sets.h"

enum writer_statement {
    FIND_BENCHMARK,
    ADD_BENCHMARK,
    FIND_TWIN,
    FIND_BEFORE,
    ADD_RUN,
    FIND_MODULE,
    ADD_MODULE,
    FIND_SYMBOL,
    ADD_SYMBOL,
    FIND_FRAME,
    ADD_FRAME,
    FIND_STACK,
    ADD_STACK,
    FIND_LIKE,
    ADD_REGION,
    ADD_TIMELINE,
    ADD_TOTAL,
    WRITER_STATEMENTS,
};

struct store_writer {
    struct store *store;
    struct fault *fault;
    sqlite3_stmt *statements[WRITER_STATEMENTS];
    struct store_sets sets;
    /* Of the run at hand. */
    int64_t run_before;          /* the last one of its benchmark that has sites; 0: none */
    struct store_set_place last; /* where the sites of its last region went */
    int64_t *modules;            /* profile's number -> store's id */
    int64_t *frames;
    int64_t *nodes;
};

/*
 * Begin a transaction, and in it make or migrate the tables. When this fails there is no
 * transaction and nothing to close.
 */
int store_writer_open(struct store_writer *writer, struct store *store,
                      struct fault *fault) _must_check_ _nonnull_;

/* Add one run. After a failure the transaction has to be given up. */
int store_writer_put(struct store_writer *writer, const struct run *run,
                     int64_t *ret_id) _must_check_ _nonnull_;

/* Commit, when @status is 0, or roll back. Returns @status, or why there was no commit. */
int store_writer_close(struct store_writer *writer, int status) _must_check_ _nonnull_;

struct store_headline {
    const char *region;
    int64_t added;
    int64_t marked; /* instances of marked regions */
};

/* The marked region that added most to the heap; the process where none was marked. */
struct store_headline store_headline_of(const struct run *run) _nonnull_;

#define WRITER_BIND(writer, which, ...)                                                        \
    store_bind((writer)->store, (writer)->statements[which], (writer)->fault, __VA_ARGS__)

/* Run the insertion that was bound. */
int store_writer_insert(struct store_writer *writer, enum writer_statement which,
                        int64_t *ret_id) _must_check_ _nonnull_;

/* The first column of the row whose key was bound, or 0. */
int store_writer_find(struct store_writer *writer, enum writer_statement which,
                      int64_t *ret_id) _must_check_ _nonnull_;

/* One region, when the run's stacks are there. */
int store_writer_put_region(struct store_writer *writer, const struct profile *profile,
                            size_t ordinal, int64_t run_id) _must_check_ _nonnull_;
