/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.c: opening a store, and the small words for SQLite that its reader and writer use.
 *
 * Stores are copied around as single files and read from folders that cannot be written, see
 * store_journal.c. Foreign keys are on, defensive mode is on, a lock is waited for.
 */
#include "store_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ISO C promises 4095 bytes of string; every compiler we build with takes the whole schema. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const char schema_sql[] =
#include "schema.sql.h"
    ;

const char *const store_space_names[] = {"heap", "map_anon", "map_file", "map_reserved"};
const char *const store_outcome_names[] = {"unknown", "exited", "signaled"};
const char *const store_end_names[] = {"ended", "killed", "snapshot", "execed"};
const char *const store_stacks_names[] = {"none", "region", "all"};
const char *const store_tree_names[] = {"unknown", "clean", "dirty"};

int store_fault(struct store *store, const char *sql, struct fault *fault) {
    int code = sqlite3_errcode(store->db);
    if (code == SQLITE_NOTADB)
        return fault_set(fault, -EMEDIUMTYPE, "this is not a votrace store");
    if (code == SQLITE_CORRUPT)
        return fault_set(fault, -EBADMSG, "the store is damaged: %s",
                         sqlite3_errmsg(store->db));
    if (code == SQLITE_FULL)
        return fault_set(fault, -ENOSPC, "the disk is full");
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return fault_set(fault, -EBUSY, "the store is in use by another program");
    if (sqlite3_extended_errcode(store->db) == SQLITE_READONLY_DBMOVED)
        return fault_set(fault, -ESTALE, "the store was removed by another program");
    if (!sql)
        return fault_set(fault, -EIO, "%s", sqlite3_errmsg(store->db));
    return fault_set(fault, -EIO, "%s, in: %.200s", sqlite3_errmsg(store->db), sql);
}

int store_prepare(struct store *store, const char *sql, sqlite3_stmt **ret_statement,
                  struct fault *fault) {
    if (sqlite3_prepare_v2(store->db, sql, -1, ret_statement, NULL) != SQLITE_OK)
        return store_fault(store, sql, fault);
    return 0;
}

int store_execute(struct store *store, const char *sql, struct fault *fault) {
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store_fault(store, sql, fault);
    return 0;
}

int store_bind_list(struct store *store, sqlite3_stmt *statement, struct fault *fault,
                    const char *types, va_list values) {
    int code = SQLITE_OK;
    sqlite3_reset(statement);
    for (int i = 0; code == SQLITE_OK && types[i] != '\0'; i++) {
        if (types[i] == 'i') {
            code = sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
        } else if (types[i] == 'o') {
            const int64_t *value = va_arg(values, const int64_t *);
            code = value ? sqlite3_bind_int64(statement, i + 1, *value)
                         : sqlite3_bind_null(statement, i + 1);
        } else {
            code = sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1,
                                     SQLITE_STATIC);
        }
    }
    return code == SQLITE_OK ? 0 : store_fault(store, sqlite3_sql(statement), fault);
}

int store_bind(struct store *store, sqlite3_stmt *statement, struct fault *fault,
               const char *types, ...) {
    va_list values;
    va_start(values, types);
    int r = store_bind_list(store, statement, fault, types, values);
    va_end(values);
    return r;
}

int store_step(struct store *store, sqlite3_stmt *statement, struct fault *fault) {
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    return store_fault(store, sqlite3_sql(statement), fault);
}

int store_number(struct store *store, const char *sql, int64_t *ret_value,
                 struct fault *fault) {
    sqlite3_stmt *statement;
    int r = store_prepare(store, sql, &statement, fault);
    if (r < 0)
        return r;
    r = store_step(store, statement, fault);
    if (r > 0)
        *ret_value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return r > 0 ? 0 : r == 0 ? fault_set(fault, -EIO, "no answer to %s", sql) : r;
}

