/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_check.c: the invariants of trace_layout.h, derived once more.
 *
 * First the chunks are walked and every id gets a pointer; then each region is summed over all
 * sites and lanes and compared with its totals. A trace whose process was killed inside events,
 * one for each lane at most, may differ by those events, and in no other way.
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

static bool uuid_is_zero(const uint8_t uuid[TRACE_UUID_BYTES]) {
    static const uint8_t zero[TRACE_UUID_BYTES];
    return memcmp(uuid, zero, sizeof(zero)) == 0;
}

/* A forked child names its parent, and nobody else does. */
static int check_parentage(struct trace_check *check) {
    const struct trace_header *header = check->header;
    bool forked = (header->flags & TRACE_FORKED) != 0;
    if (forked == uuid_is_zero(header->parent_uuid))
        return fault(check, forked ? "a forked child without its parent's uuid"
                                   : "a parent's uuid without a fork");
    if (forked && memcmp(header->uuid, header->parent_uuid, TRACE_UUID_BYTES) == 0)
        return fault(check, "its own parent");
    return 0;
}

static int check_header(struct trace_check *check) {
    const struct trace_header *header = check->header;
    if (check->size < TRACE_HEADER_BYTES)
        return fault(check, "%zu bytes are no header", check->size);
    if (memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) != 0 ||
        header->version != TRACE_VERSION || header->header_bytes != TRACE_HEADER_BYTES ||
        header->byte_order != TRACE_BYTE_ORDER)
        return fault(check, "not a trace of this version");
    if (header->state > TRACE_EXECED || header->updating > 1 ||
        header->stacks > TRACE_STACKS_ALL || (header->flags & ~(TRACE_FORKED | TRACE_USABLE)))
        return fault(check, "state %u, updating %" PRIu64 ", stacks %u, flags %u",
                     header->state, header->updating, header->stacks, header->flags);
    if (header->used_bytes < TRACE_HEADER_BYTES || header->used_bytes > check->size)
        return fault(check, "used_bytes %" PRIu64 " in a file of %zu", header->used_bytes,
                     check->size);
    if (memchr(header->program, '\0', sizeof(header->program)) == NULL ||
        memchr(header->votrace_version, '\0', sizeof(header->votrace_version)) == NULL)
        return fault(check, "program or version without end");
    return check_parentage(check);
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
    if (chunk->lane >= TRACE_LANES_MAX)
        return fault(check, "rows of lane %u", chunk->lane);
    if (chunk->owner == TRACE_NO_OWNER)
        return 0;
    if (chunk->lane > 0 && chunk->owner != 0)
        return fault(check, "rows of lane %u in region %u", chunk->lane, chunk->owner);
    if (chunk->lane > 0)
        check->lane_row_chunks++;
    check->lanes_with_rows |= UINT32_C(1) << chunk->lane;
    if (check->row_chunk_count % 1024 == 0)
        check->rows = grow(check->rows, check->row_chunk_count + 1024, sizeof(*check->rows));
    check->rows[check->row_chunk_count++] = (struct trace_rows){
        .owner = chunk->owner,
        .first = chunk->first,
        .lane = chunk->lane,
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
    if (module->generation > check->generations)
        check->generations = module->generation;
    check->module_count++;
    return 0;
}

static int check_text(struct trace_check *check, const struct trace_chunk *chunk) {
    if (chunk->first < TRACE_TEXT_EXE || chunk->first > TRACE_TEXT_PARENT ||
        chunk->count > chunk->bytes - sizeof(*chunk))
        return fault(check, "text %u of %u bytes", chunk->first, chunk->count);
    if (chunk->first == TRACE_TEXT_PARENT && !(check->header->flags & TRACE_FORKED))
        return fault(check, "a parent's path without a fork");
    check->text_count++;
    return 0;
}

static int check_code(struct trace_check *check, const struct trace_chunk *chunk) {
    const struct trace_code *code = (const struct trace_code *)(const void *)(chunk + 1);
    size_t payload = chunk->bytes - sizeof(*chunk);
    if (payload < sizeof(*code) || chunk->first != check->code_count + 1 ||
        (uint64_t)code->function_bytes + code->path_bytes > payload - sizeof(*code))
        return fault(check, "function %u is not whole", chunk->first);
    check->code_count++;
    return 0;
}

