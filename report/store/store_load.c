/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_load.c: one run out of the store, whole: its sites, the stacks they need, its regions.
 *
 * Sites are unpacked twice: to know which there are, and to fill the regions. The sets that a
 * run needs are few and kept meanwhile. Sums that do not hold are refused by profile_check().
 */
#include "store_loader.h"
#include "store_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int key_compare(const void *a, const void *b) {
    const struct site_key *left = a;
    const struct site_key *right = b;
    if (left->stack != right->stack)
        return left->stack < right->stack ? -1 : 1;
    return (left->kind > right->kind) - (left->kind < right->kind);
}

static int place_compare(const void *a, const void *b) {
    const struct store_set_place *left = a;
    const struct store_set_place *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->origin > right->origin) - (left->origin < right->origin);
}

static void sort_unique(struct vector *vector, int (*compare)(const void *, const void *)) {
    char *items = vector->items;
    size_t kept = 0;
    if (vector->count > 0)
        qsort(items, vector->count, vector->item_bytes, compare);
    for (size_t i = 0; i < vector->count; i++) {
        const char *item = items + i * vector->item_bytes;
        if (kept == 0 || compare(items + (kept - 1) * vector->item_bytes, item) != 0)
            memmove(items + kept++ * vector->item_bytes, item, vector->item_bytes);
    }
    vector->count = kept;
}

/* The sites of one set are sites of the run. */
static int add_keys(struct loader *loader, const struct store_set_place *place) {
    const struct store_sites *sites;
    int r = store_sets_get(&loader->sets, place->id, &sites);
    for (size_t i = 0; r == 0 && i < sites->list.count; i++) {
        const struct store_site *site = (const struct store_site *)sites->list.items + i;
        struct site_key *key = vector_add(&loader->sites);
        r = key ? 0 : store_no_memory(&loader->reader);
        if (key)
            *key = (struct site_key){site->stack + place->origin, site->kind};
    }
    return r;
}