int store_check_kind(struct store *store, struct fault *fault) {
    int64_t application_id, version, tables;
    int r = store_number(store, "PRAGMA application_id", &application_id, fault);
    if (r == 0)
        r = store_number(store, "PRAGMA user_version", &version, fault);
    if (r == 0)
        r = store_number(store, "SELECT count(*) FROM sqlite_schema", &tables, fault);
    if (r < 0)
        return r;
    if (tables == 0 && application_id == 0 && version == 0)
        return STORE_IS_EMPTY;
    if (application_id != STORE_APPLICATION_ID)
        return fault_set(fault, -EMEDIUMTYPE,
                         "this is a database of another program, not a votrace store");
    if (version > STORE_VERSION)
        return fault_set(fault, -ENOTSUP,
                         "store version %" PRId64 " is newer than this votreport, which knows "
                         "version %d: use a newer votreport",
                         version, STORE_VERSION);
    if (version < 1)
        return fault_set(fault, -EBADMSG,
                         "the store is damaged: it says it is of version %" PRId64, version);
    return version < STORE_VERSION ? STORE_IS_OLD : 0;
}

int store_create_schema(struct store *store, struct fault *fault) {
    char sql[128];
    sqlite3_snprintf(sizeof(sql), sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
                     STORE_APPLICATION_ID, STORE_VERSION);
    int r = store_execute(store, sql, fault);
    return r < 0 ? r : store_execute(store, schema_sql, fault);
}

/* SQLite gives ":memory:" and "" a meaning of their own; for us they are names of files. */
static char *plain_path(const char *path) {
    size_t length = strlen(path);
    char *plain = malloc(length + 3);
    if (!plain)
        return NULL;
    memcpy(plain, "./", 3);
    memcpy(plain + (path[0] == '/' ? 0 : 2), path, length + 1);
    return plain;
}

