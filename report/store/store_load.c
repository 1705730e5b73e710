/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_load.c: one run out of the store, whole: stacks, frames, modules, sites, regions.
 *
 * Ids of the file become small numbers of the profile by their place among the sorted ids that
 * the run uses. Ids that lead nowhere are refused here, sums that do not hold by
 * profile_check().
 */
#include "store_reader.h"
#include "store_series.h"

#include "vector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct loader {
    struct store_reader reader;
    struct run *run;
    struct vector nodes;      /* struct profile_node */
    struct vector node_ids;   /* int64_t, ascending: the store's ids */
    struct vector frame_ids;  /* int64_t by node, then sorted and unique */
    struct vector module_ids; /* int64_t by frame, then sorted and unique */
    struct vector sites;      /* struct profile_site */
    struct vector rows;       /* struct profile_row of one region */
};

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
        return store_no_memory(&loader->reader);
    *slot = id;
    return 0;
}

/* Ask @sql, whose ?1 is the run. */
static int query_begin(struct loader *loader, const char *sql, sqlite3_stmt **ret_statement) {
    int r = store_prepare(loader->reader.store, sql, ret_statement, loader->reader.fault);
    if (r < 0)
        return r;
    return store_bind(loader->reader.store, *ret_statement, loader->reader.fault, "i",
                      loader->run->id);
}

/* Returns 1 for a row, 0 at the end. */
static int query_step(struct loader *loader, sqlite3_stmt *statement) {
    return store_step(loader->reader.store, statement, loader->reader.fault);
}

