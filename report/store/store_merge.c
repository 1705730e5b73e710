/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_merge.c: runs of several stores into one.
 *
 * A run is read as whoever shows it reads it, with all the checks of that, and written as an
 * import writes it. So a store of an earlier version, or one whose stacks have other numbers, is
 * nothing special, and what is damaged does not spread.
 */
#include "store_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    size_t store;
    int64_t id;
    int64_t start_ns;
    char uuid[RUN_UUID_BYTES];
};

/* By time; those that began together in the order of their store. */
static int candidate_compare(const void *a, const void *b) {
    const struct candidate *left = a;
    const struct candidate *right = b;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    if (left->store != right->store)
        return left->store < right->store ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static int candidates_list(struct store *store, size_t number, struct vector *candidates,
                           struct fault *fault) {
    sqlite3_stmt *s = NULL;
    int r = store_prepare(store, "SELECT id, start_ns, uuid FROM run ORDER BY id", &s, fault);
    while (r == 0 && (r = store_step(store, s, fault)) > 0) {
        struct candidate *candidate = vector_add(candidates);
        const char *uuid = (const char *)sqlite3_column_text(s, 2);
        r = candidate ? 0 : fault_set(fault, -ENOMEM, "out of memory");
        if (r == 0 && (!uuid || strlen(uuid) >= RUN_UUID_BYTES))
            r = fault_set(fault, -EBADMSG,
                          "the store is damaged: a run with impossible values");
        if (r < 0)
            break;
        candidate->store = number;
        candidate->id = sqlite3_column_int64(s, 0);
        candidate->start_ns = sqlite3_column_int64(s, 1);
        strcpy(candidate->uuid, uuid);
    }
    sqlite3_finalize(s);
    return r;
}

/* Has @into the run already? 1, 0, or a negative errno. */
static int is_known(struct store *into, sqlite3_stmt *find, const char *uuid,
                    struct fault *fault) {
    int r = store_bind(into, find, fault, "t", uuid);
    if (r == 0)
        r = store_step(into, find, fault);
    sqlite3_reset(find);
    return r;
}

/* Would anything come in? Asked before a byte is written. 1, 0, or a negative errno. */
static int brings_news(struct store *into, const struct vector *candidates,
                       struct fault *fault) {
    const struct candidate *all = candidates->items;
    sqlite3_stmt *find = NULL;
    int known = 1;
    int r = store_check_kind(into, fault);
    if (r != 0)
        return r < 0 ? r : 1;
    r = store_prepare(into, "SELECT 1 FROM run WHERE uuid=?1", &find, fault);
    for (size_t i = 0; r == 0 && known == 1 && i < candidates->count; i++)
        known = is_known(into, find, all[i].uuid, fault);
    sqlite3_finalize(find);
    return r < 0 ? r : known < 0 ? known : !known;
}

/* Returns 1 when the run was added, 0 when it was there. */
static int copy_run(struct store_writer *writer, struct store *from, int64_t id) {
    struct run run;
    int64_t added;
    struct fault inner;
    int r = store_load(from, id, &run, &inner);
    if (r < 0)
        return fault_set(writer->fault, r, "%s cannot be merged: %s", from->path, inner.text);
    r = store_writer_put(writer, &run, &added);
    run_finish(&run);
    return r == -EEXIST ? 0 : r < 0 ? r : 1;
}

static int copy_all(struct store_writer *writer, struct store *const *stores,
                    const struct vector *candidates, void (*progress)(size_t, size_t),
                    struct store_merged *merged) {
    const struct candidate *all = candidates->items;
    sqlite3_stmt *find = NULL;
    int r =
        store_prepare(writer->store, "SELECT 1 FROM run WHERE uuid=?1", &find, writer->fault);
    for (size_t i = 0; r == 0 && i < candidates->count; i++) {
        r = is_known(writer->store, find, all[i].uuid, writer->fault);
        if (r == 0)
            r = copy_run(writer, stores[all[i].store], all[i].id);
        else if (r > 0)
            r = 0;
        merged->added += r > 0;
        merged->known += r == 0;
        r = r < 0 ? r : 0;
        if (progress)
            progress(i + 1, candidates->count);
    }
    sqlite3_finalize(find);
    return r;
}

int store_merge(struct store *into, struct store *const *stores, size_t count,
                void (*progress)(size_t done, size_t all), struct store_merged *ret_merged,
                struct fault *fault) {
    struct vector candidates = VECTOR_OF(struct candidate);
    struct store_merged merged = {0};
    struct store_writer writer;
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = candidates_list(stores[i], i, &candidates, fault);
    if (candidates.count > 0)
        qsort(candidates.items, candidates.count, sizeof(struct candidate), candidate_compare);
    int news = r == 0 ? brings_news(into, &candidates, fault) : r;
    if (news == 0)
        merged.known = candidates.count;
    r = news > 0 ? store_writer_open(&writer, into, fault) : news;
    if (news > 0 && r == 0) {
        r = copy_all(&writer, stores, &candidates, progress, &merged);
        r = store_writer_close(&writer, r);
    }
    if (r == 0)
        *ret_merged = merged;
    vector_finish(&candidates);
    return r;
}
