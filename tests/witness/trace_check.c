/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_check.c: the invariants of trace_layout.h, derived once more.
 *
 * First the chunks are walked and every id gets a pointer; then each region is summed over all
 * sites and compared with its totals. A trace whose process was killed inside an event may
 * differ by that event, in one space, by at most one block, and in no other way.
 */
#include "trace_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static int fault(struct trace_check *check,
                                                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (check->fault[0] == '\0')
        vsnprintf(check->fault, sizeof(check->fault), format, arguments);
    va_end(arguments);
    return -1;
}

static void *grow(void *array, size_t count, size_t size) {
    void *larger = realloc(array, (count > 0 ? count : 1) * size);
    if (larger == NULL)
        abort();
    return larger;
}

/* Chunks */

static int check_header(struct trace_check *check) {
    const struct trace_header *header = check->header;
    if (check->size < TRACE_HEADER_BYTES)
        return fault(check, "%zu bytes are no header", check->size);
    if (memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) != 0 ||
        header->version != TRACE_VERSION || header->header_bytes != TRACE_HEADER_BYTES ||
        header->byte_order != TRACE_BYTE_ORDER)
        return fault(check, "not a trace of this version");
    if (header->state > TRACE_EXECED || header->updating > 1 ||
        header->stacks > TRACE_STACKS_ALL)
        return fault(check, "state %u, updating %" PRIu64 ", stacks %u", header->state,
                     header->updating, header->stacks);
    if (header->used_bytes < TRACE_HEADER_BYTES || header->used_bytes > check->size)
        return fault(check, "used_bytes %" PRIu64 " in a file of %zu", header->used_bytes,
                     check->size);
    if (memchr(header->program, '\0', sizeof(header->program)) == NULL ||
        memchr(header->votrace_version, '\0', sizeof(header->votrace_version)) == NULL)
        return fault(check, "program or version without end");
    return 0;
}

/* Ids count up without gaps. */
static int check_ids(struct trace_check *check, const struct trace_chunk *chunk,
                     uint32_t capacity, size_t entry_bytes) {
    if (chunk->first != capacity || chunk->count == 0)
        return fault(check, "chunk of kind %u begins with id %u instead of %u", chunk->kind,
                     chunk->first, capacity);
    if (chunk->bytes - sizeof(*chunk) < chunk->count * entry_bytes)
        return fault(check, "chunk of kind %u is too short", chunk->kind);
    return 0;
}

#define ADD_IDS(check, chunk, field, capacity, type)                                           \
    do {                                                                                       \
        if (check_ids((check), (chunk), (check)->capacity, sizeof(type)) < 0)                  \
            return -1;                                                                         \
        (check)->field =                                                                       \
            grow((check)->field, (check)->capacity + (size_t)(chunk)->count, sizeof(void *));  \
        for (uint32_t at = 0; at < (chunk)->count; at++)                                       \
            (check)->field[(check)->capacity++] =                                              \
                (const type *)(const void *)((chunk) + 1) + at;                                \
    } while (0)

static int add_rows(struct trace_check *check, const struct trace_chunk *chunk) {
    if (chunk->count != TRACE_ROWS_PER_CHUNK || chunk->first % TRACE_ROWS_PER_CHUNK != 0 ||
        chunk->bytes - sizeof(*chunk) < chunk->count * sizeof(struct trace_row))
        return fault(check, "rows: %u from %u", chunk->count, chunk->first);
    if (chunk->owner == TRACE_NO_OWNER)
        return 0;
    if (check->row_chunk_count % 1024 == 0)
        check->rows = grow(check->rows, check->row_chunk_count + 1024, sizeof(*check->rows));
    check->rows[check->row_chunk_count++] = (struct trace_rows){
        .owner = chunk->owner,
        .first = chunk->first,
        .rows = (const struct trace_row *)(const void *)(chunk + 1),
    };
    return 0;
}

