/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_read.c: runs out of the store.
 *
 * A store is checked like a trace: ids that lead nowhere, numbers of the wrong kind and sums
 * that do not add up are refused, because the file may have been edited or come from anywhere.
 */
#include "store_sql.h"

#include "vector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a run that a listing needs, too; run_columns_take() reads them in this order. */
#define RUN_COLUMNS                                                                            \
    "run.id, uuid, set_uuid, repeat, benchmark.name, parameters, program, exe, cwd, command, " \
    "host, kernel, machine, votrace_version, pid, start_ns, elapsed_ns, outcome, status, "     \
    "trace_end, run.stacks, depth_limit, stacks_truncated, cut, truncated, events_lost, "      \
    "unknown_frees, table_refused, file_refused, stacks_missing, stacks_other, "               \
    "forked_children, unbalanced_ends, regions_dropped, owned_inexact, settings_ignored"

struct loader {
    struct store *store;
    struct fault *fault;
    struct arena *arena;
    struct run *run;
    struct vector nodes;      /* struct profile_node */
    struct vector node_ids;   /* int64_t, ascending: the store's ids */
    struct vector frame_ids;  /* int64_t by node, then sorted and unique */
    struct vector module_ids; /* int64_t by frame, then sorted and unique */
    struct vector sites;      /* struct profile_site */
    struct vector rows;       /* struct profile_row of one region */
};

static int damaged(struct loader *loader, const char *what) {
    return fault_set(loader->fault, -EBADMSG, "the store is damaged: %s", what);
}

static int no_memory(struct loader *loader) {
    return fault_set(loader->fault, -ENOMEM, "out of memory");
}

/* A text column, kept; NUL bytes inside end it. NULL when there is no memory. */
static const char *text_take(struct arena *arena, sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? arena_text(arena, text, strlen(text)) : arena_text(arena, "", 0);
}

static int word_take(sqlite3_stmt *statement, int column, const char *const *words, int count) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    for (int i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

static bool uint32_take(sqlite3_stmt *statement, int column, uint32_t *ret) {
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
        {&run->benchmark, 4}, {&profile->program, 6},
        {&profile->exe, 7},   {&profile->cwd, 8},
        {&run->host, 10},     {&run->kernel, 11},
        {&run->machine, 12},  {&profile->votrace_version, 13},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].text = text_take(arena, s, texts[i].column);
        if (!*texts[i].text)
            return false;
    }
    return true;
}

static int run_columns_take(struct loader *loader, sqlite3_stmt *s, struct run *run) {
    struct profile *profile = &run->profile;
    const char *uuid = (const char *)sqlite3_column_text(s, 1);
    const char *set_uuid = (const char *)sqlite3_column_text(s, 2);
    int outcome = word_take(s, 17, store_outcome_names, 3);
    int end = word_take(s, 19, store_end_names, 3);
    int stacks = word_take(s, 20, store_stacks_names, 3);

    if (!run_texts_take(s, loader->arena, run))
        return no_memory(loader);
    if (!uuid || !set_uuid || strlen(uuid) >= RUN_UUID_BYTES ||
        strlen(set_uuid) >= RUN_UUID_BYTES || outcome < 0 || end < 0 || stacks < 0 ||
        !uint32_take(s, 3, &run->repeat) || !uint32_take(s, 14, &profile->pid) ||
        !uint32_take(s, 21, &profile->depth_limit))
        return damaged(loader, "a run with impossible values");
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
        profile->gaps[i] = sqlite3_column_int64(s, 25 + i);
    return 0;
}

/* The members of a JSON column, in their order: @take is given key and value of each. */
static int json_take(struct loader *loader, sqlite3_stmt *each, struct vector *ret_params) {
    int r;
    while ((r = store_step(loader->store, each, loader->fault)) > 0) {
        struct run_param *param = vector_add(ret_params);
        if (!param)
            return no_memory(loader);
        param->key = text_take(loader->arena, each, 0);
        param->value = text_take(loader->arena, each, 1);
        if (!param->key || !param->value)
            return no_memory(loader);
    }
    return r;
}