static int add_lane(struct trace_check *check, const struct trace_chunk *chunk) {
    const struct trace_lane *lane = (const struct trace_lane *)(const void *)(chunk + 1);
    if (chunk->first >= TRACE_LANES_MAX || chunk->bytes - sizeof(*chunk) < sizeof(*lane) ||
        check->lanes[chunk->first] != NULL || lane->updating > 1)
        return fault(check, "lane %u is not well formed, or there twice", chunk->first);
    check->lanes[chunk->first] = lane;
    check->lane_count++;
    check->updating += (uint32_t)lane->updating;
    return 0;
}

/* A TIMELINE or SIZES chunk: at most one of each in a region. */
static int add_extra(struct trace_check *check, struct trace_extras *extras,
                     const struct trace_chunk *chunk, size_t payload_bytes) {
    if (chunk->bytes - sizeof(*chunk) < payload_bytes)
        return fault(check, "chunk of kind %u is too short", chunk->kind);
    if (chunk->owner == TRACE_NO_OWNER)
        return 0;
    for (size_t i = 0; i < extras->count; i++)
        if (extras->items[i].owner == chunk->owner)
            return fault(check, "chunk of kind %u of region %u twice", chunk->kind,
                         chunk->owner);
    extras->items = grow(extras->items, extras->count + 1, sizeof(*extras->items));
    extras->items[extras->count++] = (struct trace_extra){chunk->owner, chunk + 1};
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
    case TRACE_CHUNK_CODE:
        return check_code(check, chunk);
    case TRACE_CHUNK_LANE:
        return add_lane(check, chunk);
    case TRACE_CHUNK_TIMELINE:
        return add_extra(check, &check->timelines, chunk, sizeof(struct trace_timeline));
    case TRACE_CHUNK_SIZES:
        return add_extra(check, &check->sizes, chunk, sizeof(struct trace_sizes));
    }
    return fault(check, "chunk of unknown kind %u", chunk->kind);
}

static int compare_rows(const void *a, const void *b) {
    const struct trace_rows *left = a;
    const struct trace_rows *right = b;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return left->lane < right->lane ? -1 : left->lane > right->lane;
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
            return fault(check, "rows of region %u from site %u in lane %u twice",
                         check->rows[i].owner, check->rows[i].first, check->rows[i].lane);
    for (uint32_t lane = 1; lane < TRACE_LANES_MAX; lane++)
        if ((check->lanes_with_rows >> lane & 1) != 0 && check->lanes[lane] == NULL)
            return fault(check, "rows of lane %u, which is none", lane);
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
                      node->depth > check->header->depth_limit ||
                      ((node->address & TRACE_CODE_FRAME) != 0 &&
                       (node->address & ~TRACE_CODE_FRAME) >> TRACE_CODE_LINE_BITS >
                           check->code_count))
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
        (region->flags & ~(TRACE_REGION_NO_ROWS | TRACE_REGION_THREAD)) != 0 ||
        region->instance == 0)
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

const struct trace_row *trace_check_lane_row(const struct trace_check *check, uint32_t region,
                                             uint32_t lane, uint32_t site) {
    struct trace_rows wanted = {
        .owner = region, .first = site & ~(TRACE_ROWS_PER_CHUNK - 1), .lane = lane};
    if (check->row_chunk_count == 0)
        return NULL;
    const struct trace_rows *found =
        bsearch(&wanted, check->rows, check->row_chunk_count, sizeof(wanted), compare_rows);
    return found != NULL ? &found->rows[site % TRACE_ROWS_PER_CHUNK] : NULL;
}

const struct trace_row *trace_check_row(const struct trace_check *check, uint32_t region,
                                        uint32_t site) {
    return trace_check_lane_row(check, region, 0, site);
}

static bool row_is_zero(const struct trace_row *row) {
    static const struct trace_row zero;
    return memcmp(row, &zero, sizeof(zero)) == 0;
}

static bool is_of_thread(const struct trace_check *check, uint32_t region) {
    return (check->regions[region]->flags & TRACE_REGION_THREAD) != 0;
}

