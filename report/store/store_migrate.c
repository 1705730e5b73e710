/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_migrate.c: a store of an earlier version becomes one of this.
 *
 * SQLite cannot change a CHECK, and a table that was altered is not what schema.sql says. So all
 * tables are put aside, made anew from schema.sql, filled, and dropped: a store that was migrated
 * cannot be told from one that was always of this version. What an old version did not know gets
 * the value that says so. One numbered function for each version; all in one transaction.
 */
#include "store_series.h"
#include "store_sets.h"
#include "store_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The region that a listing names: the marked one that added most to the heap. */
#define HEADLINE                                                                               \
    "FROM old_region JOIN old_region_total ON region_id=old_region.id AND space='heap' "       \
    "WHERE run_id=old.id ORDER BY ordinal=0, live_peak-live_start DESC, ordinal LIMIT 1"

/* A table, parents before children, and its columns: those of old, then what the new ones get. */
struct move {
    const char *table;
    const char *same;   /* columns that are as they were */
    const char *added;  /* ", column ..." or "" */
    const char *values; /* ", value ..." for them */
    const char *from;   /* more tables that the values are from, or which rows; or "" */
};

static int put_aside(struct store *store, const struct move *moves, size_t count,
                     struct fault *fault) {
    /* Renaming is of the table alone: the references of its children stay what they are. */
    int r = store_execute(store, "PRAGMA legacy_alter_table=ON", fault);
    for (size_t i = 0; r == 0 && i < count; i++) {
        char sql[128];
        sqlite3_snprintf(sizeof(sql), sql, "ALTER TABLE %s RENAME TO old_%s", moves[i].table,
                         moves[i].table);
        r = store_execute(store, sql, fault);
    }
    return r < 0 ? r : store_execute(store, "PRAGMA legacy_alter_table=OFF", fault);
}

static int fill(struct store *store, const struct move *move, struct fault *fault) {
    char *sql = sqlite3_mprintf("INSERT INTO %s (%s%s) SELECT %s%s FROM old_%s AS old %s",
                                move->table, move->same, move->added, move->same, move->values,
                                move->table, move->from);
    int r = sql ? store_execute(store, sql, fault) : fault_set(fault, -ENOMEM, "out of memory");
    sqlite3_free(sql);
    return r;
}

static int drop(struct store *store, const char *table, struct fault *fault) {
    char sql[64];
    sqlite3_snprintf(sizeof(sql), sql, "DROP TABLE old_%s", table);
    return store_execute(store, sql, fault);
}

/*
 * Version 2: parents of forked children, regions of threads, sizes, timelines, usable bytes. The
 * next step makes the tables anew, so that columns that are only added are good enough here.
 */
static int migrate_to_2(struct store *store, struct fault *fault) {
    return store_execute(
        store,
        "ALTER TABLE run ADD COLUMN trace_uuid TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE run ADD COLUMN parent_uuid TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE run ADD COLUMN forked INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE run ADD COLUMN inherited_freed INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE run ADD COLUMN parent_pid INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE run ADD COLUMN malloc_elsewhere INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE region ADD COLUMN thread INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE region ADD COLUMN peak_ns INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE region ADD COLUMN usable_start INTEGER;"
        "ALTER TABLE region ADD COLUMN usable_peak INTEGER;"
        "ALTER TABLE region ADD COLUMN usable_end INTEGER;"
        "ALTER TABLE region ADD COLUMN sizes TEXT;"
        "ALTER TABLE region ADD COLUMN timeline TEXT;"
        /* No earlier than the begin, no later than the end: that is all that is known. */
        "UPDATE region SET peak_ns=max(begin_ns, CASE open WHEN 0 THEN end_ns ELSE "
        "(SELECT elapsed_ns FROM run WHERE run.id=run_id) END)",
        fault);
}

/* Statements and sets while the sites of version 2 are packed. */
struct packing {
    struct store *store;
    struct fault *fault;
    struct store_sets sets;
    sqlite3_stmt *regions; /* of the old store */
    sqlite3_stmt *sites;   /* of one of them */
    sqlite3_stmt *before;  /* where the same region of the run before has its sites */
    sqlite3_stmt *place;   /* where those of this one are */
    sqlite3_stmt *timeline;
};