static int check_module(struct trace_check *check, const struct trace_chunk *chunk) {
    const struct trace_module *module = (const struct trace_module *)(const void *)(chunk + 1);
    size_t payload = chunk->bytes - sizeof(*chunk);
    if (payload < sizeof(*module) || module->path_bytes > payload - sizeof(*module) ||
        module->start >= module->end || module->build_id_bytes > TRACE_BUILD_ID_MAX)
        return fault(check, "module %u is not whole", check->module_count);
    check->module_count++;
    return 0;
}

static int check_text(struct trace_check *check, const struct trace_chunk *chunk) {
    if (chunk->first < TRACE_TEXT_EXE || chunk->first > TRACE_TEXT_CWD ||
        chunk->count > chunk->bytes - sizeof(*chunk))
        return fault(check, "text %u of %u bytes", chunk->first, chunk->count);
    check->text_count++;
    return 0;
}

static int add_chunk(struct trace_check *check, const struct trace_chunk *chunk) {
    switch (chunk->kind) {
    case TRACE_CHUNK_NODES:
        ADD_IDS(check, chunk, nodes, node_capacity, struct trace_node);
        return 0;
    case TRACE_CHUNK_SITES:
        ADD_IDS(check, chunk, sites, site_capacity, struct trace_site);
        return 0;
    case TRACE_CHUNK_REGIONS:
        ADD_IDS(check, chunk, regions, region_capacity, struct trace_region);
        return 0;
    case TRACE_CHUNK_ROWS:
        return add_rows(check, chunk);
    case TRACE_CHUNK_MODULE:
        return check_module(check, chunk);
    case TRACE_CHUNK_TEXT:
        return check_text(check, chunk);
    }
    return fault(check, "chunk of unknown kind %u", chunk->kind);
}