/* Where the sites of the run's regions are, each place once. */
static int list_places(struct loader *loader, struct vector *places) {
    static const char sql[] = "SELECT site_set_id, stack_origin FROM region WHERE run_id=?1 "
                              "AND site_set_id IS NOT NULL";
    sqlite3_stmt *s = NULL;
    int r = loader_query(loader, sql, &s);
    while (r == 0 && (r = loader_step(loader, s)) > 0) {
        struct store_set_place *place = vector_add(places);
        r = place ? 0 : store_no_memory(&loader->reader);
        if (r < 0)
            break;
        *place =
            (struct store_set_place){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
        if (!store_sites_stack_is_sane(place->origin))
            r = store_damaged(&loader->reader, "a region with impossible values");
    }
    sqlite3_finalize(s);
    return r;
}

/* Which sites there are. Most regions share most: what is twice goes before it fills memory. */
static int load_keys(struct loader *loader) {
    struct vector places = VECTOR_OF(struct store_set_place);
    size_t most = 65536;
    int r = list_places(loader, &places);
    sort_unique(&places, place_compare);
    for (size_t i = 0; r == 0 && i < places.count; i++) {
        r = add_keys(loader, (struct store_set_place *)places.items + i);
        if (loader->sites.count > most) {
            sort_unique(&loader->sites, key_compare);
            most = 2 * loader->sites.count + 65536;
        }
    }
    sort_unique(&loader->sites, key_compare);
    vector_finish(&places);
    return r;
}

static int load_sites(struct loader *loader) {
    const struct site_key *keys = loader->sites.items;
    struct profile *profile = &loader->run->profile;
    struct profile_site *sites =
        arena_array(loader->reader.arena, loader->sites.count, sizeof(*sites));
    if (!sites)
        return store_no_memory(&loader->reader);
    for (size_t i = 0; i < loader->sites.count; i++) {
        uint32_t node = loader_node_of(loader, keys[i].stack);
        if (node == UINT32_MAX)
            return store_damaged(&loader->reader, "a call stack that is not there");
        sites[i] = (struct profile_site){node, (uint16_t)(keys[i].kind % STORE_SITE_SPACES),
                                         (uint16_t)(keys[i].kind / STORE_SITE_SPACES)};
    }
    profile->sites = sites;
    profile->site_count = loader->sites.count;
    return 0;
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
    while (r == 0 && (r = loader_step(loader, s)) > 0) {
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

/* What was freed is not stored: it follows. profile_check() finds what cannot be. */
static struct profile_pair freed_of(const struct store_site *site) {
    return (struct profile_pair){
        (int64_t)((uint64_t)site->start.blocks + (uint64_t)site->allocated.blocks -
                  (uint64_t)site->end.blocks),
        (int64_t)((uint64_t)site->start.bytes + (uint64_t)site->allocated.bytes -
                  (uint64_t)site->end.bytes),
    };
}

static int load_rows(struct loader *loader, struct store_set_place place,
                     struct profile_region *region) {
    const struct site_key *keys = loader->sites.items;
    const struct store_sites *sites;
    int r = store_sets_get(&loader->sets, place.id, &sites);
    if (r < 0)
        return r;
    struct profile_row *rows =
        arena_array(loader->reader.arena, sites->list.count, sizeof(*rows));
    if (!rows)
        return store_no_memory(&loader->reader);
    for (size_t i = 0; i < sites->list.count; i++) {
        const struct store_site *site = (const struct store_site *)sites->list.items + i;
        const struct site_key key = {site->stack + place.origin, site->kind};
        const struct site_key *found =
            bsearch(&key, keys, loader->sites.count, sizeof(key), key_compare);
        if (!found)
            return store_damaged(&loader->reader, "a call site that is not there");
        rows[i] = (struct profile_row){
            .site = (uint32_t)(found - keys),
            .allocated = site->allocated,
            .freed = freed_of(site),
            .start = site->start,
            .peak = site->peak,
            .end = site->end,
            .temporary = site->temporary,
        };
    }
    region->rows = rows;
    region->rows_count = sites->list.count;
    return 0;
}

static int series_take(struct loader *loader, sqlite3_stmt *s, struct profile_region *region) {
    const char *sizes = (const char *)sqlite3_column_text(s, 18);
    int r = sizes ? store_series_read_sizes(sizes, loader->reader.arena, region) : 0;
    if (r == 0 && sqlite3_column_type(s, 19) != SQLITE_NULL) {
        const unsigned char *packed = sqlite3_column_blob(s, 19);
        r = store_series_read_timeline(packed ? packed : (const unsigned char *)"",
                                       (size_t)sqlite3_column_bytes(s, 19),
                                       loader->reader.arena, region);
    }
    if (r == -ENOMEM)
        return store_no_memory(&loader->reader);
    return r < 0 ? store_damaged(&loader->reader, "a list of numbers that is none") : 0;
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
    return series_take(loader, s, region);
}

static int load_region(struct loader *loader, sqlite3_stmt *s, struct profile_region *region) {
    region->name = store_text(loader->reader.arena, s, 3);
    if (!region->name)
        return store_no_memory(&loader->reader);
    if (!store_uint32(s, 2, &region->parent) || !store_uint32(s, 4, &region->instance))
        return store_damaged(&loader->reader, "a region with impossible values");
    region->open = sqlite3_column_int(s, 5) != 0;
    region->has_rows = sqlite3_column_int(s, 6) != 0;
    region->pruned =
        loader->run->pruned && !region->has_rows && !loader->run->profile.truncated;
    region->begin_elapsed_ns = sqlite3_column_int64(s, 7);
    region->end_elapsed_ns = sqlite3_column_int64(s, 8);
    region->cpu_ns = sqlite3_column_int64(s, 9);
    region->combined_start_bytes = sqlite3_column_int64(s, 10);
    region->combined_peak_bytes = sqlite3_column_int64(s, 11);
    region->combined_end_bytes = sqlite3_column_int64(s, 12);
    int r = region_extras_take(loader, s, region);
    if (r < 0)
        return r;
    struct store_set_place place = {sqlite3_column_int64(s, 20), sqlite3_column_int64(s, 21)};
    if (region->has_rows != (place.id != 0))
        return store_damaged(&loader->reader, "a region that has lost its sites");
    r = load_totals(loader, sqlite3_column_int64(s, 0), region);
    return r == 0 && region->has_rows ? load_rows(loader, place, region) : r;
}

static int load_regions(struct loader *loader) {
    static const char sql[] =
        "SELECT id, ordinal, parent_ordinal, name, instance, open, has_sites, begin_ns, "
        "end_ns, cpu_ns, combined_start, combined_peak, combined_end, thread, peak_ns, "
        "usable_start, usable_peak, usable_end, sizes, packed, site_set_id, stack_origin "
        "FROM region LEFT JOIN region_timeline ON region_id=region.id WHERE run_id=?1 "
        "ORDER BY ordinal";
    struct vector regions = VECTOR_OF(struct profile_region);
    struct profile *profile = &loader->run->profile;
    sqlite3_stmt *s = NULL;
    int r = loader_query(loader, sql, &s);
    while (r == 0 && (r = loader_step(loader, s)) > 0) {
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

/* Everything comes from one moment of the file, whatever is imported meanwhile. */
static int load_all(struct loader *loader, int64_t id) {
    static int (*const steps[])(struct loader *) = {
        load_keys,
        loader_load_stacks,
        load_sites,
        load_regions,
    };
    int r = store_execute(loader->reader.store, "BEGIN", loader->reader.fault);
    if (r < 0)
        return r;
    r = store_load_run(&loader->reader, id, loader->run);
    if (r == 0)
        r = store_sets_open(&loader->sets, loader->reader.store, loader->reader.fault);
    for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
        r = steps[i](loader);
    store_sets_close(&loader->sets);
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
        .sites = VECTOR_OF(struct site_key),
    };
    int r = load_all(&loader, id);
    if (r == 0) {
        struct fault inner;
        r = profile_check(&run.profile, &inner);
        if (r < 0)
            fault_set(fault, r, "the store is damaged: run %" PRId64 ": %s", id, inner.text);
    }
    struct vector *vectors[] = {&loader.nodes, &loader.node_ids, &loader.frame_ids,
                                &loader.module_ids, &loader.sites};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        vector_finish(vectors[i]);
    if (r < 0) {
        run_finish(&run);
        return r;
    }
    *ret_run = run;
    return 0;
}
