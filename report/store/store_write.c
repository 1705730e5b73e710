/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_write.c: runs into the store, in one transaction.
 *
 * Modules, functions, frames and stacks are looked up before they are inserted, so that every
 * run of the file shares them. Ids of the profile become ids of the file through three small
 * maps.
 */
#include "store_writer.h"

#include "json.h"
#include "textstream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const statement_sql[WRITER_STATEMENTS] = {
    [FIND_BENCHMARK] = "SELECT id FROM benchmark WHERE name=?1 AND parameters=?2",
    [ADD_BENCHMARK] = "INSERT INTO benchmark (name, parameters) VALUES (?1, ?2)",
    /* A process that was stored while it ran may be stored again. */
    [FIND_TWIN] = "SELECT id FROM run WHERE benchmark_id=?1 AND host=?2 AND pid=?3 AND "
                  "start_ns=?4 AND trace_end<>'snapshot'",
    /* Whose sites those of the next run are likely to be like. */
    [FIND_BEFORE] = "SELECT max(id) FROM run WHERE benchmark_id=?1 AND pruned=0",
    [ADD_RUN] =
        "INSERT INTO run (uuid, set_uuid, repeat, benchmark_id, program, exe, cwd, "
        "command, host, kernel, machine, cpu_model, cpu_count, libc, allocator, "
        "environment, commit_hash, commit_ns, branch, tree, votrace_version, "
        "trace_uuid, parent_uuid, forked, inherited_freed, pid, parent_pid, start_ns, "
        "elapsed_ns, max_rss, outcome, status, trace_end, stacks, depth_limit, "
        "stacks_truncated, "
        "cut, truncated, events_lost, unknown_frees, table_refused, file_refused, "
        "stacks_missing, stacks_other, forked_children, unbalanced_ends, "
        "regions_dropped, settings_ignored, malloc_elsewhere, headline_region, "
        "headline_added, marked_regions, pruned)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,? "
        ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [FIND_MODULE] = "SELECT id FROM module WHERE path=?1 AND build_id=?2",
    [ADD_MODULE] = "INSERT INTO module (path, build_id) VALUES (?1, ?2)",
    [FIND_SYMBOL] = "SELECT id FROM symbol WHERE function=?1 AND file=?2",
    [ADD_SYMBOL] = "INSERT INTO symbol (function, file) VALUES (?1, ?2)",
    [FIND_FRAME] = "SELECT id FROM frame WHERE module_id=?1 AND offset=?2 AND level=?3 AND "
                   "symbol_id=?4 AND line=?5",
    [ADD_FRAME] = "INSERT INTO frame (module_id, offset, level, symbol_id, line) "
                  "VALUES (?1,?2,?3,?4,?5)",
    [FIND_STACK] = "SELECT id FROM stack WHERE parent_id=?1 AND frame_id=?2",
    [ADD_STACK] = "INSERT INTO stack (parent_id, frame_id) VALUES (?1, ?2)",
    [FIND_LIKE] = "SELECT site_set_id, stack_origin FROM region WHERE name=?1 AND run_id=?2 "
                  "AND instance=?3 AND site_set_id IS NOT NULL",
    [ADD_REGION] =
        "INSERT INTO region (run_id, ordinal, parent_ordinal, name, instance, thread, open, "
        "has_sites, begin_ns, end_ns, cpu_ns, combined_start, combined_peak, combined_end, "
        "peak_ns, usable_start, usable_peak, usable_end, sizes, site_set_id, stack_origin) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ADD_TIMELINE] = "INSERT INTO region_timeline (region_id, packed) VALUES (?1, ?2)",
    [ADD_TOTAL] =
        "INSERT INTO region_total (region_id, space, live_start, live_peak, live_end, "
        "start_blocks, end_blocks, allocations, frees, allocated_bytes, freed_bytes, "
        "temporary, "
        "largest_bytes, failed, reallocations, owned_peak) "
        "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)",
};

