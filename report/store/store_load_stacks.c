/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_load_stacks.c: the call stacks of one run: nodes, frames and modules.
 *
 * Ids of the file become small numbers of the profile by their place among the sorted ids that
 * the run uses. Ids that lead nowhere are refused here.
 */
#include "store_loader.h"

#include "json.h"
#include "textstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int loader_query(struct loader *loader, const char *sql, sqlite3_stmt **ret_statement) {
    int r = store_prepare(loader->reader.store, sql, ret_statement, loader->reader.fault);
    if (r < 0)
        return r;
    return store_bind(loader->reader.store, *ret_statement, loader->reader.fault, "i",
                      loader->run->id);
}

int loader_step(struct loader *loader, sqlite3_stmt *statement) {
    return store_step(loader->reader.store, statement, loader->reader.fault);
}

uint32_t loader_node_of(const struct loader *loader, int64_t stack) {
    return id_index(&loader->node_ids, stack);
}

/* The stacks of the sites as JSON, each once; free() it. NULL when there is no memory. */
static char *stacks_wanted(const struct loader *loader) {
    const struct site_key *keys = loader->sites.items;
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    struct json json = {.stream = stream, .compact = true};
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < loader->sites.count; i++)
        if (i == 0 || keys[i].stack != keys[i - 1].stack)
            json_int(&json, NULL, keys[i].stack);
    json_end(&json, ']');
    return textstream_take(&text);
}

static int node_take(struct loader *loader, sqlite3_stmt *s) {
    int64_t id = sqlite3_column_int64(s, 0);
    struct profile_node *node = vector_add(&loader->nodes);
    int r = node ? id_push(loader, &loader->node_ids, id) : store_no_memory(&loader->reader);
    if (r == 0)
        r = id_push(loader, &loader->frame_ids, sqlite3_column_int64(s, 2));
    if (r < 0)
        return r;
    uint32_t own = (uint32_t)(loader->nodes.count - 1);
    node->parent = id_index(&loader->node_ids, sqlite3_column_int64(s, 1));
    if (own == 0 ? id != 0 || node->parent != 0 : node->parent >= own)
        return store_damaged(&loader->reader, "call stacks point nowhere");
    return 0;
}

static int load_nodes(struct loader *loader) {
    /* UNION drops what was seen, so a cycle in a damaged file ends, too. */
    static const char sql[] =
        "WITH RECURSIVE used(id) AS (SELECT 0 UNION SELECT value FROM json_each(?1) "
        "UNION SELECT parent_id FROM stack JOIN used USING (id)) "
        "SELECT id, parent_id, frame_id FROM used JOIN stack USING (id) ORDER BY id";
    sqlite3_stmt *s = NULL;
    char *wanted = stacks_wanted(loader);
    int r = wanted ? store_prepare(loader->reader.store, sql, &s, loader->reader.fault)
                   : store_no_memory(&loader->reader);
    if (r == 0)
        r = store_bind(loader->reader.store, s, loader->reader.fault, "t", wanted);
    while (r == 0 && (r = loader_step(loader, s)) > 0)
        r = node_take(loader, s);
    sqlite3_finalize(s);
    free(wanted);
    if (r == 0 && loader->nodes.count == 0)
        r = store_damaged(&loader->reader, "it has no root of the call stacks");
    return r;
}

static int load_frames(struct loader *loader) {
    static const char sql[] =
        "SELECT module_id, offset, level, function, file, line FROM frame "
        "JOIN symbol ON symbol.id=symbol_id WHERE frame.id=?1";
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
        r = loader_step(loader, s);
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
        r = loader_step(loader, s);
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

static int keep_nodes(struct loader *loader) {
    struct profile *profile = &loader->run->profile;
    struct profile_node *nodes =
        arena_array(loader->reader.arena, loader->nodes.count, sizeof(*nodes));
    if (!nodes)
        return store_no_memory(&loader->reader);
    memcpy(nodes, loader->nodes.items, loader->nodes.count * sizeof(*nodes));
    profile->nodes = nodes;
    profile->node_count = loader->nodes.count;
    profile_note_interpreters(profile);
    return profile_fold_interpreters(profile) < 0 ? store_no_memory(&loader->reader) : 0;
}

int loader_load_stacks(struct loader *loader) {
    int r = load_nodes(loader);
    if (r == 0)
        r = load_frames(loader);
    if (r == 0)
        r = load_modules(loader);
    if (r == 0)
        r = keep_nodes(loader);
    return r;
}
