/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_read.c: runs out of the store, without their tables: what a listing needs.
 *
 * A store is checked like a trace: words and numbers of the wrong kind are refused, because the
 * file may have been edited or come from anywhere.
 */
#include "store_reader.h"

#include "vector.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Columns of a run that a listing needs, too; run_columns_take() reads them in this order. */
#define RUN_COLUMNS                                                                            \
    "run.id, uuid, set_uuid, repeat, benchmark.name, parameters, program, exe, cwd, command, " \
    "host, kernel, machine, votrace_version, pid, start_ns, elapsed_ns, outcome, status, "     \
    "trace_end, run.stacks, depth_limit, stacks_truncated, cut, truncated, events_lost, "      \
    "unknown_frees, table_refused, file_refused, stacks_missing, stacks_other, "               \
    "forked_children, unbalanced_ends, regions_dropped, settings_ignored, malloc_elsewhere, "  \
    "trace_uuid, parent_uuid, forked, inherited_freed, parent_pid, "                           \
    "coalesce((SELECT max(id) FROM run AS parent WHERE parent.trace_uuid=run.parent_uuid AND " \
    "run.parent_uuid<>''), (SELECT max(id) FROM run AS parent WHERE "                          \
    "parent.set_uuid=run.set_uuid "                                                            \
    "AND parent.pid=run.parent_pid AND parent.host=run.host AND parent.id<>run.id)), "         \
    "cpu_model, cpu_count, libc, allocator, environment, commit_hash, commit_ns, branch, "     \
    "tree, pruned, max_rss"

#define FIRST_GAP_COLUMN 25
#define LINEAGE_COLUMN   (FIRST_GAP_COLUMN + PROFILE_GAPS) /* trace_uuid and what follows */
#define ORIGIN_COLUMN    (LINEAGE_COLUMN + 6)              /* cpu_model and what follows */
#define RUN_COLUMN_COUNT (ORIGIN_COLUMN + 11)

int store_damaged(struct store_reader *reader, const char *what) {
    return fault_set(reader->fault, -EBADMSG, "the store is damaged: %s", what);
}

int store_no_memory(struct store_reader *reader) {
    return fault_set(reader->fault, -ENOMEM, "out of memory");
}

const char *store_text(struct arena *arena, sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? arena_text(arena, text, strlen(text)) : arena_text(arena, "", 0);
}