static int compare_rows(const void *a, const void *b) {
    const struct trace_rows *left = a;
    const struct trace_rows *right = b;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

static int walk_chunks(struct trace_check *check) {
    uint64_t at = TRACE_HEADER_BYTES;
    while (at < check->header->used_bytes) {
        const struct trace_chunk *chunk =
            (const struct trace_chunk *)(const void *)(check->bytes + at);
        uint64_t left = check->header->used_bytes - at;
        if (left < sizeof(*chunk) || chunk->magic != TRACE_CHUNK_MAGIC ||
            chunk->bytes < sizeof(*chunk) || chunk->bytes % TRACE_CHUNK_ALIGN != 0 ||
            chunk->bytes > left)
            return fault(check, "no chunk at %" PRIu64, at);
        if (add_chunk(check, chunk) < 0)
            return -1;
        at += chunk->bytes;
    }
    if (check->row_chunk_count > 0)
        qsort(check->rows, check->row_chunk_count, sizeof(*check->rows), compare_rows);
    for (size_t i = 1; i < check->row_chunk_count; i++)
        if (compare_rows(&check->rows[i - 1], &check->rows[i]) == 0)
            return fault(check, "rows of region %u from site %u twice", check->rows[i].owner,
                         check->rows[i].first);
    return 0;
}

/* Tables */

static int check_tables(struct trace_check *check) {
    const struct trace_header *header = check->header;
    check->cut = header->node_count > check->node_capacity ||
                 header->site_count > check->site_capacity ||
                 header->region_count > check->region_capacity;
    if (check->cut && header->completeness.file_refused == 0)
        return fault(check, "tables are shorter than the header counts, and nothing says why");
    return 0;
}

static int check_nodes(struct trace_check *check) {
    for (uint32_t id = 0; id < check->header->node_count; id++) {
        const struct trace_node *node = check->nodes[id];
        if (id == 0
                ? node->parent != 0 || node->depth != 0 || node->address != 0
                : node->parent >= id || node->depth != check->nodes[node->parent]->depth + 1 ||
                      node->depth > check->header->depth_limit)
            return fault(check, "node %u: parent %u, depth %u", id, node->parent, node->depth);
    }
    return 0;
}

static int check_sites(struct trace_check *check) {
    uint32_t count = check->header->site_count;
    unsigned char *taken = calloc(check->header->node_count + 1, 1);
    int r = 0;
    for (uint32_t id = 0; id < count && r == 0; id++) {
        const struct trace_site *site = check->sites[id];
        if (site->node >= check->header->node_count || site->space >= TRACE_SPACES)
            r = fault(check, "site %u: node %u, space %u", id, site->node, site->space);
        else if (id < TRACE_FIXED_SITES)
            r = site->node == 0 && site->space == id % TRACE_SPACES &&
                        site->flags ==
                            (id < TRACE_SPACES ? TRACE_SITE_NO_STACK : TRACE_SITE_OTHER)
                    ? 0
                    : fault(check, "fixed site %u is something else", id);
        else if (site->node == 0 || (site->flags & ~TRACE_SITE_TRUNCATED) != 0 ||
                 (taken[site->node] >> site->space & 1) != 0)
            r = fault(check, "site %u: node %u and space %u a second time, or flags %u", id,
                      site->node, site->space, site->flags);
        else
            taken[site->node] |= (unsigned char)(1u << site->space);
    }
    free(taken);
    return r;
}

static int check_region_record(struct trace_check *check, uint32_t id) {
    const struct trace_region *region = check->regions[id];
    if (memchr(region->name, '\0', sizeof(region->name)) == NULL || region->open > 1 ||
        (region->flags & ~TRACE_REGION_NO_ROWS) != 0 || region->instance == 0)
        return fault(check, "region %u is not well formed", id);
    if (id == 0)
        return strcmp(region->name, "process") == 0 && region->open == 1 && region->flags == 0
                   ? 0
                   : fault(check, "region 0 is not the process");
    if (region->parent >= id)
        return fault(check, "region %u is inside the later region %u", id, region->parent);
    return 0;
}

/* Regions */

const struct trace_row *trace_check_row(const struct trace_check *check, uint32_t region,
                                        uint32_t site) {
    struct trace_rows wanted = {.owner = region, .first = site & ~(TRACE_ROWS_PER_CHUNK - 1)};
    if (check->row_chunk_count == 0)
        return NULL;
    const struct trace_rows *found =
        bsearch(&wanted, check->rows, check->row_chunk_count, sizeof(wanted), compare_rows);
    return found != NULL ? &found->rows[site % TRACE_ROWS_PER_CHUNK] : NULL;
}

static bool row_is_zero(const struct trace_row *row) {
    static const struct trace_row zero;
    return memcmp(row, &zero, sizeof(zero)) == 0;
}

struct derived {
    bool touched;
    int64_t start_blocks, start_bytes;
    int64_t live_blocks, live_bytes;
    int64_t peak_bytes;
};

static struct derived derive_untouched(const struct trace_check *check, uint32_t region,
                                       uint32_t site) {
    const struct trace_row *row = trace_check_row(check, 0, site);
    if (region == 0 || row == NULL || !check->regions[region]->open)
        return (struct derived){0};
    int64_t blocks = (int64_t)(row->allocated.blocks - row->freed.blocks);
    int64_t bytes = (int64_t)(row->allocated.bytes - row->freed.bytes);
    return (struct derived){.start_blocks = blocks,
                            .start_bytes = bytes,
                            .live_blocks = blocks,
                            .live_bytes = bytes,
                            .peak_bytes = bytes};
}

static struct derived derive(const struct trace_check *check, uint32_t region, uint32_t site,
                             const struct trace_row *row, uint64_t peak_epoch) {
    if (row == NULL || row->epoch == 0)
        return derive_untouched(check, region, site);
    struct derived result = {
        .touched = true,
        .start_blocks = (int64_t)row->start.blocks,
        .start_bytes = (int64_t)row->start.bytes,
        .live_blocks = (int64_t)(row->start.blocks + row->allocated.blocks - row->freed.blocks),
        .live_bytes = (int64_t)(row->start.bytes + row->allocated.bytes - row->freed.bytes),
    };
    result.peak_bytes = row->epoch < peak_epoch ? result.live_bytes : (int64_t)row->peak.bytes;
    return result;
}

struct trace_check_sums trace_check_sum(struct trace_check *check, uint32_t region,
                                        enum trace_space space) {
    struct trace_check_sums sums = {0};
    uint64_t peak_epoch = check->regions[region]->space[space].peak.epoch;

    for (uint32_t site = 0; site < check->header->site_count; site++) {
        if (check->sites[site]->space != space)
            continue;
        const struct trace_row *row = trace_check_row(check, region, site);
        struct derived derived = derive(check, region, site, row, peak_epoch);
        if (derived.live_blocks < 0 || derived.live_bytes < 0 || derived.peak_bytes < 0)
            fault(check, "region %u site %u: less than nothing is live", region, site);
        if (row != NULL && row->epoch > peak_epoch)
            fault(check, "region %u site %u: a snapshot of a later peak", region, site);
        if (row != NULL && row->epoch == 0 && check->header->state == TRACE_EXITED &&
            !row_is_zero(row))
            fault(check, "region %u site %u: untouched and not zero", region, site);
        sums.start_blocks += derived.start_blocks;
        sums.start_bytes += derived.start_bytes;
        sums.live_blocks += derived.live_blocks;
        sums.live_bytes += derived.live_bytes;
        sums.peak_bytes += derived.peak_bytes;
        if (!derived.touched)
            continue;
        sums.sites++;
        sums.allocations += row->allocated.blocks;
        sums.allocated_bytes += row->allocated.bytes;
        sums.frees += row->freed.blocks;
        sums.freed_bytes += row->freed.bytes;
        sums.temporary += row->temporary;
    }
    return sums;
}

/* Rows may be ahead of the totals by the one event that was being written. */
static int check_lag(struct trace_check *check, uint32_t region, enum trace_space space,
                     int64_t blocks, int64_t bytes) {
    if (blocks == 0 && bytes == 0)
        return 0;
    if (!check->header->updating)
        return fault(
            check,
            "region %u space %d: live of its sites and of its totals differ by %" PRIi64
            " blocks, %" PRIi64 " bytes",
            region, (int)space, blocks, bytes);
    bool first = check->lag_space < 0;
    if (first) {
        check->lag_space = (int)space;
        check->lag_blocks = blocks;
        check->lag_bytes = bytes;
    }
    if (check->lag_space != (int)space || check->lag_blocks != blocks ||
        check->lag_bytes != bytes || blocks < -1 || blocks > 1)
        return fault(check, "region %u space %d lags by more than one event", region,
                     (int)space);
    return 0;
}

static int check_ended(struct trace_check *check, uint32_t region, enum trace_space space,
                       const struct trace_check_sums *sums) {
    const struct trace_totals *totals = &check->regions[region]->space[space];
    if (totals->allocated.blocks != sums->allocations ||
        totals->allocated.bytes != sums->allocated_bytes ||
        totals->freed.blocks != sums->frees || totals->freed.bytes != sums->freed_bytes ||
        totals->temporary != sums->temporary)
        return fault(check, "region %u space %d: counts of its sites and its own differ",
                     region, (int)space);
    return 0;
}

/* What must hold between the totals themselves, rows or not. */
static int check_totals(struct trace_check *check, uint32_t region, enum trace_space space) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *totals = &record->space[space];
    bool owned_holds = totals->owned_peak_bytes >= totals->owned_live_bytes &&
                       totals->owned_live_bytes >= 0 &&
                       totals->owned_peak_bytes <= (int64_t)totals->peak.bytes;
    if (totals->peak.epoch == 0 || totals->peak.bytes < totals->start.bytes ||
        (!owned_holds && !check->header->updating))
        return fault(check, "region %u space %d: totals contradict each other", region,
                     (int)space);
    if (!check->header->updating && totals->live.bytes > totals->peak.bytes)
        return fault(check, "region %u space %d: live above the peak", region, (int)space);
    if (!record->open &&
        (totals->live.blocks !=
             totals->start.blocks + totals->allocated.blocks - totals->freed.blocks ||
         totals->live.bytes !=
             totals->start.bytes + totals->allocated.bytes - totals->freed.bytes))
        return fault(check, "region %u space %d: live is not start + allocated - freed", region,
                     (int)space);
    return 0;
}

