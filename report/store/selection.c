/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection.c: read the index of the store, mark what is meant, keep the last set of each
 * benchmark, load that.
 */
#include "selection.h"

#include "store_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEGINNING_MIN 4

enum kind { KIND_RUN, KIND_COMMIT, KIND_NAME, KIND_BRANCH, KINDS };

static const char *const kind_names[KINDS] = {"run", "commit", "name", "branch"};

/* The runs of a store that could be meant. */
struct candidates {
    struct arena arena;
    struct store_index_entry *entries;
    size_t count;
};

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

int selection_open(const char *where, struct store **ret_store, const char **ret_what,
                   struct fault *fault) {
    const char *what = NULL;
    char *path = strdup(where);
    if (!path)
        return fault_set(fault, -ENOMEM, "out of memory");
    for (char *at = path + strlen(path); !is_file(path) && at > path; at--) {
        if (at[-1] != '@')
            continue;
        at[-1] = '\0';
        what = where + (at - path);
    }
    bool found = is_file(path);
    int r = found && what && what[0] == '\0'
                ? fault_set(fault, -EINVAL, "nothing stands behind its last @")
                : store_open(found ? path : where, STORE_READ, ret_store, fault);
    free(path);
    if (r == 0)
        *ret_what = what;
    return r;
}

static bool is_number(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool begins_with(const char *text, const char *beginning) {
    size_t length = strlen(beginning);
    return length >= BEGINNING_MIN && strncmp(text, beginning, length) == 0;
}

static bool entry_is(const struct store_index_entry *entry, enum kind kind, const char *what) {
    switch (kind) {
    case KIND_RUN:
        return (is_number(what) && strtoll(what, NULL, 10) == entry->id) ||
               begins_with(entry->uuid, what);
    case KIND_COMMIT:
        return begins_with(entry->commit, what) ||
               (what[0] != '\0' && strcmp(entry->commit, what) == 0);
    case KIND_NAME:
        return strcmp(entry->benchmark, what) == 0;
    default:
        return what[0] != '\0' && strcmp(entry->branch, what) == 0;
    }
}

/* What must be one thing and not several that begin alike; NULL: several are as good as one. */
static const char *identity(const struct store_index_entry *entry, enum kind kind) {
    return kind == KIND_RUN ? entry->uuid : kind == KIND_COMMIT ? entry->commit : NULL;
}

/* How many different ones of @kind @what could be: 0, 1, or 2 for several. */
static int matches(const struct candidates *all, enum kind kind, const char *what,
                   const char **ret_first) {
    const char *first = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct store_index_entry *entry = &all->entries[i];
        if (!entry_is(entry, kind, what))
            continue;
        /* The whole of it is never a mere beginning. */
        if (kind == KIND_RUN && is_number(what) && strtoll(what, NULL, 10) == entry->id) {
            *ret_first = entry->uuid;
            return 1;
        }
        const char *id = identity(entry, kind);
        if (first && id && strcmp(first, id) != 0)
            return 2;
        first = id ? id : what;
    }
    *ret_first = first;
    return first != NULL;
}

/* "run:12ab" names its kind; without that it may be any but a branch. */
static bool kind_is_said(const char **what, enum kind *ret_kind) {
    for (size_t i = 0; i < KINDS; i++) {
        size_t length = strlen(kind_names[i]);
        if (strncmp(*what, kind_names[i], length) == 0 && (*what)[length] == ':') {
            *what += length + 1;
            *ret_kind = (enum kind)i;
            return true;
        }
    }
    return false;
}

static int kind_find(const struct candidates *all, const char **what, enum kind *ret_kind,
                     struct fault *fault) {
    int counts[KINDS] = {0};
    int found = 0;
    const char *said = *what;
    const char *first;
    enum kind only = KINDS;
    bool is_said = kind_is_said(what, &only);
    for (enum kind kind = KIND_RUN; kind < KINDS; kind++) {
        if (is_said ? kind != only : kind == KIND_BRANCH)
            continue;
        counts[kind] = matches(all, kind, *what, &first);
        found += counts[kind] > 0;
        if (counts[kind] > 0)
            *ret_kind = kind;
    }
    if (found == 0 && is_said)
        return fault_set(fault, -ENODATA, "there is no %s '%s' in this store",
                         only == KIND_NAME ? "benchmark" : kind_names[only], *what);
    if (found == 0)
        return fault_set(fault, -ENODATA,
                         "there is no run, commit or benchmark '%s' in this store", said);
    if (found > 1)
        return fault_set(fault, -EEXIST, "'%s' could be a %s or a %s: say %s:%s or %s:%s", said,
                         counts[KIND_RUN] > 0 ? "run" : "commit",
                         counts[KIND_NAME] > 0 ? "benchmark" : "commit",
                         kind_names[counts[KIND_RUN] > 0 ? KIND_RUN : KIND_COMMIT], said,
                         kind_names[counts[KIND_NAME] > 0 ? KIND_NAME : KIND_COMMIT], said);
    if (counts[*ret_kind] > 1)
        return fault_set(fault, -EEXIST, "several %s begin with '%s': say more of it",
                         *ret_kind == KIND_RUN ? "runs" : "commits", *what);
    return 0;
}

