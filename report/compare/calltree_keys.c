/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calltree_keys.c: list the frames in use, sort them by what makes them the same, number the
 * groups.
 *
 * First by function, to see which names stand in several files on one side: only those are told
 * apart by their file. All others get the file of AFTER for both sides. Then by the key itself.
 */
#include "calltree_keys.h"

#include "callsite.h"
#include "vector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame in use. */
struct place {
    struct callsite at; /* profile and vague modules, for what callsite.c compares */
    uint32_t node;      /* a node that has the frame */
    uint32_t frame;
    enum calltree_side side;
    enum calltree_by by;
    const char *file; /* callsite_file() of what the function is taken to be in */
};

static const struct profile_frame *frame_of(const struct place *place) {
    return &place->at.profile->frames[place->frame];
}

static const char *module_of(const struct place *place) {
    return callsite_basename(place->at.profile->modules[frame_of(place)->module].path);
}

uint32_t calltree_innermost(const struct profile *profile, const struct profile_row *row,
                            const struct calltree_settings *settings) {
    uint32_t node = profile->sites[row->site].node;
    return settings->fold_helpers ? callsite_telling_node(profile, node) : node;
}

/* Each frame on a stack of @source once. */
static int places_add(const struct calltree_source *source, enum calltree_side side,
                      const bool *vague, const struct calltree_settings *settings,
                      struct vector *places) {
    const struct profile *profile = source->profile;
    bool *seen = calloc(profile->node_count + profile->frame_count + 1, sizeof(*seen));
    bool *listed = seen ? seen + profile->node_count : NULL;
    int r = seen ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < source->region->rows_count; i++) {
        const struct profile_row *row = &source->region->rows[i];
        if (profile->sites[row->site].space != settings->space)
            continue;
        uint32_t node = calltree_innermost(profile, row, settings);
        for (; r == 0 && node != 0 && !seen[node]; node = profile->nodes[node].parent) {
            uint32_t frame = profile->nodes[node].frame;
            seen[node] = true;
            if (listed[frame])
                continue;
            listed[frame] = true;
            struct place *place = vector_add(places);
            r = place ? 0 : -ENOMEM;
            if (place)
                *place = (struct place){
                    .at = {.profile = profile, .vague = vague, .node = node},
                    .node = node,
                    .frame = frame,
                    .side = side,
                    .by = settings->by,
                    .file = callsite_file(profile, &profile->frames[frame]),
                };
        }
    }
    free(seen);
    return r;
}

/* For the same function: what is after first, so that the first of a group speaks for it. */
static int compare_functions(const void *a, const void *b) {
    const struct place *left = a;
    const struct place *right = b;
    int order = callsite_compare_function(&left->at, &right->at);
    if (order == 0)
        order = (int)right->side - (int)left->side;
    return order != 0 ? order : strcmp(left->file, right->file);
}

/* Is the name that [begin, end) share in one file only, as far as each side knows? */
static bool function_has_one_file(const struct place *begin, const struct place *end) {
    for (const struct place *place = begin + 1; place < end; place++)
        if (place->side == place[-1].side && strcmp(place->file, place[-1].file) != 0)
            return false;
    return frame_of(begin)->function[0] != '\0';
}

static void files_settle(struct place *places, size_t count) {
    qsort(places, count, sizeof(*places), compare_functions);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && callsite_compare_function(&places[i].at, &places[end].at) == 0)
            end++;
        bool one_file = function_has_one_file(&places[i], &places[end]);
        const char *file = places[i].file[0] != '\0' ? places[i].file : places[end - 1].file;
        for (; i < end; i++)
            if (one_file)
                places[i].file = file;
    }
}

static int compare_by_file(const struct place *left, const struct place *right) {
    int order = strcmp(left->file, right->file);
    if (order != 0 || left->file[0] != '\0')
        return order;
    return strcmp(module_of(left), module_of(right));
}

static int compare_by_function(const struct place *left, const struct place *right) {
    int order = callsite_compare_function(&left->at, &right->at);
    if (order == 0)
        order = strcmp(left->file, right->file);
    if (order == 0 && frame_of(left)->function[0] == '\0')
        order = callsite_compare_nameless(&left->at, left->node, &right->at, right->node);
    return order;
}

static int compare_by_line(const struct place *left, const struct place *right) {
    int order = compare_by_function(left, right);
    uint32_t a = frame_of(left)->lineno;
    uint32_t b = frame_of(right)->lineno;
    return order != 0 ? order : (a > b) - (a < b);
}

static int compare_by_module(const struct place *left, const struct place *right) {
    return strcmp(module_of(left), module_of(right));
}

