/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_write.c: runs into the store, in one transaction.
 *
 * Modules, frames and stacks are looked up before they are inserted, so that every run of the
 * file shares them. Ids of the profile become ids of the file through three small maps.
 */
#include "store_sql.h"

#include "json.h"
#include "store_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum statement {
    FIND_BENCHMARK,
    ADD_BENCHMARK,
    FIND_TWIN,
    ADD_RUN,
    FIND_MODULE,
    ADD_MODULE,
    FIND_FRAME,
    ADD_FRAME,
    FIND_STACK,
    ADD_STACK,
    ADD_REGION,
    ADD_TOTAL,
    ADD_SITE,
    STATEMENTS,
};

static const char *const statement_sql[STATEMENTS] = {
    [FIND_BENCHMARK] = "SELECT id FROM benchmark WHERE name=?1 AND parameters=?2",
    [ADD_BENCHMARK] = "INSERT INTO benchmark (name, parameters) VALUES (?1, ?2)",
    /* A process that was stored while it ran may be stored again. */
    [FIND_TWIN] = "SELECT id FROM run WHERE benchmark_id=?1 AND host=?2 AND pid=?3 AND "
                  "start_ns=?4 AND trace_end<>'snapshot'",
    [ADD_RUN] =
        "INSERT INTO run (uuid, set_uuid, repeat, benchmark_id, program, exe, cwd, command, "
        "host, kernel, machine, votrace_version, trace_uuid, parent_uuid, forked, "
        "inherited_freed, pid, parent_pid, start_ns, elapsed_ns, outcome, status, "
        "trace_end, stacks, depth_limit, stacks_truncated, cut, truncated, events_lost, "
        "unknown_frees, table_refused, file_refused, stacks_missing, stacks_other, "
        "forked_children, unbalanced_ends, regions_dropped, settings_ignored, "
        "malloc_elsewhere) "
        "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,"
        "?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32,?33,?34,?35,?36,?37,?38,?39)",
    [FIND_MODULE] = "SELECT id FROM module WHERE path=?1 AND build_id=?2",
    [ADD_MODULE] = "INSERT INTO module (path, build_id) VALUES (?1, ?2)",
    [FIND_FRAME] = "SELECT id FROM frame WHERE module_id=?1 AND offset=?2 AND level=?3 AND "
                   "function=?4 AND file=?5 AND line=?6",
    [ADD_FRAME] = "INSERT INTO frame (module_id, offset, level, function, file, line) "
                  "VALUES (?1,?2,?3,?4,?5,?6)",
    [FIND_STACK] = "SELECT id FROM stack WHERE parent_id=?1 AND frame_id=?2",
    [ADD_STACK] = "INSERT INTO stack (parent_id, frame_id) VALUES (?1, ?2)",
    [ADD_REGION] =
        "INSERT INTO region (run_id, ordinal, parent_ordinal, name, instance, thread, open, "
        "has_sites, begin_ns, end_ns, cpu_ns, combined_start, combined_peak, combined_end, "
        "peak_ns, usable_start, usable_peak, usable_end, sizes, timeline) "
        "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20)",
    [ADD_TOTAL] =
        "INSERT INTO region_total (region_id, space, live_start, live_peak, live_end, "
        "start_blocks, end_blocks, allocations, frees, allocated_bytes, freed_bytes, "
        "temporary, "
        "largest_bytes, failed, reallocations, owned_peak) "
        "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)",
    /* Two sites of a trace are one here when a module was unloaded and loaded elsewhere. */
    [ADD_SITE] =
        "INSERT INTO region_site (region_id, space, stack_id, flags, allocated_blocks, "
        "allocated_bytes, freed_blocks, freed_bytes, start_blocks, start_bytes, peak_blocks, "
        "peak_bytes, end_blocks, end_bytes, temporary) "
        "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15) "
        "ON CONFLICT DO UPDATE SET "
        "allocated_blocks=allocated_blocks+excluded.allocated_blocks, "
        "allocated_bytes=allocated_bytes+excluded.allocated_bytes, "
        "freed_blocks=freed_blocks+excluded.freed_blocks, "
        "freed_bytes=freed_bytes+excluded.freed_bytes, "
        "start_blocks=start_blocks+excluded.start_blocks, "
        "start_bytes=start_bytes+excluded.start_bytes, "
        "peak_blocks=peak_blocks+excluded.peak_blocks, "
        "peak_bytes=peak_bytes+excluded.peak_bytes, "
        "end_blocks=end_blocks+excluded.end_blocks, "
        "end_bytes=end_bytes+excluded.end_bytes, "
        "temporary=temporary+excluded.temporary",
};

