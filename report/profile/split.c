/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split.c: only what the region's sites need is taken along, in the old order, so that a parent is
 * still before its children. The process's sites are added up, which keeps every sum.
 */
#include "split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* New numbers of what is taken along, by old number; 0 is not taken, but for node 0. */
struct numbers {
    uint32_t *nodes;
    uint32_t *frames; /* + 1 */
    size_t node_count;
    size_t frame_count;
};

static int numbers_make(const struct profile *whole, const struct profile_region *region,
                        struct numbers *numbers) {
    numbers->nodes = calloc(whole->node_count, sizeof(*numbers->nodes));
    numbers->frames = calloc(whole->frame_count + 1, sizeof(*numbers->frames));
    if (!numbers->nodes || !numbers->frames)
        return -ENOMEM;
    for (size_t i = 0; i < region->rows_count; i++)
        numbers->nodes[whole->sites[region->rows[i].site].node] = 1;
    for (size_t i = whole->node_count - 1; i > 0; i--)
        if (numbers->nodes[i] != 0) {
            numbers->nodes[whole->nodes[i].parent] = 1;
            numbers->frames[whole->nodes[i].frame] = 1;
        }
    numbers->nodes[0] = 0;
    numbers->node_count = 1;
    for (size_t i = 1; i < whole->node_count; i++)
        if (numbers->nodes[i] != 0)
            numbers->nodes[i] = (uint32_t)numbers->node_count++;
    for (size_t i = 0; i < whole->frame_count; i++)
        if (numbers->frames[i] != 0)
            numbers->frames[i] = (uint32_t)++numbers->frame_count;
    return 0;
}

static int stacks_take(const struct profile *whole, const struct numbers *numbers,
                       struct profile *part) {
    struct profile_node *nodes = arena_array(&part->arena, numbers->node_count, sizeof(*nodes));
    struct profile_frame *frames =
        arena_array(&part->arena, numbers->frame_count + 1, sizeof(*frames));
    if (!nodes || !frames)
        return -ENOMEM;
    for (size_t i = 1; i < whole->node_count; i++)
        if (numbers->nodes[i] != 0)
            nodes[numbers->nodes[i]] =
                (struct profile_node){numbers->nodes[whole->nodes[i].parent],
                                      numbers->frames[whole->nodes[i].frame] - 1};
    for (size_t i = 0; i < whole->frame_count; i++)
        if (numbers->frames[i] != 0)
            frames[numbers->frames[i] - 1] = whole->frames[i];
    part->nodes = nodes;
    part->native_nodes = NULL;
    part->node_count = numbers->node_count;
    part->frames = frames;
    part->frame_count = numbers->frame_count;
    return 0;
}

static void pair_add(struct profile_pair *sum, const struct profile_pair *pair) {
    sum->blocks += pair->blocks;
    sum->bytes += pair->bytes;
}

static void row_add(struct profile_row *sum, const struct profile_row *row) {
    pair_add(&sum->allocated, &row->allocated);
    pair_add(&sum->freed, &row->freed);
    pair_add(&sum->start, &row->start);
    pair_add(&sum->peak, &row->peak);
    pair_add(&sum->end, &row->end);
    sum->temporary += row->temporary;
}

/* @sites begin with the nameless ones, one for each kind of memory. */
static int process_take(const struct profile *whole, struct profile *part,
                        struct profile_site *sites, struct profile_region *ret_process) {
    const struct profile_region *process = &whole->regions[0];
    struct profile_row *rows = arena_array(&part->arena, TRACE_SPACES, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    for (uint32_t space = 0; space < TRACE_SPACES; space++) {
        sites[space] =
            (struct profile_site){.space = (uint16_t)space, .flags = TRACE_SITE_NO_STACK};
        rows[space].site = space;
    }
    for (size_t i = 0; i < process->rows_count; i++)
        row_add(&rows[whole->sites[process->rows[i].site].space], &process->rows[i]);
    *ret_process = *process;
    ret_process->rows = rows;
    ret_process->rows_count = process->has_rows ? TRACE_SPACES : 0;
    ret_process->points = NULL;
    ret_process->points_count = 0;
    return 0;
}

static int region_take(const struct profile *whole, const struct profile_region *region,
                       const struct numbers *numbers, struct profile *part) {
    struct profile_region *regions = arena_array(&part->arena, 2, sizeof(*regions));
    struct profile_site *sites =
        arena_array(&part->arena, TRACE_SPACES + region->rows_count, sizeof(*sites));
    struct profile_row *rows = arena_array(&part->arena, region->rows_count, sizeof(*rows));
    if (!regions || !sites || (!rows && region->rows_count > 0) ||
        process_take(whole, part, sites, &regions[0]) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < region->rows_count; i++) {
        uint32_t number = (uint32_t)(TRACE_SPACES + i);
        sites[number] = whole->sites[region->rows[i].site];
        sites[number].node = numbers->nodes[sites[number].node];
        rows[i] = region->rows[i];
        rows[i].site = number;
    }
    regions[1] = *region;
    regions[1].parent = 0;
    regions[1].rows = rows;
    part->regions = regions;
    part->region_count = 2;
    part->sites = sites;
    part->site_count = TRACE_SPACES + region->rows_count;
    return 0;
}

int profile_split(const struct profile *whole, size_t index, struct profile *ret_part) {
    const struct profile_region *region = &whole->regions[index];
    struct numbers numbers = {0};
    struct profile part = *whole;
    part.arena = (struct arena){0};
    int r = numbers_make(whole, region, &numbers);
    if (r == 0)
        r = stacks_take(whole, &numbers, &part);
    if (r == 0)
        r = region_take(whole, region, &numbers, &part);
    free(numbers.nodes);
    free(numbers.frames);
    if (r < 0)
        profile_finish(&part);
    else
        *ret_part = part;
    return r;
}