/* Nothing is recorded any more but late frees: what lagged was brought up to date. */
static bool has_ended(const struct trace_check *check) {
    return check->header->state == TRACE_EXITED || check->header->state == TRACE_EXECED;
}

/* Were there threads with rows of their own? */
static bool has_lanes(const struct trace_check *check) {
    for (uint32_t lane = 0; lane < TRACE_LANES_MAX; lane++)
        if (check->lanes[lane] != NULL)
            return true;
    return false;
}

static void add_row(struct trace_check_site *sum, const struct trace_row *row,
                    uint64_t peak_epoch) {
    int64_t blocks = (int64_t)(row->start.blocks + row->allocated.blocks - row->freed.blocks);
    int64_t bytes = (int64_t)(row->start.bytes + row->allocated.bytes - row->freed.bytes);
    bool unmoved = row->epoch < peak_epoch;
    sum->touched = true;
    sum->start_blocks += (int64_t)row->start.blocks;
    sum->start_bytes += (int64_t)row->start.bytes;
    sum->live_blocks += blocks;
    sum->live_bytes += bytes;
    sum->peak_blocks += unmoved ? blocks : (int64_t)row->peak.blocks;
    sum->peak_bytes += unmoved ? bytes : (int64_t)row->peak.bytes;
    sum->allocations += row->allocated.blocks;
    sum->allocated_bytes += row->allocated.bytes;
    sum->frees += row->freed.blocks;
    sum->freed_bytes += row->freed.bytes;
    sum->temporary += row->temporary;
}

struct trace_check_site trace_check_site(const struct trace_check *check, uint32_t region,
                                         uint32_t site) {
    const struct trace_region *record = check->regions[region];
    uint64_t peak_epoch = record->space[check->sites[site]->space].peak.epoch;
    struct trace_check_site sum = {0};
    for (uint32_t lane = 0; lane < (region == 0 ? TRACE_LANES_MAX : 1); lane++) {
        if ((check->lanes_with_rows >> lane & 1) == 0)
            continue;
        const struct trace_row *row = trace_check_lane_row(check, region, lane, site);
        if (row != NULL && row->epoch != 0)
            add_row(&sum, row, peak_epoch);
    }
    if (sum.touched || region == 0 || !record->open || is_of_thread(check, region))
        return sum;
    struct trace_check_site process = trace_check_site(check, 0, site);
    return (struct trace_check_site){
        .start_blocks = process.live_blocks,
        .start_bytes = process.live_bytes,
        .live_blocks = process.live_blocks,
        .live_bytes = process.live_bytes,
        .peak_blocks = process.live_blocks,
        .peak_bytes = process.live_bytes,
    };
}

static void check_row(struct trace_check *check, uint32_t region, uint32_t lane, uint32_t site,
                      uint64_t peak_epoch) {
    const struct trace_row *row = trace_check_lane_row(check, region, lane, site);
    if (row == NULL)
        return;
    if (row->epoch > peak_epoch)
        fault(check, "region %u site %u lane %u: a snapshot of a later peak", region, site,
              lane);
    if (row->epoch == 0 && has_ended(check) && !row_is_zero(row))
        fault(check, "region %u site %u lane %u: untouched and not zero", region, site, lane);
    if (is_of_thread(check, region) && (row->start.blocks != 0 || row->start.bytes != 0))
        fault(check, "region %u site %u: a thread's region that begins with something", region,
              site);
}

/* No site holds more than it was ever given, nor bytes without a block. */
static bool site_is_possible(const struct trace_check_site *site, bool of_thread) {
    if (site->peak_blocks > site->start_blocks + (int64_t)site->allocations ||
        site->peak_bytes > site->start_bytes + (int64_t)site->allocated_bytes)
        return false;
    return of_thread || ((site->live_blocks != 0 || site->live_bytes == 0) &&
                         (site->peak_blocks != 0 || site->peak_bytes == 0) &&
                         (site->start_blocks != 0 || site->start_bytes == 0));
}

/* What is live at a site is so in every region of the process that is still open. */
static void check_open_site(struct trace_check *check, uint32_t region, uint32_t id,
                            const struct trace_check_site *site) {
    if (region == 0 || !check->regions[region]->open || is_of_thread(check, region) ||
        !site->touched || check->updating > 0)
        return;
    struct trace_check_site process = trace_check_site(check, 0, id);
    if (site->live_blocks != process.live_blocks || site->live_bytes != process.live_bytes)
        fault(check, "region %u site %u: something else is live than in the process", region,
              id);
}