int store_writer_insert(struct store_writer *writer, enum writer_statement which,
                        int64_t *ret_id) {
    int r = store_step(writer->store, writer->statements[which], writer->fault);
    if (r < 0)
        return r;
    *ret_id = sqlite3_last_insert_rowid(writer->store->db);
    return 0;
}

int store_writer_find(struct store_writer *writer, enum writer_statement which,
                      int64_t *ret_id) {
    int r = store_step(writer->store, writer->statements[which], writer->fault);
    if (r < 0)
        return r;
    *ret_id = r > 0 ? sqlite3_column_int64(writer->statements[which], 0) : 0;
    sqlite3_reset(writer->statements[which]);
    return 0;
}

/* Find the row with these key columns (see store_bind()), or add it. */
static int find_or_add(struct store_writer *writer, enum writer_statement find_it,
                       enum writer_statement add_it, int64_t *ret_id, const char *types, ...) {
    va_list values;
    va_start(values, types);
    int r = store_bind_list(writer->store, writer->statements[find_it], writer->fault, types,
                            values);
    va_end(values);
    if (r == 0)
        r = store_writer_find(writer, find_it, ret_id);
    if (r < 0 || *ret_id != 0)
        return r;
    va_start(values, types);
    r = store_bind_list(writer->store, writer->statements[add_it], writer->fault, types,
                        values);
    va_end(values);
    return r < 0 ? r : store_writer_insert(writer, add_it, ret_id);
}

/* What becomes JSON in the row of a run. free() both. */
struct run_texts {
    char *parameters;
    char *command;
};

static int texts_make(const struct run *run, struct run_texts *texts) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return -ENOMEM;
    struct json json = {.stream = stream, .compact = true};
    json_begin(&json, NULL, '{');
    for (size_t i = 0; i < run->param_count; i++)
        json_text(&json, run->params[i].key, run->params[i].value);
    json_end(&json, '}');
    texts->parameters = textstream_take(&text);

    stream = textstream_begin(&text);
    if (!stream)
        return -ENOMEM;
    json = (struct json){.stream = stream, .compact = true};
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < run->profile.argument_count; i++)
        json_text(&json, NULL, run->profile.arguments[i]);
    json_end(&json, ']');
    texts->command = textstream_take(&text);
    return texts->parameters && texts->command ? 0 : -ENOMEM;
}

/* The same trace twice would count one measurement as two. */
static int refuse_twin(struct store_writer *writer, const struct run *run, int64_t benchmark) {
    const struct profile *profile = &run->profile;
    int64_t twin = 0;
    int r = WRITER_BIND(writer, FIND_TWIN, "itii", benchmark, run->host, (int64_t)profile->pid,
                        profile->start_realtime_ns);
    if (r == 0)
        r = store_writer_find(writer, FIND_TWIN, &twin);
    if (r < 0 || twin == 0)
        return r;
    return fault_set(writer->fault, -EEXIST,
                     "the trace of process %" PRIu32 " (%s) is stored already, as run %" PRId64,
                     profile->pid, profile->program, twin);
}

struct store_headline store_headline_of(const struct run *run) {
    const struct profile *profile = &run->profile;
    const struct profile_region *best = NULL;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        if (i <= 1 || profile_peak_added(&region->totals[TRACE_HEAP]) >
                          profile_peak_added(&best->totals[TRACE_HEAP]))
            best = region;
    }
    return (struct store_headline){
        .region = best ? best->name : "",
        .added = best ? profile_peak_added(&best->totals[TRACE_HEAP]) : 0,
        .marked = best ? (int64_t)profile->region_count - 1 : 0,
    };
}