static int compare_keys(const struct place *left, const struct place *right) {
    static int (*const compare[])(const struct place *, const struct place *) = {
        [CALLTREE_BY_FUNCTION] = compare_by_function,
        [CALLTREE_BY_FILE] = compare_by_file,
        [CALLTREE_BY_MODULE] = compare_by_module,
        [CALLTREE_BY_LINE] = compare_by_line,
    };
    return compare[left->by](left, right);
}

/*
 * Within a key AFTER first, and of that the lowest frame that has a line, so that the same input
 * names it alike.
 */
static int compare_places(const void *a, const void *b) {
    const struct place *left = a;
    const struct place *right = b;
    int order = compare_keys(left, right);
    if (order == 0)
        order = (int)right->side - (int)left->side;
    if (order == 0)
        order = (frame_of(left)->lineno == 0) - (frame_of(right)->lineno == 0);
    return order != 0 ? order : (left->frame > right->frame) - (left->frame < right->frame);
}

static const char *or_no_file(const char *module) {
    return module[0] != '\0' ? module : "(no file)";
}

static const char *place_name(const struct place *place, struct arena *arena) {
    const struct profile_frame *frame = frame_of(place);
    const char *module = or_no_file(module_of(place));
    if (place->by == CALLTREE_BY_MODULE)
        return module;
    if (place->by == CALLTREE_BY_FILE)
        return place->file[0] != '\0' ? place->file : module;
    if (frame->function[0] != '\0')
        return frame->function;
    if (callsite_is_vague(&place->at, place->node))
        return module;
    char *text;
    int length = asprintf(&text, "%s+0x%" PRIx64, module, frame->offset);
    if (length < 0)
        return NULL;
    const char *kept = arena_text(arena, text, (size_t)length);
    free(text);
    return kept;
}

static int keys_number(struct place *places, size_t count, struct arena *arena,
                       struct calltree_keys *keys) {
    qsort(places, count, sizeof(*places), compare_places);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_keys(&places[i - 1], &places[i]) != 0) {
            struct calltree_key *key = &keys->keys[keys->key_count++];
            *key = (struct calltree_key){
                .name = place_name(&places[i], arena),
                .profile = places[i].at.profile,
                .frame = frame_of(&places[i]),
            };
            if (!key->name)
                return -ENOMEM;
        }
        keys->by_frame[places[i].side][places[i].frame] = (uint32_t)keys->key_count - 1;
    }
    return 0;
}

static int keys_make_room(const struct calltree_source sources[CALLTREE_SIDES], size_t count,
                          struct calltree_keys *keys) {
    keys->keys = calloc(count + 1, sizeof(*keys->keys));
    bool failed = !keys->keys;
    for (size_t side = 0; side < CALLTREE_SIDES; side++) {
        if (!sources[side].profile)
            continue;
        keys->by_frame[side] =
            calloc(sources[side].profile->frame_count + 1, sizeof(*keys->by_frame[side]));
        failed |= !keys->by_frame[side];
    }
    return failed ? -ENOMEM : 0;
}

int calltree_keys_collect(const struct calltree_source sources[CALLTREE_SIDES],
                          const struct calltree_settings *settings, struct arena *arena,
                          struct calltree_keys *ret_keys) {
    struct vector places = VECTOR_OF(struct place);
    struct calltree_keys keys = {0};
    bool *vague[CALLTREE_SIDES] = {0};
    int r = 0;
    for (size_t side = 0; r == 0 && side < CALLTREE_SIDES; side++) {
        const struct calltree_source *peer = &sources[CALLTREE_SIDES - 1 - side];
        if (!sources[side].profile)
            continue;
        if (peer->profile)
            r = callsite_vague_modules(sources[side].profile, peer->profile, &vague[side]);
        if (r == 0)
            r = places_add(&sources[side], (enum calltree_side)side, vague[side], settings,
                           &places);
    }
    if (r == 0)
        r = keys_make_room(sources, places.count, &keys);
    if (r == 0 && places.count > 0) {
        files_settle(places.items, places.count);
        r = keys_number(places.items, places.count, arena, &keys);
    }
    vector_finish(&places);
    free(vague[CALLTREE_BEFORE]);
    free(vague[CALLTREE_AFTER]);
    if (r < 0)
        calltree_keys_finish(&keys);
    else
        *ret_keys = keys;
    return r;
}

void calltree_keys_finish(struct calltree_keys *keys) {
    free(keys->keys);
    for (size_t side = 0; side < CALLTREE_SIDES; side++)
        free(keys->by_frame[side]);
    *keys = (struct calltree_keys){0};
}
