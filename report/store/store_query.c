/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_query.c: SQL of others, with everything refused that does not just read.
 *
 * query_only is not enough: ATTACH and VACUUM INTO make files, and some pragmas change the
 * connection. So SQLite asks here about each thing that a statement does.
 */
#include "store_query.h"

#include "store_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Pragmas that tell something, whatever stands in their brackets; and those that would set it. */
static const char *const telling_pragmas[] = {
    "application_id",    "collation_list",   "compile_options", "database_list", "encoding",
    "foreign_key_check", "foreign_key_list", "freelist_count",  "function_list", "index_info",
    "index_list",        "index_xinfo",      "integrity_check", "page_count",    "page_size",
    "quick_check",       "schema_version",   "table_info",      "table_list",    "table_xinfo",
    "user_version",
};
static const char *const setting_pragmas[] = {"application_id", "encoding", "page_size",
                                              "schema_version", "user_version"};

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; name && i < count; i++)
        if (sqlite3_stricmp(name, names[i]) == 0)
            return true;
    return false;
}

static int allow(void *context, int action, const char *first, const char *second,
                 const char *database, const char *trigger) {
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        if (second && is_among(first, setting_pragmas,
                               sizeof(setting_pragmas) / sizeof(setting_pragmas[0])))
            return SQLITE_DENY;
        return is_among(first, telling_pragmas,
                        sizeof(telling_pragmas) / sizeof(telling_pragmas[0]))
                   ? SQLITE_OK
                   : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int prepare(struct store *store, const char *sql, sqlite3_stmt **ret_statement,
                   struct fault *fault) {
    const char *rest;
    int code = sqlite3_prepare_v2(store->db, sql, -1, ret_statement, &rest);
    if (code == SQLITE_AUTH)
        return fault_set(fault, -EPERM,
                         "only questions can be asked: SELECT, WITH, VALUES, EXPLAIN");
    if (code == SQLITE_ERROR)
        return fault_set(fault, -EINVAL, "%s", sqlite3_errmsg(store->db));
    if (code != SQLITE_OK)
        return store_fault(store, NULL, fault);
    if (!*ret_statement)
        return fault_set(fault, -EINVAL, "there is no statement");
    rest += strspn(rest, " \t\r\n;");
    if (*rest != '\0')
        return fault_set(fault, -EPERM,
                         "one statement can be asked at a time, not also '%.40s'", rest);
    if (!sqlite3_stmt_readonly(*ret_statement))
        return fault_set(fault, -EPERM,
                         "only questions can be asked: SELECT, WITH, VALUES, EXPLAIN");
    return 0;
}

static struct store_cell cell_take(sqlite3_stmt *statement, int column) {
    struct store_cell cell = {.kind = STORE_NULL};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        cell.kind = STORE_INTEGER;
        cell.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        cell.kind = STORE_REAL;
        cell.real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        cell.kind = STORE_TEXT;
        cell.bytes = (const char *)sqlite3_column_text(statement, column);
        cell.size = (size_t)sqlite3_column_bytes(statement, column);
        break;
    case SQLITE_BLOB:
        cell.kind = STORE_BLOB;
        cell.bytes = sqlite3_column_blob(statement, column);
        cell.size = (size_t)sqlite3_column_bytes(statement, column);
        break;
    default:
        break;
    }
    return cell;
}

static int answer(struct store *store, sqlite3_stmt *statement,
                  const struct store_query_sink *sink, struct fault *fault) {
    size_t count = (size_t)sqlite3_column_count(statement);
    const char **names = calloc(count + 1, sizeof(*names));
    struct store_cell *cells = calloc(count + 1, sizeof(*cells));
    int r = names && cells ? 0 : fault_set(fault, -ENOMEM, "out of memory");
    for (size_t i = 0; r == 0 && i < count; i++) {
        const char *name = sqlite3_column_name(statement, (int)i);
        names[i] = name ? name : "";
    }
    if (r == 0)
        r = sink->columns(sink->context, names, count);
    int code = SQLITE_DONE;
    while (r == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < count; i++)
            cells[i] = cell_take(statement, (int)i);
        r = sink->row(sink->context, cells, count);
    }
    if (r == 0 && code == SQLITE_ERROR)
        r = fault_set(fault, -EINVAL, "%s", sqlite3_errmsg(store->db));
    else if (r == 0 && code != SQLITE_DONE)
        r = store_fault(store, NULL, fault);
    free(names);
    free(cells);
    return r;
}

int store_query(struct store *store, const char *sql, const struct store_query_sink *sink,
                struct fault *fault) {
    sqlite3_stmt *statement = NULL;
    sqlite3_set_authorizer(store->db, allow, NULL);
    int r = prepare(store, sql, &statement, fault);
    if (r == 0)
        r = answer(store, statement, sink, fault);
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(store->db, NULL, NULL);
    if (r == -ENOMEM || (r < 0 && fault->text[0] == '\0'))
        fault_set(fault, r, "%s", strerror(-r));
    return r;
}
