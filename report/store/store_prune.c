/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_prune.c: old runs keep their totals and lose the rest.
 *
 * Which stacks are still needed stands in the packed sets, so they are unpacked and marked here,
 * children before parents: a parent's number is always the smaller. All of it is one transaction;
 * giving the room back to the disk is another, which may fail by itself.
 */
#include "store_sets.h"

#include <errno.h>
#include <stdlib.h>

static const char drop_sites_sql[] =
    "DELETE FROM region_timeline WHERE region_id IN "
    "(SELECT region.id FROM region JOIN run ON run.id=run_id WHERE pruned<>0);"
    "UPDATE region SET has_sites=0, site_set_id=NULL, stack_origin=0 "
    "WHERE run_id IN (SELECT id FROM run WHERE pruned<>0) AND site_set_id IS NOT NULL;"
    "DELETE FROM site_set WHERE base_id IS NOT NULL AND id NOT IN "
    "(SELECT site_set_id FROM region WHERE site_set_id IS NOT NULL);"
    "DELETE FROM site_set WHERE base_id IS NULL AND id NOT IN "
    "(SELECT site_set_id FROM region WHERE site_set_id IS NOT NULL) AND id NOT IN "
    "(SELECT base_id FROM site_set WHERE base_id IS NOT NULL);";

static const char drop_names_sql[] =
    "DELETE FROM stack WHERE id IN (SELECT id FROM temp.unused);"
    "DROP TABLE temp.unused;"
    "DELETE FROM frame WHERE id NOT IN (SELECT frame_id FROM stack WHERE frame_id IS NOT NULL);"
    "DELETE FROM symbol WHERE id NOT IN (SELECT symbol_id FROM frame);"
    "DELETE FROM module WHERE id NOT IN (SELECT module_id FROM frame);";

struct pruning {
    struct store *store;
    struct fault *fault;
    struct store_sets sets;
    bool *used; /* by stack, stack_count */
    size_t stack_count;
};

static int mark_old_runs(struct pruning *pruning, int64_t keep, int64_t *ret_count) {
    static const char sql[] =
        "UPDATE run SET pruned=1 WHERE pruned=0 AND id IN (SELECT id FROM (SELECT id, "
        "row_number() OVER (PARTITION BY benchmark_id ORDER BY id DESC) AS place FROM run) "
        "WHERE place>?1)";
    sqlite3_stmt *s = NULL;
    int r = store_prepare(pruning->store, sql, &s, pruning->fault);
    if (r == 0)
        r = store_bind(pruning->store, s, pruning->fault, "i", keep);
    if (r == 0)
        r = store_step(pruning->store, s, pruning->fault);
    sqlite3_finalize(s);
    if (r == 0)
        *ret_count = sqlite3_changes(pruning->store->db);
    return r;
}

static int mark_set(struct pruning *pruning, int64_t id, int64_t origin) {
    const struct store_sites *sites;
    int r = store_sets_get(&pruning->sets, id, &sites);
    if (r == 0 && !store_sites_stack_is_sane(origin))
        r = fault_set(pruning->fault, -EBADMSG,
                      "the store is damaged: a region with impossible values");
    for (size_t i = 0; r == 0 && i < sites->list.count; i++) {
        int64_t stack = ((const struct store_site *)sites->list.items)[i].stack + origin;
        if (stack >= 0 && (size_t)stack < pruning->stack_count)
            pruning->used[stack] = true;
    }
    return r;
}

static int mark_stacks(struct pruning *pruning) {
    int64_t most = 0;
    sqlite3_stmt *s = NULL;
    int r = store_number(pruning->store, "SELECT coalesce(max(id), 0) FROM stack", &most,
                         pruning->fault);
    if (r < 0)
        return r;
    if (most < 0 || most > UINT32_MAX)
        return fault_set(pruning->fault, -EBADMSG,
                         "the store is damaged: a call stack with an impossible number");
    pruning->stack_count = (size_t)most + 1;
    pruning->used = calloc(pruning->stack_count, sizeof(*pruning->used));
    if (!pruning->used)
        return fault_set(pruning->fault, -ENOMEM, "out of memory");
    r = store_prepare(pruning->store,
                      "SELECT DISTINCT site_set_id, stack_origin FROM region "
                      "WHERE site_set_id IS NOT NULL",
                      &s, pruning->fault);
    while (r == 0 && (r = store_step(pruning->store, s, pruning->fault)) > 0)
        r = mark_set(pruning, sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1));
    sqlite3_finalize(s);
    return r;
}