static int params_take(struct loader *loader, sqlite3_stmt *each, const char *parameters,
                       struct run *run) {
    struct vector params = VECTOR_OF(struct run_param);
    int r = store_bind(loader->store, each, loader->fault, "t", parameters);
    if (r == 0)
        r = json_take(loader, each, &params);
    struct run_param *kept = NULL;
    if (r == 0) {
        kept = arena_array(loader->arena, params.count, sizeof(*kept));
        r = kept ? 0 : no_memory(loader);
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

static int arguments_take(struct loader *loader, sqlite3_stmt *each, const char *command) {
    struct vector params = VECTOR_OF(struct run_param);
    struct profile *profile = &loader->run->profile;
    int r = store_bind(loader->store, each, loader->fault, "t", command);
    if (r == 0)
        r = json_take(loader, each, &params);
    if (r == 0) {
        const struct run_param *taken = params.items;
        const char **arguments = arena_array(loader->arena, params.count, sizeof(*arguments));
        for (size_t i = 0; arguments && i < params.count; i++)
            arguments[i] = taken[i].value;
        r = arguments ? 0 : no_memory(loader);
        profile->arguments = arguments;
        profile->argument_count = params.count;
    }
    vector_finish(&params);
    return r;
}

#define JSON_EACH "SELECT key, value FROM json_each(?1)"

int store_list(struct store *store, struct arena *arena, struct store_entry **ret_entries,
               size_t *ret_count, struct fault *fault) {
    /* Headline: the marked region that added most; "process" where none was marked. */
    static const char sql[] =
        "SELECT " RUN_COLUMNS ", headline.name, headline.added, "
        "(SELECT count(*) FROM region WHERE run_id=run.id AND ordinal>0) "
        "FROM run JOIN benchmark ON benchmark.id=benchmark_id LEFT JOIN "
        "(SELECT run_id, name, live_peak-live_start AS added, "
        "row_number() OVER (PARTITION BY run_id ORDER BY ordinal=0, live_peak-live_start DESC) "
        "AS place FROM region JOIN region_total ON region_id=region.id AND space='heap') "
        "AS headline ON headline.run_id=run.id AND headline.place=1 ORDER BY run.id";
    struct loader loader = {.store = store, .fault = fault, .arena = arena};
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
        r = entry ? run_columns_take(&loader, s, &entry->run) : no_memory(&loader);
        if (r == 0)
            r = params_take(&loader, each, parameters ? parameters : "{}", &entry->run);
        if (r < 0)
            break;
        entry->region = text_take(arena, s, 36);
        entry->peak_added = sqlite3_column_int64(s, 37);
        entry->region_count = sqlite3_column_int64(s, 38);
        if (!entry->region)
            r = no_memory(&loader);
    }
    if (r == 0) {
        kept = arena_array(arena, entries.count, sizeof(*kept));
        r = kept ? 0 : no_memory(&loader);
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

static int id_compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* The place of @id among sorted ids, or UINT32_MAX. */
static uint32_t id_index(const struct vector *ids, int64_t id) {
    const int64_t *found =
        ids->count > 0 ? bsearch(&id, ids->items, ids->count, sizeof(id), id_compare) : NULL;
    return found ? (uint32_t)(found - (const int64_t *)ids->items) : UINT32_MAX;
}

static void ids_sort_unique(struct vector *ids) {
    int64_t *items = ids->items;
    size_t kept = 0;
    if (ids->count > 0)
        qsort(items, ids->count, sizeof(*items), id_compare);
    for (size_t i = 0; i < ids->count; i++)
        if (kept == 0 || items[i] != items[kept - 1])
            items[kept++] = items[i];
    ids->count = kept;
}

static int id_push(struct loader *loader, struct vector *ids, int64_t id) {
    int64_t *slot = vector_add(ids);
    if (!slot)
        return no_memory(loader);
    *slot = id;
    return 0;
}

static int load_nodes(struct loader *loader) {
    /* UNION drops what was seen, so a cycle in a damaged file ends, too. */
    static const char sql[] =
        "WITH RECURSIVE used(id) AS (SELECT 0 UNION SELECT stack_id FROM region_site "
        "JOIN region ON region.id=region_id WHERE run_id=?1 "
        "UNION SELECT parent_id FROM stack JOIN used USING (id)) "
        "SELECT id, parent_id, frame_id FROM used JOIN stack USING (id) ORDER BY id";
    sqlite3_stmt *s = NULL;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", loader->run->id);
    while (r == 0 && (r = store_step(loader->store, s, loader->fault)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        struct profile_node *node = vector_add(&loader->nodes);
        r = node ? id_push(loader, &loader->node_ids, id) : no_memory(loader);
        if (r == 0)
            r = id_push(loader, &loader->frame_ids, sqlite3_column_int64(s, 2));
        if (r < 0)
            break;
        uint32_t own = (uint32_t)(loader->nodes.count - 1);
        node->parent = id_index(&loader->node_ids, sqlite3_column_int64(s, 1));
        if (own == 0 ? id != 0 || node->parent != 0 : node->parent >= own)
            r = damaged(loader, "call stacks point nowhere");
    }
    sqlite3_finalize(s);
    if (r == 0 && loader->nodes.count == 0)
        r = damaged(loader, "it has no root of the call stacks");
    return r;
}

static int load_frames(struct loader *loader) {
    static const char sql[] =
        "SELECT module_id, offset, level, function, file, line FROM frame "
        "WHERE id=?1";
    struct profile *profile = &loader->run->profile;
    sqlite3_stmt *s = NULL;

    /* Node i's frame id is frame_ids[i]; keep that before the ids are sorted. */
    size_t node_count = loader->nodes.count;
    int64_t *by_node = calloc(node_count, sizeof(*by_node));
    if (!by_node)
        return no_memory(loader);
    memcpy(by_node, loader->frame_ids.items, node_count * sizeof(*by_node));
    struct vector *ids = &loader->frame_ids;
    memmove(ids->items, (int64_t *)ids->items + 1, (node_count - 1) * sizeof(int64_t));
    ids->count = node_count - 1;
    ids_sort_unique(ids);
    struct profile_node *nodes = loader->nodes.items;
    for (size_t i = 1; i < node_count; i++)
        nodes[i].frame = id_index(ids, by_node[i]);
    free(by_node);

    struct profile_frame *frames = arena_array(loader->arena, ids->count, sizeof(*frames));
    int r = frames ? store_prepare(loader->store, sql, &s, loader->fault) : no_memory(loader);
    for (size_t i = 0; r == 0 && i < ids->count; i++) {
        r = store_bind(loader->store, s, loader->fault, "i", ((int64_t *)ids->items)[i]);
        if (r < 0)
            break;
        r = store_step(loader->store, s, loader->fault);
        if (r <= 0) {
            r = r < 0 ? r : damaged(loader, "a call stack names a frame that is not there");
            break;
        }
        frames[i].offset = (uint64_t)sqlite3_column_int64(s, 1);
        frames[i].function = text_take(loader->arena, s, 3);
        frames[i].file = text_take(loader->arena, s, 4);
        if (!uint32_take(s, 2, &frames[i].level) || !uint32_take(s, 5, &frames[i].lineno))
            r = damaged(loader, "a frame with impossible values");
        else if (!frames[i].function || !frames[i].file)
            r = no_memory(loader);
        else
            r = id_push(loader, &loader->module_ids, sqlite3_column_int64(s, 0));
    }
    sqlite3_finalize(s);
    profile->frames = frames;
    profile->frame_count = ids->count;
    return r;
}

static int load_modules(struct loader *loader) {
    static const char sql[] = "SELECT path, build_id FROM module WHERE id=?1";
    struct profile *profile = &loader->run->profile;
    struct profile_frame *frames = (struct profile_frame *)profile->frames;
    struct vector *ids = &loader->module_ids;
    sqlite3_stmt *s = NULL;
    int64_t *by_frame = calloc(profile->frame_count + 1, sizeof(*by_frame));
    if (!by_frame)
        return no_memory(loader);
    if (ids->count > 0)
        memcpy(by_frame, ids->items, ids->count * sizeof(*by_frame));
    ids_sort_unique(ids);
    for (size_t i = 0; i < profile->frame_count; i++)
        frames[i].module = id_index(ids, by_frame[i]) + 1;
    free(by_frame);

    struct profile_module *modules =
        arena_array(loader->arena, ids->count + 1, sizeof(*modules));
    int r = modules ? store_prepare(loader->store, sql, &s, loader->fault) : no_memory(loader);
    if (r == 0)
        modules[0].path = "";
    for (size_t i = 0; r == 0 && i < ids->count; i++) {
        r = store_bind(loader->store, s, loader->fault, "i", ((int64_t *)ids->items)[i]);
        if (r < 0)
            break;
        r = store_step(loader->store, s, loader->fault);
        const char *build_id = r > 0 ? (const char *)sqlite3_column_text(s, 1) : NULL;
        if (r < 0)
            break;
        if (!build_id || strlen(build_id) >= PROFILE_BUILD_ID_BYTES) {
            r = damaged(loader, "a frame names a module that is not there");
            break;
        }
        strcpy(modules[i + 1].build_id, build_id);
        modules[i + 1].path = text_take(loader->arena, s, 0);
        r = modules[i + 1].path ? 0 : no_memory(loader);
    }
    sqlite3_finalize(s);
    profile->modules = modules;
    profile->module_count = ids->count + 1;
    return r;
}

static void totals_take(sqlite3_stmt *s, struct profile_totals *ret) {
    int64_t value[14];
    for (int i = 0; i < 14; i++)
        value[i] = sqlite3_column_int64(s, 1 + i);
    *ret = (struct profile_totals){
        .start = {value[3], value[0]},
        .end = {value[4], value[2]},
        .allocated = {value[5], value[7]},
        .freed = {value[6], value[8]},
        .peak_bytes = value[1],
        .temporary = value[9],
        .largest_bytes = value[10],
        .failed = value[11],
        .reallocations = value[12],
        .owned_peak_bytes = value[13],
    };
}

static int load_totals(struct loader *loader, int64_t region_id,
                       struct profile_region *region) {
    static const char sql[] =
        "SELECT space, live_start, live_peak, live_end, start_blocks, end_blocks, allocations, "
        "frees, allocated_bytes, freed_bytes, temporary, largest_bytes, failed, reallocations, "
        "owned_peak FROM region_total WHERE region_id=?1";
    sqlite3_stmt *s = NULL;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", region_id);
    while (r == 0 && (r = store_step(loader->store, s, loader->fault)) > 0) {
        int space = word_take(s, 0, store_space_names, TRACE_SPACES);
        if (space < 0) {
            r = damaged(loader, "a kind of memory that does not exist");
            break;
        }
        totals_take(s, &region->totals[space]);
        r = 0;
    }
    sqlite3_finalize(s);
    return r;
}

/* Sites are few per run and shared by its regions: find or add, by a search from the end. */
static int site_index(struct loader *loader, const struct profile_site *site,
                      uint32_t *ret_index) {
    const struct profile_site *sites = loader->sites.items;
    size_t low = 0;
    size_t high = loader->sites.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct profile_site *at = &sites[middle];
        int64_t order = at->node != site->node     ? (int64_t)at->node - site->node
                        : at->space != site->space ? at->space - site->space
                                                   : at->flags - site->flags;
        if (order == 0) {
            *ret_index = (uint32_t)middle;
            return 0;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return damaged(loader, "a call site that is not there");
}

static int load_sites(struct loader *loader) {
    static const char sql[] =
        "SELECT DISTINCT stack_id, space, flags FROM region_site JOIN region "
        "ON region.id=region_id WHERE run_id=?1 ORDER BY stack_id, "
        "CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 ELSE 2 END, flags";
    sqlite3_stmt *s = NULL;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", loader->run->id);
    while (r == 0 && (r = store_step(loader->store, s, loader->fault)) > 0) {
        uint32_t flags;
        int space = word_take(s, 1, store_space_names, TRACE_SPACES);
        uint32_t node = id_index(&loader->node_ids, sqlite3_column_int64(s, 0));
        if (space < 0 || node == UINT32_MAX || !uint32_take(s, 2, &flags) ||
            flags > UINT16_MAX) {
            r = damaged(loader, "a call site with impossible values");
            break;
        }
        struct profile_site *site = vector_add(&loader->sites);
        r = site ? 0 : no_memory(loader);
        if (site)
            *site = (struct profile_site){node, (uint16_t)space, (uint16_t)flags};
    }
    sqlite3_finalize(s);
    return r;
}

static int row_take(struct loader *loader, sqlite3_stmt *s) {
    struct profile_site site = {
        .node = id_index(&loader->node_ids, sqlite3_column_int64(s, 0)),
        .space = (uint16_t)word_take(s, 1, store_space_names, TRACE_SPACES),
        .flags = (uint16_t)sqlite3_column_int(s, 2),
    };
    int64_t value[11];
    for (int i = 0; i < 11; i++)
        value[i] = sqlite3_column_int64(s, 3 + i);
    struct profile_row row = {
        .allocated = {value[0], value[1]},
        .freed = {value[2], value[3]},
        .start = {value[4], value[5]},
        .peak = {value[6], value[7]},
        .end = {value[8], value[9]},
        .temporary = value[10],
    };
    int r = site_index(loader, &site, &row.site);
    if (r < 0)
        return r;
    struct profile_row *slot = vector_add(&loader->rows);
    if (!slot)
        return no_memory(loader);
    *slot = row;
    return 0;
}

static int load_rows(struct loader *loader, int64_t region_id, struct profile_region *region) {
    static const char sql[] =
        "SELECT stack_id, space, flags, allocated_blocks, allocated_bytes, freed_blocks, "
        "freed_bytes, start_blocks, start_bytes, peak_blocks, peak_bytes, end_blocks, "
        "end_bytes, temporary FROM region_site WHERE region_id=?1 ORDER BY stack_id, "
        "CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 ELSE 2 END, flags";
    sqlite3_stmt *s = NULL;
    loader->rows.count = 0;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", region_id);
    while (r == 0 && (r = store_step(loader->store, s, loader->fault)) > 0)
        r = row_take(loader, s);
    sqlite3_finalize(s);
    if (r < 0)
        return r;
    struct profile_row *rows = arena_array(loader->arena, loader->rows.count, sizeof(*rows));
    if (!rows)
        return no_memory(loader);
    if (loader->rows.count > 0)
        memcpy(rows, loader->rows.items, loader->rows.count * sizeof(*rows));
    region->rows = rows;
    region->rows_count = loader->rows.count;
    return 0;
}

static int load_region(struct loader *loader, sqlite3_stmt *s, struct profile_region *region) {
    region->name = text_take(loader->arena, s, 3);
    if (!region->name)
        return no_memory(loader);
    if (!uint32_take(s, 2, &region->parent) || !uint32_take(s, 4, &region->instance))
        return damaged(loader, "a region with impossible values");
    region->open = sqlite3_column_int(s, 5) != 0;
    region->has_rows = sqlite3_column_int(s, 6) != 0;
    region->begin_elapsed_ns = sqlite3_column_int64(s, 7);
    region->end_elapsed_ns = sqlite3_column_int64(s, 8);
    region->cpu_ns = sqlite3_column_int64(s, 9);
    region->combined_start_bytes = sqlite3_column_int64(s, 10);
    region->combined_peak_bytes = sqlite3_column_int64(s, 11);
    region->combined_end_bytes = sqlite3_column_int64(s, 12);
    int64_t id = sqlite3_column_int64(s, 0);
    int r = load_totals(loader, id, region);
    return r == 0 && region->has_rows ? load_rows(loader, id, region) : r;
}

static int load_regions(struct loader *loader) {
    static const char sql[] =
        "SELECT id, ordinal, parent_ordinal, name, instance, open, has_sites, begin_ns, "
        "end_ns, "
        "cpu_ns, combined_start, combined_peak, combined_end FROM region WHERE run_id=?1 "
        "ORDER BY ordinal";
    struct vector regions = VECTOR_OF(struct profile_region);
    struct profile *profile = &loader->run->profile;
    sqlite3_stmt *s = NULL;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", loader->run->id);
    while (r == 0 && (r = store_step(loader->store, s, loader->fault)) > 0) {
        struct profile_region *region = vector_add(&regions);
        if (!region)
            r = no_memory(loader);
        else if (sqlite3_column_int64(s, 1) != (int64_t)regions.count - 1)
            r = damaged(loader, "a region is missing");
        else
            r = load_region(loader, s, region);
    }
    if (r == 0) {
        struct profile_region *kept = arena_array(loader->arena, regions.count, sizeof(*kept));
        if (kept && regions.count > 0)
            memcpy(kept, regions.items, regions.count * sizeof(*kept));
        r = kept ? 0 : no_memory(loader);
        profile->regions = kept;
        profile->region_count = regions.count;
    }
    sqlite3_finalize(s);
    vector_finish(&regions);
    return r;
}

static int load_run(struct loader *loader, int64_t id) {
    static const char sql[] = "SELECT " RUN_COLUMNS " FROM run JOIN benchmark "
                              "ON benchmark.id=benchmark_id WHERE run.id=?1";
    sqlite3_stmt *s = NULL;
    sqlite3_stmt *each = NULL;
    int r = store_prepare(loader->store, sql, &s, loader->fault);
    if (r == 0)
        r = store_prepare(loader->store, JSON_EACH, &each, loader->fault);
    if (r == 0)
        r = store_bind(loader->store, s, loader->fault, "i", id);
    if (r == 0) {
        r = store_step(loader->store, s, loader->fault);
        r = r > 0    ? run_columns_take(loader, s, loader->run)
            : r == 0 ? fault_set(loader->fault, -ENOENT, "there is no run %" PRId64, id)
                     : r;
    }
    if (r == 0)
        r = params_take(loader, each, (const char *)sqlite3_column_text(s, 5), loader->run);
    if (r == 0)
        r = arguments_take(loader, each, (const char *)sqlite3_column_text(s, 9));
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    return r;
}

static int nodes_keep(struct loader *loader) {
    struct profile *profile = &loader->run->profile;
    struct profile_node *nodes =
        arena_array(loader->arena, loader->nodes.count, sizeof(*nodes));
    struct profile_site *sites =
        arena_array(loader->arena, loader->sites.count, sizeof(*sites));
    if (!nodes || !sites)
        return no_memory(loader);
    memcpy(nodes, loader->nodes.items, loader->nodes.count * sizeof(*nodes));
    if (loader->sites.count > 0)
        memcpy(sites, loader->sites.items, loader->sites.count * sizeof(*sites));
    profile->nodes = nodes;
    profile->node_count = loader->nodes.count;
    profile->sites = sites;
    profile->site_count = loader->sites.count;
    return 0;
}

/* Everything comes from one moment of the file, whatever is imported meanwhile. */
static int load_all(struct loader *loader, int64_t id) {
    static int (*const steps[])(struct loader *) = {
        load_nodes, load_frames, load_modules, load_sites, load_regions, nodes_keep,
    };
    int r = store_execute(loader->store, "BEGIN", loader->fault);
    if (r < 0)
        return r;
    r = load_run(loader, id);
    for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
        r = steps[i](loader);
    sqlite3_exec(loader->store->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int store_load(struct store *store, int64_t id, struct run *ret_run, struct fault *fault) {
    struct run run = {0};
    struct loader loader = {
        .store = store,
        .fault = fault,
        .arena = &run.profile.arena,
        .run = &run,
        .nodes = VECTOR_OF(struct profile_node),
        .node_ids = VECTOR_OF(int64_t),
        .frame_ids = VECTOR_OF(int64_t),
        .module_ids = VECTOR_OF(int64_t),
        .sites = VECTOR_OF(struct profile_site),
        .rows = VECTOR_OF(struct profile_row),
    };
    int r = load_all(&loader, id);
    if (r == 0) {
        struct fault inner;
        r = profile_check(&run.profile, &inner);
        if (r < 0)
            fault_set(fault, r, "the store is damaged: run %" PRId64 ": %s", id, inner.text);
    }
    struct vector *vectors[] = {&loader.nodes,      &loader.node_ids, &loader.frame_ids,
                                &loader.module_ids, &loader.sites,    &loader.rows};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        vector_finish(vectors[i]);
    if (r < 0) {
        run_finish(&run);
        return r;
    }
    *ret_run = run;
    return 0;
}