struct writer {
    struct store *store;
    struct fault *fault;
    sqlite3_stmt *statements[STATEMENTS];
    int64_t *modules; /* profile's number -> store's id */
    int64_t *frames;
    int64_t *nodes;
    char *parameters;
    char *command;
};

#define WRITER_BIND(writer, which, ...)                                                        \
    store_bind((writer)->store, (writer)->statements[which], (writer)->fault, __VA_ARGS__)

static int insert(struct writer *writer, enum statement which, int64_t *ret_id) {
    int r = store_step(writer->store, writer->statements[which], writer->fault);
    if (r < 0)
        return r;
    *ret_id = sqlite3_last_insert_rowid(writer->store->db);
    return 0;
}

/* The row whose key was bound to @find, or 0. */
static int find(struct writer *writer, enum statement which, int64_t *ret_id) {
    int r = store_step(writer->store, writer->statements[which], writer->fault);
    if (r < 0)
        return r;
    *ret_id = r > 0 ? sqlite3_column_int64(writer->statements[which], 0) : 0;
    sqlite3_reset(writer->statements[which]);
    return 0;
}

/* Find the row with these key columns (see store_bind()), or add it. */
static int find_or_add(struct writer *writer, enum statement find_it, enum statement add_it,
                       int64_t *ret_id, const char *types, ...) {
    va_list values;
    va_start(values, types);
    int r = store_bind_list(writer->store, writer->statements[find_it], writer->fault, types,
                            values);
    va_end(values);
    if (r == 0)
        r = find(writer, find_it, ret_id);
    if (r < 0 || *ret_id != 0)
        return r;
    va_start(values, types);
    r = store_bind_list(writer->store, writer->statements[add_it], writer->fault, types,
                        values);
    va_end(values);
    return r < 0 ? r : insert(writer, add_it, ret_id);
}

static int texts_make(struct writer *writer, const struct run *run) {
    size_t size;
    FILE *stream = open_memstream(&writer->parameters, &size);
    if (!stream)
        return -ENOMEM;
    struct json json = {.stream = stream, .compact = true};
    json_begin(&json, NULL, '{');
    for (size_t i = 0; i < run->param_count; i++)
        json_text(&json, run->params[i].key, run->params[i].value);
    json_end(&json, '}');
    if (fclose(stream) != 0)
        return -ENOMEM;

    stream = open_memstream(&writer->command, &size);
    if (!stream)
        return -ENOMEM;
    json = (struct json){.stream = stream, .compact = true};
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < run->profile.argument_count; i++)
        json_text(&json, NULL, run->profile.arguments[i]);
    json_end(&json, ']');
    return fclose(stream) == 0 ? 0 : -ENOMEM;
}

/* The same trace twice would count one measurement as two. */
static int refuse_twin(struct writer *writer, const struct run *run, int64_t benchmark) {
    const struct profile *profile = &run->profile;
    int64_t twin = 0;
    int r = WRITER_BIND(writer, FIND_TWIN, "itii", benchmark, run->host, (int64_t)profile->pid,
                        profile->start_realtime_ns);
    if (r == 0)
        r = find(writer, FIND_TWIN, &twin);
    if (r < 0 || twin == 0)
        return r;
    return fault_set(writer->fault, -EEXIST,
                     "the trace of process %" PRIu32 " (%s) is stored already, as run %" PRId64,
                     profile->pid, profile->program, twin);
}