/* What is not used goes into a table of its own, for the deletion. */
static int list_unused(struct pruning *pruning, int64_t *ret_count) {
    sqlite3_stmt *each = NULL;
    sqlite3_stmt *add = NULL;
    int64_t count = 0;
    int r = store_execute(pruning->store, "CREATE TEMP TABLE unused (id INTEGER PRIMARY KEY)",
                          pruning->fault);
    if (r == 0)
        r = store_prepare(pruning->store,
                          "SELECT id, parent_id FROM stack WHERE id>0 ORDER BY id DESC", &each,
                          pruning->fault);
    if (r == 0)
        r = store_prepare(pruning->store, "INSERT INTO temp.unused VALUES (?1)", &add,
                          pruning->fault);
    while (r == 0 && (r = store_step(pruning->store, each, pruning->fault)) > 0) {
        int64_t id = sqlite3_column_int64(each, 0);
        int64_t parent = sqlite3_column_int64(each, 1);
        if (id <= 0 || (size_t)id >= pruning->stack_count) {
            r = fault_set(pruning->fault, -EBADMSG,
                          "the store is damaged: a call stack with an impossible number");
            break;
        }
        r = 0;
        if (pruning->used[id] && parent >= 0 && parent < id) {
            pruning->used[parent] = true;
        } else if (!pruning->used[id]) {
            count++;
            r = store_bind(pruning->store, add, pruning->fault, "i", id);
            if (r == 0)
                r = store_step(pruning->store, add, pruning->fault);
        }
    }
    sqlite3_finalize(each);
    sqlite3_finalize(add);
    if (r == 0)
        *ret_count = count;
    return r;
}

static int prune(struct pruning *pruning, int64_t keep, struct store_pruned *pruned) {
    int r = store_check_kind(pruning->store, pruning->fault);
    if (r == STORE_IS_EMPTY)
        return fault_set(pruning->fault, -ENODATA,
                         "the store is empty: nothing was imported yet");
    if (r == STORE_IS_OLD)
        r = store_migrate(pruning->store, pruning->fault);
    if (r == 0)
        r = mark_old_runs(pruning, keep, &pruned->runs);
    if (r == 0)
        r = store_execute(pruning->store, drop_sites_sql, pruning->fault);
    if (r == 0)
        r = store_sets_open(&pruning->sets, pruning->store, pruning->fault);
    if (r == 0)
        r = mark_stacks(pruning);
    if (r == 0)
        r = list_unused(pruning, &pruned->stacks);
    store_sets_close(&pruning->sets);
    return r == 0 ? store_execute(pruning->store, drop_names_sql, pruning->fault) : r;
}

int store_prune(struct store *store, int64_t keep, struct store_pruned *ret_pruned,
                struct fault *fault) {
    struct pruning pruning = {.store = store, .fault = fault};
    struct store_pruned pruned = {0};
    /* References are kept by what is deleted here; checking each deletion of a frame would look
     * through all stacks, as there is no index for it. */
    int r = store_execute(store, "PRAGMA foreign_keys=OFF; PRAGMA temp_store=MEMORY", fault);
    if (r == 0)
        r = store_execute(store, "BEGIN IMMEDIATE", fault);
    if (r == 0)
        r = prune(&pruning, keep, &pruned);
    free(pruning.used);
    if (r == 0)
        r = store_execute(store, "COMMIT", fault);
    if (r < 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(store->db, "PRAGMA foreign_keys=ON", NULL, NULL, NULL);
    if (r == 0)
        *ret_pruned = pruned;
    return r == 0 ? store_execute(store, "VACUUM", fault) : r;
}
