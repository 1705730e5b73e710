/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_check.c: is everything in a store as it should be?
 *
 * SQLite looks at its pages and references, and every run is loaded, which checks its sums. What
 * a listing says of a run and the digest of a set are there twice, and are compared.
 */
#include "store_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 100 /* of one kind: a file of zeros would fill the screen */

struct checking {
    struct store *store;
    struct fault *fault;
    void (*tell)(void *context, const char *line);
    void *context;
};

_printf_(2, 3) static void tell(struct checking *checking, const char *format, ...) {
    char line[FAULT_TEXT_BYTES + 64];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    line[strcspn(line, "\n")] = '\0';
    checking->tell(checking->context, line);
}

/* What stops SQLite itself is one more thing that is wrong; out of memory and locks are not. */
static int go_on(struct checking *checking, int r) {
    if (r != -EBADMSG && r != -EIO)
        return r < 0 ? r : 0;
    tell(checking, "%s", checking->fault->text);
    return 0;
}

/* One line for each row of @sql, whose first column is the line; "ok" is none. */
static int tell_rows(struct checking *checking, const char *sql, const char *what) {
    sqlite3_stmt *s = NULL;
    int count = 0;
    int r = store_prepare(checking->store, sql, &s, checking->fault);
    while (r == 0 && (r = store_step(checking->store, s, checking->fault)) > 0) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        if (text && strcmp(text, "ok") != 0 && count++ < LINES_MAX)
            tell(checking, "%s%s", what, text);
        r = 0;
    }
    sqlite3_finalize(s);
    if (count > LINES_MAX)
        tell(checking, "%sand %d more", what, count - LINES_MAX);
    return go_on(checking, r);
}

/* A store of this version in memory, to compare the schema with. */
static int schema_make(struct checking *checking, struct store *ret_model) {
    *ret_model = (struct store){.mode = STORE_WRITE};
    if (sqlite3_open(":memory:", &ret_model->db) != SQLITE_OK)
        return store_fault(ret_model, NULL, checking->fault);
    return store_create_schema(ret_model, checking->fault);
}

static int check_schema(struct checking *checking) {
    static const char sql[] = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE "
                              "'sqlite!_%' ESCAPE '!' ORDER BY type, name";
    static const char find_sql[] =
        "SELECT sql IS ?3 FROM sqlite_schema WHERE type=?1 AND name=?2";
    struct store model;
    sqlite3_stmt *s = NULL;
    sqlite3_stmt *find = NULL;
    int r = schema_make(checking, &model);
    if (r == 0)
        r = store_prepare(&model, sql, &s, checking->fault);
    if (r == 0)
        r = store_prepare(checking->store, find_sql, &find, checking->fault);
    while (r == 0 && (r = store_step(&model, s, checking->fault)) > 0) {
        const char *type = (const char *)sqlite3_column_text(s, 0);
        const char *name = (const char *)sqlite3_column_text(s, 1);
        r = store_bind(checking->store, find, checking->fault, "ttt", type, name,
                       (const char *)sqlite3_column_text(s, 2));
        if (r == 0)
            r = store_step(checking->store, find, checking->fault);
        if (r == 0)
            tell(checking, "%s %s is missing", type, name);
        else if (r > 0 && sqlite3_column_int(find, 0) == 0)
            tell(checking, "%s %s is not that of version %d", type, name, STORE_VERSION);
        r = r < 0 ? r : 0;
    }
    sqlite3_finalize(s);
    sqlite3_finalize(find);
    sqlite3_close(model.db);
    return go_on(checking, r);
}

