/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_journal.c: WAL while a store is written, one plain file when nobody does.
 *
 * An import or a merge may take minutes. With SQLite's write-ahead log those who read are not
 * held up by it, nor it by them, and until it is committed the store itself is not touched. But
 * a store whose header says WAL is more than one file: a copy may lack the newest runs, and
 * where nothing can be written it cannot be read. So the log is switched on for a transaction, and
 * whoever is the last to close the store folds it back. When either cannot be had (somebody is
 * reading right now, the file system has no shared memory), the rollback journal does.
 */
#include "store_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_wal(struct store *store) {
    bool wal = false;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, "PRAGMA journal_mode", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(s, 0);
        wal = mode && strcmp(mode, "wal") == 0;
    }
    sqlite3_finalize(s);
    return wal;
}

void store_journal_begin(struct store *store) {
    struct stat status;
    /* One that is still empty has no readers, and is taken away again if nothing comes. */
    if (store->created || stat(store->path, &status) < 0 || status.st_size == 0)
        return;
    sqlite3_busy_timeout(store->db, 0);
    sqlite3_exec(store->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_busy_timeout(store->db, STORE_LOCK_WAIT_MS);
}

void store_journal_end(struct store *store) {
    if (store->immutable || !is_wal(store))
        return;
    sqlite3_busy_timeout(store->db, 0);
    sqlite3_exec(store->db, "PRAGMA query_only=OFF; PRAGMA journal_mode=DELETE", NULL, NULL,
                 NULL);
}

/* "file:" and the path, with what has a meaning in a URI escaped. free() it. */
static char *uri_of(const char *path) {
    static const char option[] = "?immutable=1";
    char *uri = malloc(5 + 3 * strlen(path) + sizeof(option));
    if (!uri)
        return NULL;
    char *to = stpcpy(uri, "file:");
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '?' || *at == '#' || *at == '%')
            to += sprintf(to, "%%%02x", (unsigned char)*at);
        else
            *to++ = *at;
    }
    strcpy(to, option);
    return uri;
}

bool store_journal_open_as_is(struct store *store) {
    struct stat status;
    char *log = sqlite3_mprintf("%s-wal", store->path);
    bool complete = log && (stat(log, &status) < 0 || status.st_size == 0);
    sqlite3_free(log);
    char *uri = complete ? uri_of(store->path) : NULL;
    if (!uri)
        return false;
    sqlite3_close(store->db);
    store->db = NULL;
    store->immutable = true;
    int code = sqlite3_open_v2(
        uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    return code == SQLITE_OK;
}