static int packing_open(struct packing *packing) {
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&packing->regions,
         "SELECT old_region.id, run_id, name, instance, has_sites, timeline, "
         "(SELECT max(before.id) FROM "
         "run AS before WHERE before.benchmark_id=run.benchmark_id AND "
         "before.id<run.id) FROM old_region JOIN run ON run.id=run_id "
         "ORDER BY run_id, ordinal"},
        {&packing->sites,
         "SELECT stack_id, CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 WHEN "
         "'map_file' THEN 2 ELSE 3 END + 4 * flags AS kind, allocated_blocks, allocated_bytes, "
         "peak_blocks, peak_bytes, end_blocks, end_bytes, start_blocks, start_bytes, "
         "temporary, "
         "freed_blocks, freed_bytes FROM old_region_site WHERE region_id=?1 "
         "ORDER BY stack_id, kind"},
        {&packing->before, "SELECT site_set_id, stack_origin FROM region WHERE name=?1 AND "
                           "run_id=?2 AND instance=?3 AND site_set_id IS NOT NULL"},
        {&packing->place, "UPDATE region SET site_set_id=?1, stack_origin=?2 WHERE id=?3"},
        {&packing->timeline, "INSERT INTO region_timeline (region_id, packed) VALUES (?1, ?2)"},
    };
    int r = store_sets_open(&packing->sets, packing->store, packing->fault);
    for (size_t i = 0; r == 0 && i < sizeof(all) / sizeof(all[0]); i++)
        r = store_prepare(packing->store, all[i].sql, all[i].statement, packing->fault);
    return r;
}

static int damaged(struct packing *packing) {
    return fault_set(packing->fault, -EBADMSG,
                     "the store is damaged: region %" PRId64 " does not add up",
                     (int64_t)sqlite3_column_int64(packing->regions, 0));
}

static int take_sites(struct packing *packing, struct store_sites *sites) {
    sqlite3_stmt *s = packing->sites;
    int r = store_bind(packing->store, s, packing->fault, "i",
                       (int64_t)sqlite3_column_int64(packing->regions, 0));
    while (r == 0 && (r = store_step(packing->store, s, packing->fault)) > 0) {
        int64_t value[13];
        for (int i = 0; i < 13; i++)
            value[i] = sqlite3_column_int64(s, i);
        struct store_site *site = vector_add(&sites->list);
        if (!site)
            return fault_set(packing->fault, -ENOMEM, "out of memory");
        *site = (struct store_site){
            .stack = value[0],
            .kind = value[1],
            .allocated = {value[2], value[3]},
            .peak = {value[4], value[5]},
            .end = {value[6], value[7]},
            .start = {value[8], value[9]},
            .temporary = value[10],
        };
        if (!store_sites_stack_is_sane(value[0]) || value[1] < 0 ||
            value[1] > STORE_SITE_KIND_MAX || !store_sites_adds_up(site, value[11], value[12]))
            r = damaged(packing);
        else
            r = 0;
    }
    return r;
}

static int pack_sites(struct packing *packing, struct store_set_place *last) {
    sqlite3_stmt *region = packing->regions;
    struct store_sites sites = STORE_SITES_NONE;
    struct store_set_place like = *last;
    int r = store_bind(packing->store, packing->before, packing->fault, "tii",
                       (const char *)sqlite3_column_text(region, 2),
                       (int64_t)sqlite3_column_int64(region, 6),
                       (int64_t)sqlite3_column_int64(region, 3));
    if (r == 0)
        r = store_step(packing->store, packing->before, packing->fault);
    if (r > 0)
        like = (struct store_set_place){sqlite3_column_int64(packing->before, 0),
                                        sqlite3_column_int64(packing->before, 1)};
    sqlite3_reset(packing->before);
    if (r >= 0)
        r = take_sites(packing, &sites);
    if (r == 0)
        r = store_sets_put(&packing->sets, &sites, like, last);
    if (r == 0)
        r = store_bind(packing->store, packing->place, packing->fault, "iii", last->id,
                       last->origin, (int64_t)sqlite3_column_int64(region, 0));
    if (r == 0)
        r = store_step(packing->store, packing->place, packing->fault);
    store_sites_finish(&sites);
    return r;
}

static int pack_timeline(struct packing *packing) {
    struct arena arena = {0};
    struct profile_region region = {0};
    struct store_series series = {0};
    int r = store_series_read_old_timeline(
        (const char *)sqlite3_column_text(packing->regions, 5), &arena, &region);
    if (r == 0)
        r = store_series_write(&region, &series);
    if (r < 0)
        r = r == -ENOMEM ? fault_set(packing->fault, r, "out of memory") : damaged(packing);
    if (r == 0)
        r = store_bind(packing->store, packing->timeline, packing->fault, "i",
                       (int64_t)sqlite3_column_int64(packing->regions, 0));
    if (r == 0 && sqlite3_bind_blob64(packing->timeline, 2, series.timeline,
                                      series.timeline_bytes, SQLITE_STATIC) != SQLITE_OK)
        r = store_fault(packing->store, NULL, packing->fault);
    if (r == 0)
        r = store_step(packing->store, packing->timeline, packing->fault);
    store_series_finish(&series);
    arena_finish(&arena);
    return r;
}