static int write_run(struct writer *writer, const struct run *run, int64_t *ret_id) {
    const struct profile *profile = &run->profile;
    int64_t benchmark;
    int r = find_or_add(writer, FIND_BENCHMARK, ADD_BENCHMARK, &benchmark, "tt", run->benchmark,
                        writer->parameters);
    if (r == 0)
        r = refuse_twin(writer, run, benchmark);
    if (r < 0)
        return r;
    r = WRITER_BIND(
        writer, ADD_RUN, "ttiittttttttttiiiiiitittiiiiiiiiiiiiiii", run->uuid, run->set_uuid,
        (int64_t)run->repeat, benchmark, profile->program, profile->exe, profile->cwd,
        writer->command, run->host, run->kernel, run->machine, profile->votrace_version,
        profile->uuid, profile->parent_uuid, (int64_t)profile->forked, profile->inherited_freed,
        (int64_t)profile->pid, (int64_t)profile->parent_pid, profile->start_realtime_ns,
        profile->elapsed_ns, store_outcome_names[run->outcome], (int64_t)run->status,
        store_end_names[profile->end], store_stacks_names[profile->stacks],
        (int64_t)profile->depth_limit, profile->stacks_truncated, (int64_t)profile->cut,
        (int64_t)profile->truncated, profile->gaps[0], profile->gaps[1], profile->gaps[2],
        profile->gaps[3], profile->gaps[4], profile->gaps[5], profile->gaps[6],
        profile->gaps[7], profile->gaps[8], profile->gaps[9], profile->gaps[10]);
    _Static_assert(PROFILE_GAPS == 11, "a column for each gap");
    return r < 0 ? r : insert(writer, ADD_RUN, ret_id);
}

static int write_stacks(struct writer *writer, const struct profile *profile) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < profile->module_count; i++)
        r = find_or_add(writer, FIND_MODULE, ADD_MODULE, &writer->modules[i], "tt",
                        profile->modules[i].path, profile->modules[i].build_id);
    for (size_t i = 0; r == 0 && i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        r = find_or_add(writer, FIND_FRAME, ADD_FRAME, &writer->frames[i], "iiitti",
                        writer->modules[frame->module], (int64_t)frame->offset,
                        (int64_t)frame->level, frame->function, frame->file,
                        (int64_t)frame->lineno);
    }
    for (size_t i = 1; r == 0 && i < profile->node_count; i++)
        r = find_or_add(writer, FIND_STACK, ADD_STACK, &writer->nodes[i], "ii",
                        writer->nodes[profile->nodes[i].parent],
                        writer->frames[profile->nodes[i].frame]);
    return r;
}

static bool totals_are_empty(const struct profile_totals *totals) {
    return totals->peak_bytes == 0 && totals->allocated.blocks == 0 &&
           totals->freed.blocks == 0 && totals->start.blocks == 0 && totals->failed == 0;
}

static int write_totals(struct writer *writer, int64_t region_id, size_t space,
                        const struct profile_totals *t) {
    int64_t id;
    int r = WRITER_BIND(writer, ADD_TOTAL, "itiiiiiiiiiiiiii", region_id,
                        store_space_names[space], t->start.bytes, t->peak_bytes, t->end.bytes,
                        t->start.blocks, t->end.blocks, t->allocated.blocks, t->freed.blocks,
                        t->allocated.bytes, t->freed.bytes, t->temporary, t->largest_bytes,
                        t->failed, t->reallocations, t->owned_peak_bytes);
    return r < 0 ? r : insert(writer, ADD_TOTAL, &id);
}

static int write_row(struct writer *writer, int64_t region_id, const struct profile_site *site,
                     const struct profile_row *row) {
    int64_t id;
    int r = WRITER_BIND(writer, ADD_SITE, "itiiiiiiiiiiiii", region_id,
                        store_space_names[site->space], writer->nodes[site->node],
                        (int64_t)site->flags, row->allocated.blocks, row->allocated.bytes,
                        row->freed.blocks, row->freed.bytes, row->start.blocks,
                        row->start.bytes, row->peak.blocks, row->peak.bytes, row->end.blocks,
                        row->end.bytes, row->temporary);
    return r < 0 ? r : insert(writer, ADD_SITE, &id);
}