static int check_space(struct trace_check *check, uint32_t region, enum trace_space space) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *totals = &record->space[space];
    if (check_totals(check, region, space) < 0)
        return -1;
    if (record->flags & TRACE_REGION_NO_ROWS)
        return 0;
    struct trace_check_sums sums = trace_check_sum(check, region, space);
    if (check->fault[0] != '\0')
        return -1;
    if (sums.peak_bytes != (int64_t)totals->peak.bytes)
        return fault(check,
                     "region %u space %d: the peaks of its sites sum up to %" PRIi64
                     ", its peak is %" PRIu64,
                     region, (int)space, sums.peak_bytes, totals->peak.bytes);
    if (sums.peak_bytes - sums.start_bytes !=
        (int64_t)totals->peak.bytes - (int64_t)totals->start.bytes)
        return fault(check, "region %u space %d: peak added is not the sum over its sites",
                     region, (int)space);
    if (check_lag(check, region, space, sums.live_blocks - (int64_t)totals->live.blocks,
                  sums.live_bytes - (int64_t)totals->live.bytes) < 0)
        return -1;
    return record->open ? 0 : check_ended(check, region, space, &sums);
}

static int check_combined(struct trace_check *check, uint32_t region) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *heap = &record->space[TRACE_HEAP];
    const struct trace_totals *anon = &record->space[TRACE_MAP_ANON];
    int64_t start = (int64_t)(heap->start.bytes + anon->start.bytes);
    int64_t live = (int64_t)(heap->live.bytes + anon->live.bytes);
    if (record->combined_start_bytes != start || record->combined_peak_bytes < start ||
        (!check->header->updating &&
         record->combined_peak_bytes > (int64_t)(heap->peak.bytes + anon->peak.bytes)) ||
        (!check->header->updating && record->combined_peak_bytes < live) ||
        (!record->open && record->combined_end_bytes != live))
        return fault(check, "region %u: the sums of heap and mappings do not hold", region);
    return 0;
}