static int connection_configure(struct store *store, struct fault *fault) {
    sqlite3_busy_timeout(store->db, STORE_LOCK_WAIT_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* A hostile file's schema must not call functions of ours. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store_execute(store, "PRAGMA foreign_keys=ON", fault);
}

/* Copy the file into memory, and go on with the copy. */
static int copy_to_memory(struct store *store, struct fault *fault) {
    struct store copy = {.mode = store->mode};
    if (sqlite3_open_v2(":memory:", &copy.db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        goto out;
    sqlite3_backup *backup = sqlite3_backup_init(copy.db, "main", store->db, "main");
    if (!backup)
        goto out;
    sqlite3_backup_step(backup, -1);
    if (sqlite3_backup_finish(backup) != SQLITE_OK)
        goto out;
    sqlite3_close(store->db);
    store->db = copy.db;
    return connection_configure(store, fault);
out:;
    int r = store_fault(&copy, NULL, fault);
    sqlite3_close(copy.db);
    return r;
}

/*
 * Reading changes no file, and it may be one that cannot be changed: an old store is migrated in
 * memory. The file itself is when the next run is added.
 */
static int migrate_in_memory(struct store *store, struct fault *fault) {
    int r = copy_to_memory(store, fault);
    if (r == 0)
        r = store_execute(store, "BEGIN", fault);
    if (r == 0)
        r = store_migrate(store, fault);
    return r < 0 ? r : store_execute(store, "COMMIT", fault);
}

/* Cannot the log's index be made, though the file can be read? */
static bool lacks_shared_memory(struct store *store) {
    switch (sqlite3_extended_errcode(store->db)) {
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_READONLY_CANTINIT:
    case SQLITE_READONLY_DIRECTORY:
        return true;
    default:
        return sqlite3_errcode(store->db) == SQLITE_CANTOPEN;
    }
}

static int store_configure(struct store *store, struct fault *fault) {
    int r = connection_configure(store, fault);
    if (r == 0)
        r = store_check_kind(store, fault);
    if (r < 0 && store->mode == STORE_READ && lacks_shared_memory(store)) {
        if (!store_journal_open_as_is(store))
            return fault_set(
                fault, -EIO,
                "its newest runs are in a log beside it (%s-wal): read it once where "
                "it can be written",
                store->path);
        r = connection_configure(store, fault);
        if (r == 0)
            r = store_check_kind(store, fault);
    }
    if (r < 0 || store->mode == STORE_WRITE)
        return r < 0 ? r : 0;
    if (r == STORE_IS_EMPTY)
        return fault_set(fault, -ENODATA, "the store is empty: nothing was imported yet");
    if (r == STORE_IS_OLD)
        r = migrate_in_memory(store, fault);
    return r < 0 ? r : store_execute(store, "PRAGMA query_only=ON", fault);
}

static int check_regular(const char *path, enum store_mode mode, struct fault *fault) {
    struct stat status;
    if (path[0] == '\0')
        return fault_set(fault, -ENOENT, "the name of the store is empty");
    if (stat(path, &status) < 0) {
        if (errno == ENOENT && mode == STORE_WRITE)
            return 0;
        if (errno == ENOENT)
            return fault_set(fault, -ENOENT, "there is no such store");
        return fault_set(fault, -errno, "%s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, -EMEDIUMTYPE,
                         "this is not a regular file, so not a votrace store");
    if (access(path, mode == STORE_WRITE ? R_OK | W_OK : R_OK) < 0)
        return fault_set(fault, -errno, "%s", strerror(errno));
    return 0;
}

/* Only who made the file itself may take it away again, so SQLite does not get to make it. */
static int create_file(struct store *store, struct fault *fault) {
    int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return fault_set(fault, -errno, "cannot be created: %s", strerror(errno));
    close(fd);
    store->created = true;
    return 0;
}

int store_open(const char *path, enum store_mode mode, struct store **ret_store,
               struct fault *fault) {
    int r = check_regular(path, mode, fault);
    if (r < 0)
        return r;
    struct store *store = calloc(1, sizeof(*store));
    if (!store)
        return fault_set(fault, -ENOMEM, "out of memory");
    store->mode = mode;
    store->path = plain_path(path);
    r = store->path ? 0 : fault_set(fault, -ENOMEM, "out of memory");

    /* Readers open for writing, too: a journal left by a killed import has to be rolled back.
     * SQLite itself falls back to reading where the file cannot be written. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (r == 0 && mode == STORE_WRITE)
        r = create_file(store, fault);
    if (r == 0 && sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        r = store_fault(store, NULL, fault);
    if (r == 0)
        r = store_configure(store, fault);
    if (r < 0) {
        store_close(store);
        return r;
    }
    *ret_store = store;
    return 0;
}

int store_probe(const char *path, struct fault *fault) {
    struct stat status;
    int r = check_regular(path, STORE_WRITE, fault);
    if (r < 0)
        return r;
    if (stat(path, &status) == 0) {
        if (status.st_size == 0)
            return 0;
        struct store *store;
        r = store_open(path, STORE_READ, &store, fault);
        if (r == 0)
            store_close(store);
        return r;
    }
    char *copy = strdup(path);
    if (!copy)
        return fault_set(fault, -ENOMEM, "out of memory");
    if (access(dirname(copy), W_OK | X_OK) < 0)
        r = fault_set(fault, -errno, "cannot be created: %s", strerror(errno));
    free(copy);
    return r;
}

/*
 * Take away the file that this store made and nothing was ever written to. Under the lock, so
 * that nobody is writing to it; who waits for the lock is told by SQLite that the file is gone.
 */
static void remove_unused(struct store *store) {
    struct stat status;
    sqlite3_busy_timeout(store->db, 0);
    /* On a full disk a lock that begins a journal file cannot be had. */
    if (sqlite3_exec(store->db, "PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE", NULL, NULL,
                     NULL) != SQLITE_OK)
        return;
    if (stat(store->path, &status) == 0 && status.st_size == 0)
        unlink(store->path);
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

void store_close(struct store *store) {
    if (!store)
        return;
    if (store->created && store->db)
        remove_unused(store);
    else if (store->db)
        store_journal_end(store);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}