/* Sites and timelines leave tables of rows, and become packed. */
static int pack_all(struct store *store, struct fault *fault) {
    struct packing packing = {.store = store, .fault = fault};
    struct store_set_place last = {0};
    int64_t run = 0;
    int r = packing_open(&packing);
    while (r == 0 && (r = store_step(store, packing.regions, fault)) > 0) {
        if (sqlite3_column_int64(packing.regions, 1) != run)
            last = (struct store_set_place){0};
        run = sqlite3_column_int64(packing.regions, 1);
        r = sqlite3_column_int(packing.regions, 4) != 0 ? pack_sites(&packing, &last) : 0;
        if (r == 0 && sqlite3_column_type(packing.regions, 5) != SQLITE_NULL)
            r = pack_timeline(&packing);
    }
    sqlite3_finalize(packing.regions);
    sqlite3_finalize(packing.sites);
    sqlite3_finalize(packing.before);
    sqlite3_finalize(packing.place);
    sqlite3_finalize(packing.timeline);
    store_sets_close(&packing.sets);
    return r;
}

/* Version 3: origins of runs, functions once, sites in sets. */
static int migrate_to_3(struct store *store, struct fault *fault) {
    static const struct move moves[] = {
        {"benchmark", "id, name, parameters", "", "", ""},
        {"run",
         "id, uuid, set_uuid, repeat, benchmark_id, program, exe, cwd, command, host, kernel, "
         "machine, votrace_version, trace_uuid, parent_uuid, forked, inherited_freed, pid, "
         "parent_pid, start_ns, elapsed_ns, outcome, status, trace_end, stacks, depth_limit, "
         "stacks_truncated, cut, truncated, events_lost, unknown_frees, table_refused, "
         "file_refused, stacks_missing, stacks_other, forked_children, unbalanced_ends, "
         "regions_dropped, settings_ignored, malloc_elsewhere",
         ", cpu_model, cpu_count, libc, allocator, environment, commit_hash, commit_ns, "
         "branch, "
         "tree, pruned, max_rss, marked_regions, headline_region, headline_added",
         ", '', 0, '', '', NULL, '', 0, '', 'unknown', 0, 0, "
         "(SELECT count(*) FROM old_region WHERE run_id=old.id AND ordinal>0), "
         "coalesce((SELECT name " HEADLINE "), ''), "
         "coalesce((SELECT live_peak-live_start " HEADLINE "), 0)",
         ""},
        {"module", "id, path, build_id", "", "", ""},
        {"frame", "id, module_id, offset, level, line", ", symbol_id", ", symbol_id",
         "JOIN (SELECT id AS symbol_id, function, file FROM symbol) USING (function, file)"},
        {"stack", "id, parent_id, frame_id", "", "", "WHERE id<>0"},
        {"region",
         "id, run_id, ordinal, parent_ordinal, name, instance, thread, open, has_sites, "
         "begin_ns, end_ns, cpu_ns, combined_start, combined_peak, combined_end, peak_ns, "
         "usable_start, usable_peak, usable_end, sizes",
         ", site_set_id, stack_origin", ", NULL, 0", ""},
        {"region_total",
         "region_id, space, live_start, live_peak, live_end, start_blocks, end_blocks, "
         "allocations, frees, allocated_bytes, freed_bytes, temporary, largest_bytes, failed, "
         "reallocations, owned_peak",
         "", "", ""},
        {"region_site", NULL, NULL, NULL, NULL},
    };
    const size_t count = sizeof(moves) / sizeof(moves[0]);
    int r = store_execute(store,
                          "DROP VIEW IF EXISTS v_timeline; DROP INDEX run_by_benchmark;"
                          "DROP INDEX IF EXISTS run_by_trace; DROP INDEX IF EXISTS run_by_set",
                          fault);
    if (r == 0)
        r = put_aside(store, moves, count, fault);
    if (r == 0)
        r = store_create_schema(store, fault);
    if (r == 0)
        r = store_execute(store,
                          "INSERT INTO symbol (function, file) SELECT function, file FROM "
                          "old_frame GROUP BY function, file ORDER BY min(id)",
                          fault);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = moves[i].same ? fill(store, &moves[i], fault) : 0;
    if (r == 0)
        r = pack_all(store, fault);
    for (size_t i = count; r == 0 && i-- > 0;)
        r = drop(store, moves[i].table, fault);
    return r;
}

int store_migrate(struct store *store, struct fault *fault) {
    static int (*const steps[])(struct store *,
                                struct fault *) = {[1] = migrate_to_2, [2] = migrate_to_3};
    int64_t version;
    int r = store_number(store, "PRAGMA user_version", &version, fault);
    while (r == 0 && version >= 1 && version < STORE_VERSION)
        r = steps[version++](store, fault);
    return r;
}
