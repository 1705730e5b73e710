/* SPDX-License-Identifier: BSD-3-Clause */
/* selection.c: sort the list by benchmark and age, keep the last set of each. */
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_entries(const void *a, const void *b) {
    const struct run *left = &((const struct store_entry *)a)->run;
    const struct run *right = &((const struct store_entry *)b)->run;
    int order = run_compare_benchmark(left, right);
    if (order != 0)
        return order;
    return left->id > right->id ? -1 : left->id < right->id;
}

/* The runs of @name, all when it is NULL; -ENODATA when there are none. */
static int list_named(struct store *store, const char *name, struct arena *arena,
                      struct store_entry **ret_entries, size_t *ret_count,
                      struct fault *fault) {
    struct store_entry *entries;
    size_t count;
    size_t kept = 0;
    int r = store_list(store, arena, &entries, &count, fault);
    if (r < 0)
        return r;
    if (count == 0)
        return fault_set(fault, -ENODATA, "the store holds no runs");
    for (size_t i = 0; i < count; i++)
        if (!name || strcmp(entries[i].run.benchmark, name) == 0)
            entries[kept++] = entries[i];
    if (kept == 0)
        return fault_set(fault, -ENODATA, "there is no run of a benchmark named '%s'", name);
    *ret_entries = entries;
    *ret_count = kept;
    return 0;
}

int selection_find_newest(struct store *store, const char *name, int64_t *ret_id,
                          struct fault *fault) {
    struct arena arena = {0};
    struct store_entry *entries;
    size_t count;
    int r = list_named(store, name, &arena, &entries, &count, fault);
    if (r == 0)
        *ret_id = entries[count - 1].run.id;
    arena_finish(&arena);
    return r;
}

int selection_load_newest(struct store *store, const char *name,
                          struct selection *ret_selection, struct fault *fault) {
    struct arena arena = {0};
    struct selection selection = {0};
    struct store_entry *entries;
    size_t count = 0;
    int r = list_named(store, name, &arena, &entries, &count, fault);
    if (r == 0) {
        selection.runs = calloc(count, sizeof(*selection.runs));
        r = selection.runs ? 0 : fault_set(fault, -ENOMEM, "out of memory");
    }
    if (r == 0)
        qsort(entries, count, sizeof(*entries), compare_entries);
    const struct run *newest = NULL;
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct run *run = &entries[i].run;
        if (!newest || run_compare_benchmark(newest, run) != 0)
            newest = run;
        if (strcmp(newest->set_uuid, run->set_uuid) != 0)
            continue;
        r = store_load(store, run->id, &selection.runs[selection.count], fault);
        selection.count += r == 0;
    }
    arena_finish(&arena);
    if (r < 0)
        selection_finish(&selection);
    else
        *ret_selection = selection;
    return r;
}

void selection_finish(struct selection *selection) {
    for (size_t i = 0; i < selection->count; i++)
        run_finish(&selection->runs[i]);
    free(selection->runs);
    *selection = (struct selection){0};
}