struct trace_check_sums trace_check_sum(struct trace_check *check, uint32_t region,
                                        enum trace_space space) {
    struct trace_check_sums sums = {0};
    uint64_t peak_epoch = check->regions[region]->space[space].peak.epoch;

    for (uint32_t id = 0; id < check->header->site_count; id++) {
        if (check->sites[id]->space != space)
            continue;
        for (uint32_t lane = 0; lane < TRACE_LANES_MAX; lane++)
            if ((check->lanes_with_rows >> lane & 1) != 0)
                check_row(check, region, lane, id, peak_epoch);
        struct trace_check_site site = trace_check_site(check, region, id);
        if (!is_of_thread(check, region) && (site.live_blocks < 0 || site.live_bytes < 0 ||
                                             site.peak_blocks < 0 || site.peak_bytes < 0))
            fault(check, "region %u site %u: less than nothing is live", region, id);
        if (!site_is_possible(&site, is_of_thread(check, region)))
            fault(check,
                  "region %u site %u: more at the peak than it was ever given, or bytes "
                  "without a block",
                  region, id);
        check_open_site(check, region, id, &site);
        sums.start_blocks += site.start_blocks;
        sums.start_bytes += site.start_bytes;
        sums.live_blocks += site.live_blocks;
        sums.live_bytes += site.live_bytes;
        sums.peak_bytes += site.peak_bytes;
        sums.sites += site.touched;
        sums.allocations += site.allocations;
        sums.allocated_bytes += site.allocated_bytes;
        sums.frees += site.frees;
        sums.freed_bytes += site.freed_bytes;
        sums.temporary += site.temporary;
    }
    return sums;
}

/*
 * Rows may be ahead of the totals by the events that were being written. The process region's
 * own live is brought up to date when lanes are given up: not while they are in use.
 */