static int write_run_row(struct store_writer *writer, const struct run *run, int64_t benchmark,
                         const char *command, int64_t *ret_id) {
    const struct profile *profile = &run->profile;
    const struct origin *origin = &run->origin;
    const struct store_headline headline = store_headline_of(run);
    const char *environment = origin->environment[0] != '\0' ? origin->environment : NULL;
    _Static_assert(PROFILE_GAPS == 11, "a column for each gap");
    int r = WRITER_BIND(
        writer, ADD_RUN,
        "ttiitttttttt"
        "itttti"
        "ttttt"
        "iiiiiiititt"
        "iiii"
        "iiiiiiiiiii"
        "tiii",
        run->uuid, run->set_uuid, (int64_t)run->repeat, benchmark, profile->program,
        profile->exe, profile->cwd, command, run->host, run->kernel, run->machine,
        origin->cpu_model, (int64_t)origin->cpu_count, origin->libc, origin->allocator,
        environment, origin->commit, origin->commit_time_ns, origin->branch,
        store_tree_names[origin->tree], profile->votrace_version, profile->uuid,
        profile->parent_uuid, (int64_t)profile->forked, profile->inherited_freed,
        (int64_t)profile->pid, (int64_t)profile->parent_pid, profile->start_realtime_ns,
        profile->elapsed_ns, run->max_rss_bytes, store_outcome_names[run->outcome],
        (int64_t)run->status, store_end_names[profile->end],
        store_stacks_names[profile->stacks], (int64_t)profile->depth_limit,
        profile->stacks_truncated, (int64_t)profile->cut, (int64_t)profile->truncated,
        profile->gaps[0], profile->gaps[1], profile->gaps[2], profile->gaps[3],
        profile->gaps[4], profile->gaps[5], profile->gaps[6], profile->gaps[7],
        profile->gaps[8], profile->gaps[9], profile->gaps[10], headline.region, headline.added,
        headline.marked, (int64_t)run->pruned);
    return r < 0 ? r : store_writer_insert(writer, ADD_RUN, ret_id);
}

static int write_run(struct store_writer *writer, const struct run *run, int64_t *ret_id) {
    struct run_texts texts = {0};
    int64_t benchmark;
    int r = texts_make(run, &texts);
    if (r < 0)
        fault_set(writer->fault, r, "out of memory");
    if (r == 0)
        r = find_or_add(writer, FIND_BENCHMARK, ADD_BENCHMARK, &benchmark, "tt", run->benchmark,
                        texts.parameters);
    if (r == 0)
        r = refuse_twin(writer, run, benchmark);
    if (r == 0)
        r = WRITER_BIND(writer, FIND_BEFORE, "i", benchmark);
    if (r == 0)
        r = store_writer_find(writer, FIND_BEFORE, &writer->run_before);
    if (r == 0)
        r = write_run_row(writer, run, benchmark, texts.command, ret_id);
    free(texts.parameters);
    free(texts.command);
    return r;
}

static int write_stacks(struct store_writer *writer, const struct profile *profile) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < profile->module_count; i++)
        r = find_or_add(writer, FIND_MODULE, ADD_MODULE, &writer->modules[i], "tt",
                        profile->modules[i].path, profile->modules[i].build_id);
    for (size_t i = 0; r == 0 && i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        int64_t symbol;
        r = find_or_add(writer, FIND_SYMBOL, ADD_SYMBOL, &symbol, "tt", frame->function,
                        frame->file);
        if (r == 0)
            r = find_or_add(writer, FIND_FRAME, ADD_FRAME, &writer->frames[i], "iiiii",
                            writer->modules[frame->module], (int64_t)frame->offset,
                            (int64_t)frame->level, symbol, (int64_t)frame->lineno);
    }
    for (size_t i = 1; r == 0 && i < profile->node_count; i++)
        r = find_or_add(writer, FIND_STACK, ADD_STACK, &writer->nodes[i], "ii",
                        writer->nodes[profile->nodes[i].parent],
                        writer->frames[profile->nodes[i].frame]);
    return r;
}

int store_writer_put(struct store_writer *writer, const struct run *run, int64_t *ret_id) {
    const struct profile *profile = &run->profile;
    writer->modules = calloc(profile->module_count + 1, sizeof(*writer->modules));
    writer->frames = calloc(profile->frame_count + 1, sizeof(*writer->frames));
    writer->nodes = calloc(profile->node_count + 1, sizeof(*writer->nodes));
    writer->last = (struct store_set_place){0};
    int r = writer->modules && writer->frames && writer->nodes
                ? write_run(writer, run, ret_id)
                : fault_set(writer->fault, -ENOMEM, "out of memory");
    if (r == 0)
        r = write_stacks(writer, profile);
    for (size_t i = 0; r == 0 && i < profile->region_count; i++)
        r = store_writer_put_region(writer, profile, i, *ret_id);

    free(writer->modules);
    free(writer->frames);
    free(writer->nodes);
    writer->modules = writer->frames = writer->nodes = NULL;
    return r;
}