static int load_nodes(struct loader *loader) {
    /* UNION drops what was seen, so a cycle in a damaged file ends, too. */
    static const char sql[] =
        "WITH RECURSIVE used(id) AS (SELECT 0 UNION SELECT stack_id FROM region_site "
        "JOIN region ON region.id=region_id WHERE run_id=?1 "
        "UNION SELECT parent_id FROM stack JOIN used USING (id)) "
        "SELECT id, parent_id, frame_id FROM used JOIN stack USING (id) ORDER BY id";
    sqlite3_stmt *s = NULL;
    int r = query_begin(loader, sql, &s);
    while (r == 0 && (r = query_step(loader, s)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        struct profile_node *node = vector_add(&loader->nodes);
        r = node ? id_push(loader, &loader->node_ids, id) : store_no_memory(&loader->reader);
        if (r == 0)
            r = id_push(loader, &loader->frame_ids, sqlite3_column_int64(s, 2));
        if (r < 0)
            break;
        uint32_t own = (uint32_t)(loader->nodes.count - 1);
        node->parent = id_index(&loader->node_ids, sqlite3_column_int64(s, 1));
        if (own == 0 ? id != 0 || node->parent != 0 : node->parent >= own)
            r = store_damaged(&loader->reader, "call stacks point nowhere");
    }
    sqlite3_finalize(s);
    if (r == 0 && loader->nodes.count == 0)
        r = store_damaged(&loader->reader, "it has no root of the call stacks");
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
        return store_no_memory(&loader->reader);
    memcpy(by_node, loader->frame_ids.items, node_count * sizeof(*by_node));
    struct vector *ids = &loader->frame_ids;
    memmove(ids->items, (int64_t *)ids->items + 1, (node_count - 1) * sizeof(int64_t));
    ids->count = node_count - 1;
    ids_sort_unique(ids);
    struct profile_node *nodes = loader->nodes.items;
    for (size_t i = 1; i < node_count; i++)
        nodes[i].frame = id_index(ids, by_node[i]);
    free(by_node);

    struct profile_frame *frames =
        arena_array(loader->reader.arena, ids->count, sizeof(*frames));
    int r = frames ? store_prepare(loader->reader.store, sql, &s, loader->reader.fault)
                   : store_no_memory(&loader->reader);
    for (size_t i = 0; r == 0 && i < ids->count; i++) {
        r = store_bind(loader->reader.store, s, loader->reader.fault, "i",
                       ((int64_t *)ids->items)[i]);
        if (r < 0)
            break;
        r = query_step(loader, s);
        if (r <= 0) {
            r = r < 0 ? r
                      : store_damaged(&loader->reader,
                                      "a call stack names a frame that is not there");
            break;
        }
        frames[i].offset = (uint64_t)sqlite3_column_int64(s, 1);
        frames[i].function = store_text(loader->reader.arena, s, 3);
        frames[i].file = store_text(loader->reader.arena, s, 4);
        if (!store_uint32(s, 2, &frames[i].level) || !store_uint32(s, 5, &frames[i].lineno))
            r = store_damaged(&loader->reader, "a frame with impossible values");
        else if (!frames[i].function || !frames[i].file)
            r = store_no_memory(&loader->reader);
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
        return store_no_memory(&loader->reader);
    if (ids->count > 0)
        memcpy(by_frame, ids->items, ids->count * sizeof(*by_frame));
    ids_sort_unique(ids);
    for (size_t i = 0; i < profile->frame_count; i++)
        frames[i].module = id_index(ids, by_frame[i]) + 1;
    free(by_frame);

    struct profile_module *modules =
        arena_array(loader->reader.arena, ids->count + 1, sizeof(*modules));
    int r = modules ? store_prepare(loader->reader.store, sql, &s, loader->reader.fault)
                    : store_no_memory(&loader->reader);
    if (r == 0)
        modules[0].path = "";
    for (size_t i = 0; r == 0 && i < ids->count; i++) {
        r = store_bind(loader->reader.store, s, loader->reader.fault, "i",
                       ((int64_t *)ids->items)[i]);
        if (r < 0)
            break;
        r = query_step(loader, s);
        const char *build_id = r > 0 ? (const char *)sqlite3_column_text(s, 1) : NULL;
        if (r < 0)
            break;
        if (!build_id || strlen(build_id) >= PROFILE_BUILD_ID_BYTES) {
            r = store_damaged(&loader->reader, "a frame names a module that is not there");
            break;
        }
        strcpy(modules[i + 1].build_id, build_id);
        modules[i + 1].path = store_text(loader->reader.arena, s, 0);
        r = modules[i + 1].path ? 0 : store_no_memory(&loader->reader);
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
    int r = store_prepare(loader->reader.store, sql, &s, loader->reader.fault);
    if (r == 0)
        r = store_bind(loader->reader.store, s, loader->reader.fault, "i", region_id);
    while (r == 0 && (r = query_step(loader, s)) > 0) {
        int space = store_word(s, 0, store_space_names, TRACE_SPACES);
        if (space < 0) {
            r = store_damaged(&loader->reader, "a kind of memory that does not exist");
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
    return store_damaged(&loader->reader, "a call site that is not there");
}

static int load_sites(struct loader *loader) {
    static const char sql[] =
        "SELECT DISTINCT stack_id, space, flags FROM region_site JOIN region "
        "ON region.id=region_id WHERE run_id=?1 ORDER BY stack_id, "
        "CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 WHEN 'map_file' THEN 2 ELSE 3 "
        "END, flags";
    sqlite3_stmt *s = NULL;
    int r = query_begin(loader, sql, &s);
    while (r == 0 && (r = query_step(loader, s)) > 0) {
        uint32_t flags;
        int space = store_word(s, 1, store_space_names, TRACE_SPACES);
        uint32_t node = id_index(&loader->node_ids, sqlite3_column_int64(s, 0));
        if (space < 0 || node == UINT32_MAX || !store_uint32(s, 2, &flags) ||
            flags > UINT16_MAX) {
            r = store_damaged(&loader->reader, "a call site with impossible values");
            break;
        }
        struct profile_site *site = vector_add(&loader->sites);
        r = site ? 0 : store_no_memory(&loader->reader);
        if (site)
            *site = (struct profile_site){node, (uint16_t)space, (uint16_t)flags};
    }
    sqlite3_finalize(s);
    return r;
}

static int row_take(struct loader *loader, sqlite3_stmt *s) {
    struct profile_site site = {
        .node = id_index(&loader->node_ids, sqlite3_column_int64(s, 0)),
        .space = (uint16_t)store_word(s, 1, store_space_names, TRACE_SPACES),
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
        return store_no_memory(&loader->reader);
    *slot = row;
    return 0;
}

static int load_rows(struct loader *loader, int64_t region_id, struct profile_region *region) {
    static const char sql[] =
        "SELECT stack_id, space, flags, allocated_blocks, allocated_bytes, freed_blocks, "
        "freed_bytes, start_blocks, start_bytes, peak_blocks, peak_bytes, end_blocks, "
        "end_bytes, temporary FROM region_site WHERE region_id=?1 ORDER BY stack_id, "
        "CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 WHEN 'map_file' THEN 2 ELSE 3 "
        "END, flags";
    sqlite3_stmt *s = NULL;
    loader->rows.count = 0;
    int r = store_prepare(loader->reader.store, sql, &s, loader->reader.fault);
    if (r == 0)
        r = store_bind(loader->reader.store, s, loader->reader.fault, "i", region_id);
    while (r == 0 && (r = query_step(loader, s)) > 0)
        r = row_take(loader, s);
    sqlite3_finalize(s);
    if (r < 0)
        return r;
    struct profile_row *rows =
        arena_array(loader->reader.arena, loader->rows.count, sizeof(*rows));
    if (!rows)
        return store_no_memory(&loader->reader);
    if (loader->rows.count > 0)
        memcpy(rows, loader->rows.items, loader->rows.count * sizeof(*rows));
    region->rows = rows;
    region->rows_count = loader->rows.count;
    return 0;
}

static int region_extras_take(struct loader *loader, sqlite3_stmt *s,
                              struct profile_region *region) {
    if (!store_uint32(s, 13, &region->thread))
        return store_damaged(&loader->reader, "a region with impossible values");
    region->peak_elapsed_ns = sqlite3_column_int64(s, 14);
    region->usable_is_known = sqlite3_column_type(s, 16) != SQLITE_NULL;
    region->usable_start_bytes = sqlite3_column_int64(s, 15);
    region->usable_peak_bytes = sqlite3_column_int64(s, 16);
    region->usable_end_bytes = sqlite3_column_int64(s, 17);
    int r = store_series_read((const char *)sqlite3_column_text(s, 18),
                              (const char *)sqlite3_column_text(s, 19), loader->reader.arena,
                              region);
    if (r == -ENOMEM)
        return store_no_memory(&loader->reader);
    return r < 0 ? store_damaged(&loader->reader, "a list of numbers that is none") : 0;
}

static int load_region(struct loader *loader, sqlite3_stmt *s, struct profile_region *region) {
    region->name = store_text(loader->reader.arena, s, 3);
    if (!region->name)
        return store_no_memory(&loader->reader);
    if (!store_uint32(s, 2, &region->parent) || !store_uint32(s, 4, &region->instance))
        return store_damaged(&loader->reader, "a region with impossible values");
    region->open = sqlite3_column_int(s, 5) != 0;
    region->has_rows = sqlite3_column_int(s, 6) != 0;
    region->begin_elapsed_ns = sqlite3_column_int64(s, 7);
    region->end_elapsed_ns = sqlite3_column_int64(s, 8);
    region->cpu_ns = sqlite3_column_int64(s, 9);
    region->combined_start_bytes = sqlite3_column_int64(s, 10);
    region->combined_peak_bytes = sqlite3_column_int64(s, 11);
    region->combined_end_bytes = sqlite3_column_int64(s, 12);
    int r = region_extras_take(loader, s, region);
    if (r < 0)
        return r;
    int64_t id = sqlite3_column_int64(s, 0);
    r = load_totals(loader, id, region);
    return r == 0 && region->has_rows ? load_rows(loader, id, region) : r;
}

static int load_regions(struct loader *loader) {
    static const char sql[] =
        "SELECT id, ordinal, parent_ordinal, name, instance, open, has_sites, begin_ns, "
        "end_ns, cpu_ns, combined_start, combined_peak, combined_end, thread, peak_ns, "
        "usable_start, usable_peak, usable_end, sizes, timeline FROM region WHERE run_id=?1 "
        "ORDER BY ordinal";
    struct vector regions = VECTOR_OF(struct profile_region);
    struct profile *profile = &loader->run->profile;
    sqlite3_stmt *s = NULL;
    int r = query_begin(loader, sql, &s);
    while (r == 0 && (r = query_step(loader, s)) > 0) {
        struct profile_region *region = vector_add(&regions);
        if (!region)
            r = store_no_memory(&loader->reader);
        else if (sqlite3_column_int64(s, 1) != (int64_t)regions.count - 1)
            r = store_damaged(&loader->reader, "a region is missing");
        else
            r = load_region(loader, s, region);
    }
    if (r == 0) {
        struct profile_region *kept =
            arena_array(loader->reader.arena, regions.count, sizeof(*kept));
        if (kept && regions.count > 0)
            memcpy(kept, regions.items, regions.count * sizeof(*kept));
        r = kept ? 0 : store_no_memory(&loader->reader);
        profile->regions = kept;
        profile->region_count = regions.count;
    }
    sqlite3_finalize(s);
    vector_finish(&regions);
    return r;
}

static int nodes_keep(struct loader *loader) {
    struct profile *profile = &loader->run->profile;
    struct profile_node *nodes =
        arena_array(loader->reader.arena, loader->nodes.count, sizeof(*nodes));
    struct profile_site *sites =
        arena_array(loader->reader.arena, loader->sites.count, sizeof(*sites));
    if (!nodes || !sites)
        return store_no_memory(&loader->reader);
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
    int r = store_execute(loader->reader.store, "BEGIN", loader->reader.fault);
    if (r < 0)
        return r;
    r = store_load_run(&loader->reader, id, loader->run);
    for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
        r = steps[i](loader);
    sqlite3_exec(loader->reader.store->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int store_load(struct store *store, int64_t id, struct run *ret_run, struct fault *fault) {
    struct run run = {0};
    struct loader loader = {
        .reader = {store, fault, &run.profile.arena},
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