int store_word(sqlite3_stmt *statement, int column, const char *const *words, int count) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    for (int i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

bool store_uint32(sqlite3_stmt *statement, int column, uint32_t *ret) {
    int64_t value = sqlite3_column_int64(statement, column);
    if (value < 0 || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    return true;
}

static bool run_texts_take(sqlite3_stmt *s, struct arena *arena, struct run *run) {
    struct profile *profile = &run->profile;
    const struct {
        const char **text;
        int column;
    } texts[] = {
        {&run->benchmark, 4},
        {&profile->program, 6},
        {&profile->exe, 7},
        {&profile->cwd, 8},
        {&run->host, 10},
        {&run->kernel, 11},
        {&run->machine, 12},
        {&profile->votrace_version, 13},
        {&run->origin.cpu_model, ORIGIN_COLUMN},
        {&run->origin.libc, ORIGIN_COLUMN + 2},
        {&run->origin.allocator, ORIGIN_COLUMN + 3},
        {&run->origin.environment, ORIGIN_COLUMN + 4},
        {&run->origin.commit, ORIGIN_COLUMN + 5},
        {&run->origin.branch, ORIGIN_COLUMN + 7},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].text = store_text(arena, s, texts[i].column);
        if (!*texts[i].text)
            return false;
    }
    return true;
}

/* Which trace it came from, and who forked its process. False when that cannot be. */
static bool run_lineage_take(sqlite3_stmt *s, struct run *run) {
    struct profile *profile = &run->profile;
    const char *uuid = (const char *)sqlite3_column_text(s, LINEAGE_COLUMN);
    const char *parent = (const char *)sqlite3_column_text(s, LINEAGE_COLUMN + 1);
    if (!uuid || !parent || strlen(uuid) >= PROFILE_UUID_BYTES ||
        strlen(parent) >= PROFILE_UUID_BYTES ||
        !store_uint32(s, LINEAGE_COLUMN + 4, &profile->parent_pid))
        return false;
    strcpy(profile->uuid, uuid);
    strcpy(profile->parent_uuid, parent);
    profile->forked = sqlite3_column_int(s, LINEAGE_COLUMN + 2) != 0;
    profile->inherited_freed = sqlite3_column_int64(s, LINEAGE_COLUMN + 3);
    run->parent_id = sqlite3_column_int64(s, LINEAGE_COLUMN + 5);
    return true;
}

static bool run_origin_take(sqlite3_stmt *s, struct origin *origin) {
    int tree = store_word(s, ORIGIN_COLUMN + 8, store_tree_names, 3);
    origin->tree = tree < 0 ? ORIGIN_TREE_UNKNOWN : (enum origin_tree)tree;
    origin->commit_time_ns = sqlite3_column_int64(s, ORIGIN_COLUMN + 6);
    return tree >= 0 && store_uint32(s, ORIGIN_COLUMN + 1, &origin->cpu_count);
}

static int run_columns_take(struct store_reader *reader, sqlite3_stmt *s, struct run *run) {
    struct profile *profile = &run->profile;
    const char *uuid = (const char *)sqlite3_column_text(s, 1);
    const char *set_uuid = (const char *)sqlite3_column_text(s, 2);
    int outcome = store_word(s, 17, store_outcome_names, 3);
    int end = store_word(s, 19, store_end_names, 4);
    int stacks = store_word(s, 20, store_stacks_names, 3);

    if (!run_texts_take(s, reader->arena, run))
        return store_no_memory(reader);
    if (!uuid || !set_uuid || strlen(uuid) >= RUN_UUID_BYTES ||
        strlen(set_uuid) >= RUN_UUID_BYTES || outcome < 0 || end < 0 || stacks < 0 ||
        !store_uint32(s, 3, &run->repeat) || !store_uint32(s, 14, &profile->pid) ||
        !store_uint32(s, 21, &profile->depth_limit) || !run_lineage_take(s, run) ||
        !run_origin_take(s, &run->origin))
        return store_damaged(reader, "a run with impossible values");
    run->pruned = sqlite3_column_int(s, ORIGIN_COLUMN + 9) != 0;
    run->max_rss_bytes = sqlite3_column_int64(s, ORIGIN_COLUMN + 10);
    run->id = sqlite3_column_int64(s, 0);
    strcpy(run->uuid, uuid);
    strcpy(run->set_uuid, set_uuid);
    run->outcome = (enum run_outcome)outcome;
    run->status = sqlite3_column_int(s, 18);
    profile->start_realtime_ns = sqlite3_column_int64(s, 15);
    profile->elapsed_ns = sqlite3_column_int64(s, 16);
    profile->end = (enum profile_end)end;
    profile->stacks = (enum trace_stacks)stacks;
    profile->stacks_truncated = sqlite3_column_int64(s, 22);
    profile->cut = sqlite3_column_int(s, 23) != 0;
    profile->truncated = sqlite3_column_int(s, 24) != 0;
    for (int i = 0; i < PROFILE_GAPS; i++)
        profile->gaps[i] = sqlite3_column_int64(s, FIRST_GAP_COLUMN + i);
    return 0;
}

/* The members of a JSON column, in their order: @take is given key and value of each. */
static int json_take(struct store_reader *reader, sqlite3_stmt *each,
                     struct vector *ret_params) {
    int r;
    while ((r = store_step(reader->store, each, reader->fault)) > 0) {
        struct run_param *param = vector_add(ret_params);
        if (!param)
            return store_no_memory(reader);
        param->key = store_text(reader->arena, each, 0);
        param->value = store_text(reader->arena, each, 1);
        if (!param->key || !param->value)
            return store_no_memory(reader);
    }
    return r;
}

static int params_take(struct store_reader *reader, sqlite3_stmt *each, const char *parameters,
                       struct run *run) {
    struct vector params = VECTOR_OF(struct run_param);
    int r = store_bind(reader->store, each, reader->fault, "t", parameters);
    if (r == 0)
        r = json_take(reader, each, &params);
    struct run_param *kept = NULL;
    if (r == 0) {
        kept = arena_array(reader->arena, params.count, sizeof(*kept));
        r = kept ? 0 : store_no_memory(reader);
    }
    if (r == 0) {
        if (params.count > 0)
            memcpy(kept, params.items, params.count * sizeof(*kept));
        run->params = kept;
        run->param_count = params.count;
    }
    vector_finish(&params);
    return r;
}

static int arguments_take(struct store_reader *reader, sqlite3_stmt *each, const char *command,
                          struct run *run) {
    struct vector params = VECTOR_OF(struct run_param);
    struct profile *profile = &run->profile;
    int r = store_bind(reader->store, each, reader->fault, "t", command);
    if (r == 0)
        r = json_take(reader, each, &params);
    if (r == 0) {
        const struct run_param *taken = params.items;
        const char **arguments = arena_array(reader->arena, params.count, sizeof(*arguments));
        for (size_t i = 0; arguments && i < params.count; i++)
            arguments[i] = taken[i].value;
        r = arguments ? 0 : store_no_memory(reader);
        profile->arguments = arguments;
        profile->argument_count = params.count;
    }
    vector_finish(&params);
    return r;
}

#define JSON_EACH "SELECT key, value FROM json_each(?1)"

int store_list(struct store *store, struct arena *arena, struct store_entry **ret_entries,
               size_t *ret_count, struct fault *fault) {
    static const char sql[] =
        "SELECT " RUN_COLUMNS ", headline_region, headline_added, marked_regions "
        "FROM run JOIN benchmark ON benchmark.id=benchmark_id ORDER BY run.id";
    struct store_reader reader = {.store = store, .fault = fault, .arena = arena};
    struct vector entries = VECTOR_OF(struct store_entry);
    struct store_entry *kept = NULL;
    sqlite3_stmt *s = NULL;
    sqlite3_stmt *each = NULL;
    int r = store_prepare(store, sql, &s, fault);
    if (r == 0)
        r = store_prepare(store, JSON_EACH, &each, fault);
    while (r == 0 && (r = store_step(store, s, fault)) > 0) {
        struct store_entry *entry = vector_add(&entries);
        const char *parameters = (const char *)sqlite3_column_text(s, 5);
        r = entry ? run_columns_take(&reader, s, &entry->run) : store_no_memory(&reader);
        if (r == 0)
            r = params_take(&reader, each, parameters ? parameters : "{}", &entry->run);
        if (r < 0)
            break;
        entry->region = store_text(arena, s, RUN_COLUMN_COUNT);
        entry->peak_added = sqlite3_column_int64(s, RUN_COLUMN_COUNT + 1);
        entry->region_count = sqlite3_column_int64(s, RUN_COLUMN_COUNT + 2);
        if (!entry->region)
            r = store_no_memory(&reader);
    }
    if (r == 0) {
        kept = arena_array(arena, entries.count, sizeof(*kept));
        r = kept ? 0 : store_no_memory(&reader);
    }
    if (r == 0) {
        if (entries.count > 0)
            memcpy(kept, entries.items, entries.count * sizeof(*kept));
        *ret_entries = kept;
        *ret_count = entries.count;
    }
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    vector_finish(&entries);
    return r;
}

int store_load_run(struct store_reader *reader, int64_t id, struct run *run) {
    static const char sql[] = "SELECT " RUN_COLUMNS " FROM run JOIN benchmark "
                              "ON benchmark.id=benchmark_id WHERE run.id=?1";
    sqlite3_stmt *s = NULL;
    sqlite3_stmt *each = NULL;
    int r = store_prepare(reader->store, sql, &s, reader->fault);
    if (r == 0)
        r = store_prepare(reader->store, JSON_EACH, &each, reader->fault);
    if (r == 0)
        r = store_bind(reader->store, s, reader->fault, "i", id);
    if (r == 0) {
        r = store_step(reader->store, s, reader->fault);
        r = r > 0    ? run_columns_take(reader, s, run)
            : r == 0 ? fault_set(reader->fault, -ENOENT, "there is no run %" PRId64, id)
                     : r;
    }
    if (r == 0)
        r = params_take(reader, each, (const char *)sqlite3_column_text(s, 5), run);
    if (r == 0)
        r = arguments_take(reader, each, (const char *)sqlite3_column_text(s, 9), run);
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    return r;
}