static int check_lag(struct trace_check *check, uint32_t region, enum trace_space space,
                     int64_t blocks, int64_t bytes) {
    if ((blocks == 0 && bytes == 0) || (region == 0 && has_lanes(check) && !has_ended(check)))
        return 0;
    if (check->updating == 0)
        return fault(
            check,
            "region %u space %d: live of its sites and of its totals differ by %" PRIi64
            " blocks, %" PRIi64 " bytes",
            region, (int)space, blocks, bytes);
    if (check->lag_space < 0) {
        check->lag_space = (int)space;
        check->lag_blocks = blocks;
        check->lag_bytes = bytes;
    }
    int64_t limit = check->updating;
    bool same = check->lag_space == (int)space && check->lag_blocks == blocks &&
                check->lag_bytes == bytes;
    if ((!same && check->updating == 1) || blocks < -limit || blocks > limit)
        return fault(check, "region %u space %d lags by more events than there were", region,
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

/* Live bytes of a region: its sites' as long as it has them, for they are never behind. */
static int64_t live_bytes(struct trace_check *check, uint32_t region, enum trace_space space) {
    const struct trace_region *record = check->regions[region];
    if (record->flags & TRACE_REGION_NO_ROWS)
        return (int64_t)record->space[space].live.bytes;
    return trace_check_sum(check, region, space).live_bytes;
}

/* What a region allocated itself cannot be more than what is live, unless others free for it. */
static bool owned_holds(const struct trace_totals *totals, bool of_thread) {
    return totals->owned_peak_bytes >= totals->owned_live_bytes &&
           totals->owned_live_bytes >= 0 &&
           (of_thread || totals->owned_peak_bytes <= (int64_t)totals->peak.bytes);
}

/* What must hold between the totals themselves, rows or not. */
static int check_totals(struct trace_check *check, uint32_t region, enum trace_space space) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *totals = &record->space[space];
    bool of_thread = is_of_thread(check, region);
    if (totals->peak.epoch == 0 || (int64_t)totals->peak.bytes < (int64_t)totals->start.bytes ||
        (!owned_holds(totals, of_thread) && check->updating == 0))
        return fault(check, "region %u space %d: totals contradict each other", region,
                     (int)space);
    if (of_thread && (totals->start.blocks != 0 || totals->start.bytes != 0))
        return fault(check, "region %u space %d: a thread's region that begins with something",
                     region, (int)space);
    if (check->updating == 0 && live_bytes(check, region, space) > (int64_t)totals->peak.bytes)
        return fault(check, "region %u space %d: live above the peak", region, (int)space);
    if (!record->open &&
        (totals->live.blocks !=
             totals->start.blocks + totals->allocated.blocks - totals->freed.blocks ||
         totals->live.bytes !=
             totals->start.bytes + totals->allocated.bytes - totals->freed.bytes))
        return fault(check, "region %u space %d: live is not start + allocated - freed", region,
                     (int)space);
    if (!record->open &&
        (int64_t)totals->peak.bytes > (int64_t)(totals->start.bytes + totals->allocated.bytes))
        return fault(check, "region %u space %d: a peak beyond what was allocated", region,
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
                     ", its peak is %" PRIi64,
                     region, (int)space, sums.peak_bytes, (int64_t)totals->peak.bytes);
    if (sums.start_bytes != (int64_t)totals->start.bytes ||
        sums.start_blocks != (int64_t)totals->start.blocks)
        return fault(check, "region %u space %d: its start is not the sum over its sites",
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
    int64_t live =
        live_bytes(check, region, TRACE_HEAP) + live_bytes(check, region, TRACE_MAP_ANON);
    bool exact = check->updating == 0;
    if (record->combined_start_bytes != start || record->combined_peak_bytes < start ||
        (exact &&
         record->combined_peak_bytes > (int64_t)(heap->peak.bytes + anon->peak.bytes)) ||
        (exact && record->combined_peak_bytes < live) ||
        (!record->open && record->combined_end_bytes != live))
        return fault(check, "region %u: the sums of heap and mappings do not hold", region);
    return 0;
}

/* An allocator never gives less than was asked for. */
static int check_usable(struct trace_check *check, uint32_t region) {
    const struct trace_region *record = check->regions[region];
    bool known = (check->header->flags & TRACE_USABLE) != 0;
    if (!known && (record->usable_start_bytes != 0 || record->usable_live_bytes != 0 ||
                   record->usable_at_peak_bytes != 0))
        return fault(check, "region %u: usable bytes that nobody asked for", region);
    if (!known || check->updating > 0 || is_of_thread(check, region))
        return 0;
    const struct trace_totals *heap = &record->space[TRACE_HEAP];
    if (record->usable_start_bytes < (int64_t)heap->start.bytes ||
        record->usable_live_bytes < live_bytes(check, region, TRACE_HEAP) ||
        record->usable_at_peak_bytes < (int64_t)heap->peak.bytes)
        return fault(check, "region %u: less is usable than was asked for", region);
    return 0;
}

static int check_regions(struct trace_check *check) {
    for (uint32_t id = 0; id < check->header->region_count; id++) {
        if (check_region_record(check, id) < 0)
            return -1;
        for (int space = 0; space < TRACE_SPACES; space++)
            if (check_space(check, id, (enum trace_space)space) < 0)
                return -1;
        if (check_combined(check, id) < 0 || check_usable(check, id) < 0)
            return -1;
    }
    for (size_t i = 0; i < check->row_chunk_count; i++)
        if (check->rows[i].owner >= check->header->region_count)
            return fault(check, "rows of region %u, which is none", check->rows[i].owner);
    return 0;
}

/* Timelines and sizes */

static const void *find_extra(const struct trace_extras *extras, uint32_t region) {
    for (size_t i = 0; i < extras->count; i++)
        if (extras->items[i].owner == region)
            return extras->items[i].payload;
    return NULL;
}

const struct trace_timeline *trace_check_timeline(const struct trace_check *check,
                                                  uint32_t region) {
    return find_extra(&check->timelines, region);
}

int trace_check_sizes(struct trace_check *check, uint32_t region,
                      int64_t ret_counts[TRACE_SIZE_BUCKETS]) {
    const struct trace_sizes *sizes = find_extra(&check->sizes, region);
    if (sizes == NULL)
        return -1;
    bool from_lanes = check->regions[region]->open && !is_of_thread(check, region);
    for (uint32_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++) {
        uint64_t count = sizes->counted[bucket];
        if (from_lanes)
            count = 0 - sizes->start[bucket];
        for (uint32_t lane = 0; from_lanes && lane < TRACE_LANES_MAX; lane++)
            if (check->lanes[lane] != NULL)
                count += check->lanes[lane]->size_counts[bucket];
        if ((int64_t)count < 0)
            return fault(check, "region %u: %" PRIi64 " allocations of size class %u", region,
                         (int64_t)count, bucket);
        ret_counts[bucket] = (int64_t)count;
    }
    return 0;
}

static int check_timeline(struct trace_check *check, uint32_t region,
                          const struct trace_timeline *timeline) {
    const struct trace_region *record = check->regions[region];
    bool exact = check->updating == 0 && (region != 0 || !has_lanes(check));
    if (timeline->count > TRACE_TIMELINE_POINTS ||
        (timeline->count > 0 && timeline->interval == 0))
        return fault(check, "region %u: a timeline of %u points, one for %" PRIu64 " events",
                     region, timeline->count, timeline->interval);
    for (uint32_t i = 0; i < timeline->count; i++) {
        const struct trace_point *point = &timeline->points[i];
        if (i > 0 && has_ended(check) && point->elapsed_ns < point[-1].elapsed_ns)
            return fault(check, "region %u: point %u of its timeline goes back in time", region,
                         i);
        if (exact && (point->live_bytes > (int64_t)record->space[TRACE_HEAP].peak.bytes ||
                      (point->live_bytes < 0 && !is_of_thread(check, region))))
            return fault(check, "region %u: point %u of its timeline has %" PRIi64 " bytes",
                         region, i, point->live_bytes);
    }
    return 0;
}

/* Each allocation has a size. */
static int check_size_sum(struct trace_check *check, uint32_t region) {
    int64_t counts[TRACE_SIZE_BUCKETS];
    int64_t sum = 0;
    if (trace_check_sizes(check, region, counts) < 0)
        return -1;
    for (uint32_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++)
        sum += counts[bucket];
    if (check->updating > 0 || (check->regions[region]->flags & TRACE_REGION_NO_ROWS) != 0)
        return 0;
    int64_t allocations = (int64_t)trace_check_sum(check, region, TRACE_HEAP).allocations;
    if (sum != allocations)
        return fault(check, "region %u: %" PRIi64 " sizes of %" PRIi64 " allocations", region,
                     sum, allocations);
    return 0;
}

/* Chunks may be made ready for a region that the process did not live to begin. */
static int check_extras(struct trace_check *check) {
    for (size_t i = 0; i < check->sizes.count; i++)
        if (check->sizes.items[i].owner < check->header->region_count &&
            check_size_sum(check, check->sizes.items[i].owner) < 0)
            return -1;
    for (size_t i = 0; i < check->timelines.count; i++)
        if (check->timelines.items[i].owner < check->header->region_count &&
            check_timeline(check, check->timelines.items[i].owner,
                           check->timelines.items[i].payload) < 0)
            return -1;
    return 0;
}

int trace_check(struct trace_check *check, const void *bytes, size_t size) {
    *check =
        (struct trace_check){.bytes = bytes, .size = size, .header = bytes, .lag_space = -1};
    if (check_header(check) < 0)
        return -1;
    check->updating = (uint32_t)check->header->updating;
    if (walk_chunks(check) < 0 || check_tables(check) < 0)
        return -1;
    if (check->cut)
        return 0;
    if (check_nodes(check) < 0 || check_sites(check) < 0 || check_regions(check) < 0 ||
        check_extras(check) < 0)
        return -1;
    return 0;
}

void trace_check_finish(struct trace_check *check) {
    free(check->nodes);
    free(check->sites);
    free(check->regions);
    free(check->rows);
    free(check->timelines.items);
    free(check->sizes.items);
}

size_t trace_check_frames(const struct trace_check *check, uint32_t site, uint64_t *ret_frames,
                          size_t room) {
    size_t count = 0;
    for (uint32_t node = check->sites[site]->node; node != 0 && count < room;
         node = check->nodes[node]->parent)
        ret_frames[count++] = check->nodes[node]->address;
    return count;
}