static int writer_prepare(struct store_writer *writer) {
    /* Asked again inside the transaction: another import may have made the schema meanwhile. */
    int r = store_check_kind(writer->store, writer->fault);
    if (r == STORE_IS_EMPTY)
        r = store_create_schema(writer->store, writer->fault);
    else if (r == STORE_IS_OLD)
        r = store_migrate(writer->store, writer->fault);
    for (size_t i = 0; r == 0 && i < WRITER_STATEMENTS; i++)
        r = store_prepare(writer->store, statement_sql[i], &writer->statements[i],
                          writer->fault);
    return r == 0 ? store_sets_open(&writer->sets, writer->store, writer->fault) : r;
}

int store_writer_open(struct store_writer *writer, struct store *store, struct fault *fault) {
    *writer = (struct store_writer){.store = store, .fault = fault};
    store_journal_begin(store);
    int r = store_execute(store, "BEGIN IMMEDIATE", fault);
    if (r < 0)
        return r;
    r = writer_prepare(writer);
    return r < 0 ? store_writer_close(writer, r) : 0;
}

int store_writer_close(struct store_writer *writer, int status) {
    struct store *store = writer->store;
    for (size_t i = 0; i < WRITER_STATEMENTS; i++)
        sqlite3_finalize(writer->statements[i]);
    store_sets_close(&writer->sets);
    if (status == 0)
        status = store_execute(store, "COMMIT", writer->fault);
    if (status < 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static int refuse_known(struct store_writer *writer, const struct run *run) {
    struct run_texts texts = {0};
    int64_t benchmark = 0;
    int r = texts_make(run, &texts);
    if (r < 0)
        fault_set(writer->fault, r, "out of memory");
    if (r == 0)
        r = WRITER_BIND(writer, FIND_BENCHMARK, "tt", run->benchmark, texts.parameters);
    if (r == 0)
        r = store_writer_find(writer, FIND_BENCHMARK, &benchmark);
    if (r == 0 && benchmark != 0)
        r = refuse_twin(writer, run, benchmark);
    free(texts.parameters);
    free(texts.command);
    return r;
}

/*
 * Before anything is written: what is refused is to leave the file as it was to the byte, and to
 * switch its log on writes its header. Asked again for each run inside the transaction.
 */
static int refuse_all_known(struct store *store, struct run *const *runs, size_t count,
                            struct fault *fault) {
    static const enum writer_statement needed[] = {FIND_BENCHMARK, FIND_TWIN};
    struct store_writer writer = {.store = store, .fault = fault};
    int r = store_check_kind(store, fault);
    if (r < 0 || r == STORE_IS_EMPTY)
        return r < 0 ? r : 0;
    r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(needed) / sizeof(needed[0]); i++)
        r = store_prepare(store, statement_sql[needed[i]], &writer.statements[needed[i]],
                          fault);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = refuse_known(&writer, runs[i]);
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        sqlite3_finalize(writer.statements[needed[i]]);
    return r;
}

int store_add(struct store *store, struct run *const *runs, size_t count, struct fault *fault) {
    struct store_writer writer;
    int64_t *ids = calloc(count, sizeof(*ids));
    if (!ids)
        return fault_set(fault, -ENOMEM, "out of memory");
    int r = refuse_all_known(store, runs, count, fault);
    if (r == 0)
        r = store_writer_open(&writer, store, fault);
    if (r == 0) {
        for (size_t i = 0; r == 0 && i < count; i++)
            r = store_writer_put(&writer, runs[i], &ids[i]);
        r = store_writer_close(&writer, r);
    }
    for (size_t i = 0; r == 0 && i < count; i++)
        runs[i]->id = ids[i];
    free(ids);
    return r;
}