/* A run that is named by its number is not one whose uuid begins so, too. */
static bool entry_is_meant(const struct store_index_entry *entry, enum kind kind,
                           const char *what, const char *identity_meant) {
    if (kind == KIND_RUN)
        return strcmp(entry->uuid, identity_meant) == 0;
    return entry_is(entry, kind, what);
}

/* Keep those that @what means, NULL: all. */
static int narrow(struct candidates *all, const char *what, struct fault *fault) {
    enum kind kind = KIND_NAME;
    const char *meant = "";
    size_t kept = 0;
    if (!what)
        return 0;
    int r = kind_find(all, &what, &kind, fault);
    if (r < 0)
        return r;
    (void)matches(all, kind, what, &meant);
    for (size_t i = 0; i < all->count; i++)
        if (entry_is_meant(&all->entries[i], kind, what, meant))
            all->entries[kept++] = all->entries[i];
    all->count = kept;
    return 0;
}

static int narrow_by_name(struct candidates *all, const char *name, struct fault *fault) {
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!name || strcmp(all->entries[i].benchmark, name) == 0)
            all->entries[kept++] = all->entries[i];
    all->count = kept;
    if (kept == 0)
        return fault_set(fault, -ENODATA, "there is no run of a benchmark named '%s'", name);
    return 0;
}

/* What could be meant, oldest first: not empty. */
static int candidates_list(struct store *store, const char *what, const char *name,
                           struct candidates *ret_all, struct fault *fault) {
    struct candidates all = {0};
    int r = store_index(store, &all.arena, &all.entries, &all.count, fault);
    if (r == 0 && all.count == 0)
        r = fault_set(fault, -ENODATA, "the store holds no runs");
    if (r == 0)
        r = narrow(&all, what, fault);
    if (r == 0)
        r = narrow_by_name(&all, name, fault);
    if (r < 0)
        arena_finish(&all.arena);
    else
        *ret_all = all;
    return r;
}

/* By benchmark, the newest first. */
static int compare_entries(const void *a, const void *b) {
    const struct store_index_entry *left = a;
    const struct store_index_entry *right = b;
    int order = strcmp(left->benchmark, right->benchmark);
    if (order == 0)
        order = strcmp(left->parameters, right->parameters);
    if (order != 0)
        return order;
    return left->id > right->id ? -1 : left->id < right->id;
}

static int sets_load(struct store *store, struct candidates *all, struct selection *selection,
                     struct fault *fault) {
    const struct store_index_entry *newest = NULL;
    qsort(all->entries, all->count, sizeof(*all->entries), compare_entries);
    for (size_t i = 0; i < all->count; i++) {
        const struct store_index_entry *entry = &all->entries[i];
        if (!newest || newest->benchmark_id != entry->benchmark_id)
            newest = entry;
        if (strcmp(newest->set_uuid, entry->set_uuid) != 0)
            continue;
        int r = store_load(store, entry->id, &selection->runs[selection->count], fault);
        if (r < 0)
            return r;
        selection->count++;
    }
    return 0;
}

int selection_load(struct store *store, const char *what, const char *name,
                   struct selection *ret_selection, struct fault *fault) {
    struct candidates all;
    struct selection selection = {0};
    int r = candidates_list(store, what, name, &all, fault);
    if (r < 0)
        return r;
    selection.runs = calloc(all.count, sizeof(*selection.runs));
    r = selection.runs ? sets_load(store, &all, &selection, fault)
                       : fault_set(fault, -ENOMEM, "out of memory");
    arena_finish(&all.arena);
    if (r < 0)
        selection_finish(&selection);
    else
        *ret_selection = selection;
    return r;
}

int selection_find(struct store *store, const char *what, const char *name, int64_t *ret_id,
                   struct fault *fault) {
    struct candidates all;
    int r = candidates_list(store, what, name, &all, fault);
    if (r < 0)
        return r;
    *ret_id = all.entries[all.count - 1].id;
    arena_finish(&all.arena);
    return 0;
}

int selection_load_from(const char *where, const char *name, struct selection *ret_selection,
                        struct fault *fault) {
    struct store *store;
    const char *what;
    int r = selection_open(where, &store, &what, fault);
    if (r < 0)
        return r;
    r = selection_load(store, what, name, ret_selection, fault);
    store_close(store);
    return r;
}

int selection_load_newest(struct store *store, const char *name,
                          struct selection *ret_selection, struct fault *fault) {
    return selection_load(store, NULL, name, ret_selection, fault);
}

int selection_find_newest(struct store *store, const char *name, int64_t *ret_id,
                          struct fault *fault) {
    return selection_find(store, NULL, name, ret_id, fault);
}

void selection_unfold(struct selection *selection) {
    for (size_t i = 0; i < selection->count; i++)
        profile_unfold_interpreters(&selection->runs[i].profile);
}

void selection_finish(struct selection *selection) {
    for (size_t i = 0; i < selection->count; i++)
        run_finish(&selection->runs[i]);
    free(selection->runs);
    *selection = (struct selection){0};
}