static int check_regions(struct trace_check *check) {
    for (uint32_t id = 0; id < check->header->region_count; id++) {
        if (check_region_record(check, id) < 0)
            return -1;
        for (int space = 0; space < TRACE_SPACES; space++)
            if (check_space(check, id, (enum trace_space)space) < 0)
                return -1;
        if (check_combined(check, id) < 0)
            return -1;
    }
    for (size_t i = 0; i < check->row_chunk_count; i++)
        if (check->rows[i].owner >= check->header->region_count)
            return fault(check, "rows of region %u, which is none", check->rows[i].owner);
    return 0;
}

int trace_check(struct trace_check *check, const void *bytes, size_t size) {
    *check =
        (struct trace_check){.bytes = bytes, .size = size, .header = bytes, .lag_space = -1};
    if (check_header(check) < 0 || walk_chunks(check) < 0 || check_tables(check) < 0)
        return -1;
    if (check->cut)
        return 0;
    if (check_nodes(check) < 0 || check_sites(check) < 0 || check_regions(check) < 0)
        return -1;
    return 0;
}

void trace_check_finish(struct trace_check *check) {
    free(check->nodes);
    free(check->sites);
    free(check->regions);
    free(check->rows);
}

size_t trace_check_frames(const struct trace_check *check, uint32_t site, uint64_t *ret_frames,
                          size_t room) {
    size_t count = 0;
    for (uint32_t node = check->sites[site]->node; node != 0 && count < room;
         node = check->nodes[node]->parent)
        ret_frames[count++] = check->nodes[node]->address;
    return count;
}
