/* SPDX-License-Identifier: BSD-3-Clause */
/* store_sql.h: what the store_*.c share; nobody else includes it. */
#pragma once

#include "store.h"

#include <sqlite3.h>
#include <stdarg.h>

#define STORE_APPLICATION_ID 0x766f7472 /* "votr" */
#define STORE_VERSION        3
#define STORE_LOCK_WAIT_MS   30000

struct store {
    sqlite3 *db;
    char *path;
    enum store_mode mode;
    bool created;   /* the file was not there before */
    bool immutable; /* read without locks, see store_journal_open_as_is() */
};

/*
 * What SQLite says, and the statement it says it of (NULL: none), as a fault. Returns a negative
 * errno: -EBUSY when the wait for a lock was too long, -ENOSPC, -EIO for most else.
 */
int store_fault(struct store *store, const char *sql, struct fault *fault);

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **ret_statement,
                  struct fault *fault) _must_check_ _nonnull_;

/* Run @sql, which may be several statements. */
int store_execute(struct store *store, const char *sql,
                  struct fault *fault) _must_check_ _nonnull_;

/*
 * Reset @statement and bind its parameters: @types has `i` for an int64_t, `t` for a
 * const char * that lives until the next bind, `o` for a const int64_t *, `t` and `o` NULL for
 * NULL.
 */
int store_bind(struct store *store, sqlite3_stmt *statement, struct fault *fault,
               const char *types, ...) _must_check_;
int store_bind_list(struct store *store, sqlite3_stmt *statement, struct fault *fault,
                    const char *types, va_list values) _must_check_;

/* The first column of the first row of @sql, which has one. */
int store_number(struct store *store, const char *sql, int64_t *ret_value,
                 struct fault *fault) _must_check_ _nonnull_;

/* 1 when there is a row, 0 when there is none (more), -EIO. */
int store_step(struct store *store, sqlite3_stmt *statement,
               struct fault *fault) _must_check_ _nonnull_;

/* Before a transaction that writes, and before a store is closed: see store_journal.c. */
void store_journal_begin(struct store *store) _nonnull_;
void store_journal_end(struct store *store) _nonnull_;

/*
 * Open the store again where SQLite cannot, because its header says WAL and the folder cannot be
 * written: as a file that nobody changes. False when a log with newer runs lies beside it, or it
 * cannot be opened even so; store->db may be NULL then.
 */
bool store_journal_open_as_is(struct store *store) _nonnull_;

/*
 * Bring a store of an earlier version to this one, inside the transaction that is open. Returns
 * 0, or a negative errno and @fault: then the transaction has to be rolled back.
 */
int store_migrate(struct store *store, struct fault *fault) _must_check_ _nonnull_;

/* Make the tables, inside the transaction that is open. */
int store_create_schema(struct store *store, struct fault *fault) _must_check_ _nonnull_;

/*
 * application_id and user_version: 0 when ours, STORE_IS_EMPTY when the file is still empty,
 * STORE_IS_OLD when it is of an earlier version.
 */
#define STORE_IS_EMPTY 1
#define STORE_IS_OLD   2
int store_check_kind(struct store *store, struct fault *fault) _must_check_ _nonnull_;

extern const char *const store_space_names[];   /* enum trace_space */
extern const char *const store_outcome_names[]; /* enum run_outcome */
extern const char *const store_end_names[];     /* enum profile_end */
extern const char *const store_stacks_names[];  /* enum trace_stacks */
extern const char *const store_tree_names[];    /* enum origin_tree */