static int write_region_row(struct writer *writer, const struct profile_region *region,
                            size_t ordinal, int64_t run_id, int64_t *ret_id) {
    struct store_series series;
    if (store_series_write(region, &series) < 0)
        return fault_set(writer->fault, -ENOMEM, "out of memory");
    bool known = region->usable_is_known;
    int r = WRITER_BIND(
        writer, ADD_REGION, "iiitiiiiiiiiiiiooott", run_id, (int64_t)ordinal,
        (int64_t)region->parent, region->name, (int64_t)region->instance,
        (int64_t)region->thread, (int64_t)region->open, (int64_t)region->has_rows,
        region->begin_elapsed_ns, region->end_elapsed_ns, region->cpu_ns,
        region->combined_start_bytes, region->combined_peak_bytes, region->combined_end_bytes,
        region->peak_elapsed_ns, known ? &region->usable_start_bytes : NULL,
        known ? &region->usable_peak_bytes : NULL, known ? &region->usable_end_bytes : NULL,
        series.sizes, series.timeline);
    if (r == 0)
        r = insert(writer, ADD_REGION, ret_id);
    store_series_finish(&series);
    return r;
}

static int write_region(struct writer *writer, const struct profile *profile, size_t ordinal,
                        int64_t run_id) {
    const struct profile_region *region = &profile->regions[ordinal];
    int64_t id = 0;
    int r = write_region_row(writer, region, ordinal, run_id, &id);
    for (size_t space = 0; r == 0 && space < TRACE_SPACES; space++)
        if (space == TRACE_HEAP || !totals_are_empty(&region->totals[space]))
            r = write_totals(writer, id, space, &region->totals[space]);
    for (size_t i = 0; r == 0 && i < region->rows_count; i++)
        r = write_row(writer, id, &profile->sites[region->rows[i].site], &region->rows[i]);
    return r;
}

static int write_one(struct writer *writer, const struct run *run, int64_t *ret_id) {
    const struct profile *profile = &run->profile;
    writer->modules = calloc(profile->module_count + 1, sizeof(*writer->modules));
    writer->frames = calloc(profile->frame_count + 1, sizeof(*writer->frames));
    writer->nodes = calloc(profile->node_count + 1, sizeof(*writer->nodes));
    int r =
        writer->modules && writer->frames && writer->nodes ? texts_make(writer, run) : -ENOMEM;
    if (r < 0)
        fault_set(writer->fault, r, "out of memory");
    if (r == 0)
        r = write_run(writer, run, ret_id);
    if (r == 0)
        r = write_stacks(writer, profile);
    for (size_t i = 0; r == 0 && i < profile->region_count; i++)
        r = write_region(writer, profile, i, *ret_id);

    free(writer->modules);
    free(writer->frames);
    free(writer->nodes);
    free(writer->parameters);
    free(writer->command);
    writer->modules = writer->frames = writer->nodes = NULL;
    writer->parameters = writer->command = NULL;
    return r;
}

static int writer_init(struct writer *writer) {
    /* Asked again inside the transaction: another import may have made the schema meanwhile. */
    int r = store_check_kind(writer->store, writer->fault);
    if (r == STORE_IS_EMPTY)
        r = store_create_schema(writer->store, writer->fault);
    else if (r == STORE_IS_OLD)
        r = store_migrate(writer->store, writer->fault);
    for (size_t i = 0; r == 0 && i < STATEMENTS; i++)
        r = store_prepare(writer->store, statement_sql[i], &writer->statements[i],
                          writer->fault);
    return r;
}

int store_add(struct store *store, struct run *const *runs, size_t count, struct fault *fault) {
    struct writer writer = {.store = store, .fault = fault};
    int64_t *ids = calloc(count, sizeof(*ids));
    if (!ids)
        return fault_set(fault, -ENOMEM, "out of memory");
    int r = store_execute(store, "BEGIN IMMEDIATE", fault);
    if (r < 0) {
        free(ids);
        return r;
    }
    r = writer_init(&writer);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = write_one(&writer, runs[i], &ids[i]);
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(writer.statements[i]);
    if (r == 0)
        r = store_execute(store, "COMMIT", fault);
    if (r < 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    for (size_t i = 0; r == 0 && i < count; i++)
        runs[i]->id = ids[i];
    free(ids);
    return r;
}
