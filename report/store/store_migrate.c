/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_migrate.c: a store of an earlier version becomes one of this.
 *
 * SQLite cannot change a CHECK, and a table that was altered is not what schema.sql says. So all
 * tables are put aside, made anew from schema.sql, filled, and dropped: a store that was migrated
 * cannot be told from one that was always of this version. What an old version did not know gets
 * the value that says so. One numbered function for each version; all in one transaction.
 */
#include "store_sql.h"

#include <errno.h>
#include <inttypes.h>

/* A table, parents before children, and its columns: those of old, then what the new ones get. */
struct move {
    const char *table;
    const char *same;   /* columns that are as they were */
    const char *added;  /* ", column ..." or "" */
    const char *values; /* ", value ..." for them */
    const char *where;  /* rows that are not to be moved, or "" */
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
    char *sql = sqlite3_mprintf("INSERT INTO %s (%s%s) SELECT %s%s FROM old_%s %s", move->table,
                                move->same, move->added, move->same, move->values, move->table,
                                move->where);
    int r = sql ? store_execute(store, sql, fault) : fault_set(fault, -ENOMEM, "out of memory");
    sqlite3_free(sql);
    return r;
}

static int drop(struct store *store, const char *table, struct fault *fault) {
    char sql[64];
    sqlite3_snprintf(sizeof(sql), sql, "DROP TABLE old_%s", table);
    return store_execute(store, sql, fault);
}

/* Version 2: parents of forked children, regions of threads, sizes, timelines, usable bytes. */
static int migrate_to_2(struct store *store, struct fault *fault) {
    static const struct move moves[] = {
        {"benchmark", "id, name, parameters", "", "", ""},
        {"run",
         "id, uuid, set_uuid, repeat, benchmark_id, program, exe, cwd, command, host, kernel, "
         "machine, votrace_version, pid, start_ns, elapsed_ns, outcome, status, trace_end, "
         "stacks, depth_limit, stacks_truncated, cut, truncated, events_lost, unknown_frees, "
         "table_refused, file_refused, stacks_missing, stacks_other, forked_children, "
         "unbalanced_ends, regions_dropped, settings_ignored",
         ", trace_uuid, parent_uuid, forked, inherited_freed, parent_pid, malloc_elsewhere",
         ", '', '', 0, 0, 0, 0", ""},
        {"module", "id, path, build_id", "", "", ""},
        {"frame", "id, module_id, offset, level, function, file, line", "", "", ""},
        {"stack", "id, parent_id, frame_id", "", "", "WHERE id<>0"},
        {"region",
         "id, run_id, ordinal, parent_ordinal, name, instance, open, has_sites, begin_ns, "
         "end_ns, cpu_ns, combined_start, combined_peak, combined_end",
         ", thread, peak_ns",
         /* No earlier than the begin, no later than the end: that is all that is known. */
         ", 0, max(begin_ns, CASE open WHEN 0 THEN end_ns ELSE (SELECT elapsed_ns FROM old_run "
         "WHERE old_run.id=run_id) END)",
         ""},
        {"region_total",
         "region_id, space, live_start, live_peak, live_end, start_blocks, end_blocks, "
         "allocations, frees, allocated_bytes, freed_bytes, temporary, largest_bytes, failed, "
         "reallocations, owned_peak",
         "", "", ""},
        {"region_site",
         "region_id, space, stack_id, flags, allocated_blocks, allocated_bytes, freed_blocks, "
         "freed_bytes, start_blocks, start_bytes, peak_blocks, peak_bytes, end_blocks, "
         "end_bytes, temporary",
         "", "", ""},
    };
    const size_t count = sizeof(moves) / sizeof(moves[0]);
    int r = store_execute(store, "DROP INDEX run_by_benchmark", fault);
    if (r == 0)
        r = put_aside(store, moves, count, fault);
    if (r == 0)
        r = store_create_schema(store, fault);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = fill(store, &moves[i], fault);
    for (size_t i = count; r == 0 && i-- > 0;)
        r = drop(store, moves[i].table, fault);
    return r;
}

int store_migrate(struct store *store, struct fault *fault) {
    static int (*const steps[])(struct store *, struct fault *) = {[1] = migrate_to_2};
    int64_t version;
    int r = store_number(store, "PRAGMA user_version", &version, fault);
    while (r == 0 && version >= 1 && version < STORE_VERSION)
        r = steps[version++](store, fault);
    return r;
}