/* The first column of @sql, all of it. */
static int list_ids(struct checking *checking, const char *sql, struct vector *ids) {
    sqlite3_stmt *s = NULL;
    int r = store_prepare(checking->store, sql, &s, checking->fault);
    while (r == 0 && (r = store_step(checking->store, s, checking->fault)) > 0) {
        int64_t *id = vector_add(ids);
        r = id ? 0 : fault_set(checking->fault, -ENOMEM, "out of memory");
        if (id)
            *id = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return go_on(checking, r);
}

static int check_headline(struct checking *checking, const struct run *run) {
    sqlite3_stmt *s = NULL;
    const struct store_headline headline = store_headline_of(run);
    int r = store_prepare(checking->store,
                          "SELECT headline_region IS ?2 AND headline_added=?3 AND "
                          "marked_regions=?4 FROM run WHERE id=?1",
                          &s, checking->fault);
    if (r == 0)
        r = store_bind(checking->store, s, checking->fault, "itii", run->id, headline.region,
                       headline.added, headline.marked);
    if (r == 0)
        r = store_step(checking->store, s, checking->fault);
    if (r > 0 && sqlite3_column_int(s, 0) == 0)
        tell(checking, "run %" PRId64 ": what a listing says of it is not what its regions say",
             run->id);
    sqlite3_finalize(s);
    return r < 0 ? r : 0;
}

static int check_run(struct checking *checking, int64_t id) {
    static const char damaged[] = "the store is damaged: ";
    struct run run;
    int r = store_load(checking->store, id, &run, checking->fault);
    if (r == 0) {
        r = check_headline(checking, &run);
        run_finish(&run);
        return go_on(checking, r);
    }
    if (r != -EBADMSG && r != -EIO)
        return r;
    const char *text = checking->fault->text;
    char begin[64];
    if (strncmp(text, damaged, strlen(damaged)) == 0)
        text += strlen(damaged);
    snprintf(begin, sizeof(begin), "run %" PRId64 ": ", id);
    tell(checking, "%s%s", strncmp(text, begin, strlen(begin)) == 0 ? "" : begin, text);
    return 0;
}

static int check_set(struct checking *checking, struct store_sets *sets, int64_t id) {
    const struct store_sites *sites;
    sqlite3_stmt *s = NULL;
    int r = store_sets_get(sets, id, &sites);
    if (r == 0)
        r = store_prepare(checking->store,
                          "SELECT digest=?2 AND sites=?3 FROM site_set WHERE id=?1", &s,
                          checking->fault);
    if (r == 0)
        r = store_bind(checking->store, s, checking->fault, "iii", id,
                       store_sites_digest(sites), (int64_t)sites->list.count);
    if (r == 0)
        r = store_step(checking->store, s, checking->fault);
    if (r > 0 && sqlite3_column_int(s, 0) == 0)
        tell(checking, "set %" PRId64 " of sites is not what its digest says", id);
    sqlite3_finalize(s);
    return go_on(checking, r);
}

static int check_all(struct checking *checking, struct store_sets *sets, struct vector *runs,
                     struct vector *ids) {
    int r = tell_rows(checking, "PRAGMA integrity_check", "");
    if (r == 0)
        r = tell_rows(checking,
                      "SELECT \"table\" || ' ' || coalesce(rowid, '?') || ' refers to a ' || "
                      "parent || ' that is not there' FROM pragma_foreign_key_check",
                      "");
    if (r == 0)
        r = check_schema(checking);
    if (r == 0)
        r = list_ids(checking, "SELECT id FROM run ORDER BY id", runs);
    for (size_t i = 0; r == 0 && i < runs->count; i++)
        r = check_run(checking, ((int64_t *)runs->items)[i]);
    if (r == 0)
        r = list_ids(checking, "SELECT id FROM site_set ORDER BY id", ids);
    if (r == 0)
        r = go_on(checking, store_sets_open(sets, checking->store, checking->fault));
    for (size_t i = 0; r == 0 && sets->get && sets->find && sets->add && i < ids->count; i++)
        r = check_set(checking, sets, ((int64_t *)ids->items)[i]);
    return r;
}

int store_check(struct store *store, void (*tell_line)(void *context, const char *line),
                void *context, struct fault *fault) {
    struct checking checking = {store, fault, tell_line, context};
    struct store_sets sets = {0};
    struct vector runs = VECTOR_OF(int64_t);
    struct vector ids = VECTOR_OF(int64_t);
    int r = check_all(&checking, &sets, &runs, &ids);
    store_sets_close(&sets);
    vector_finish(&runs);
    vector_finish(&ids);
    return r;
}
