/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_builder.c: the booking rules of trace_layout.h, one store after the other. */
#include "trace_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void trace_builder_init(struct trace_builder *builder) {
    memset(builder, 0, sizeof(*builder));
    builder->stores_left = UINT32_MAX;
    struct trace_header *header = &builder->header;
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_bytes = TRACE_HEADER_BYTES;
    header->byte_order = TRACE_BYTE_ORDER;
    header->state = TRACE_RUNNING;
    header->pid = 4711;
    header->start_realtime_ns = UINT64_C(1700000000000000000);
    header->stacks = TRACE_STACKS_ALL;
    header->depth_limit = 64;
    header->page_bytes = 4096;
    header->node_count = 1;
    header->uuid[0] = 0x5e;
    builder->thread = 4711;
    strcpy(header->program, "victim");
    strcpy(header->votrace_version, "0.1.0");
    for (uint32_t i = 0; i < TRACE_FIXED_SITES; i++) {
        uint32_t site = trace_builder_site(builder, 0, (enum trace_space)(i % TRACE_SPACES));
        builder->sites[site].flags = i < TRACE_SPACES ? TRACE_SITE_NO_STACK : TRACE_SITE_OTHER;
    }
    builder->exe = "/opt/victim";
    builder->cwd = "/";
    builder->command = "victim\0--fast\0";
    builder->command_bytes = sizeof("victim\0--fast");
    trace_builder_begin(builder, "process");
}

void trace_builder_module(struct trace_builder *builder, const char *path, uint64_t start,
                          uint64_t end, uint64_t bias) {
    assert(builder->module_count < BUILDER_MODULES);
    builder->modules[builder->module_count] = (struct trace_module){
        .start = start,
        .end = end,
        .bias = bias,
        .path_bytes = (uint32_t)strlen(path),
    };
    builder->module_paths[builder->module_count++] = path;
}

uint32_t trace_builder_code(struct trace_builder *builder, const char *function,
                            const char *path, uint32_t first_line) {
    assert(builder->code_count < BUILDER_CODES);
    builder->codes[builder->code_count] = (struct trace_code){
        .first_line = first_line,
        .function_bytes = (uint32_t)strlen(function),
        .path_bytes = (uint32_t)strlen(path),
    };
    builder->code_texts[builder->code_count][0] = function;
    builder->code_texts[builder->code_count][1] = path;
    return ++builder->code_count;
}

uint32_t trace_builder_node(struct trace_builder *builder, uint32_t parent, uint64_t address) {
    assert(builder->header.node_count < BUILDER_NODES);
    uint32_t id = builder->header.node_count++;
    builder->nodes[id] =
        (struct trace_node){.address = address,
                            .parent = parent,
                            .depth = (uint16_t)(builder->nodes[parent].depth + 1)};
    return id;
}

uint32_t trace_builder_site(struct trace_builder *builder, uint32_t node,
                            enum trace_space space) {
    assert(builder->header.site_count < BUILDER_SITES);
    uint32_t id = builder->header.site_count++;
    builder->sites[id] = (struct trace_site){.node = node, .space = (uint16_t)space};
    return id;
}

/* One store to the shared mapping. False when the process has died before it. */
static bool store(struct trace_builder *builder) {
    if (builder->stores_left == UINT32_MAX)
        return true;
    if (builder->stores_left == 0)
        return false;
    builder->stores_left--;
    return true;
}

#define STORE(builder, what)                                                                   \
    do {                                                                                       \
        if (!store(builder))                                                                   \
            return false;                                                                      \
        what;                                                                                  \
    } while (0)

static struct trace_pair pair_live(const struct trace_row *row) {
    return (struct trace_pair){
        row->start.blocks + row->allocated.blocks - row->freed.blocks,
        row->start.bytes + row->allocated.bytes - row->freed.bytes,
    };
}

static struct trace_row *process_row(struct trace_builder *builder, uint32_t lane,
                                     uint32_t site) {
    return lane == 0 ? &builder->rows[0][site] : &builder->lane_rows[lane][site];
}

static void pair_add(struct trace_pair *sum, struct trace_pair value) {
    sum->blocks += value.blocks;
    sum->bytes += value.bytes;
}

/* What a site has live in the process, all lanes together. */
static struct trace_pair process_live(struct trace_builder *builder, uint32_t site) {
    struct trace_pair live = {0};
    for (uint32_t lane = 0; lane < BUILDER_LANES; lane++)
        pair_add(&live, pair_live(process_row(builder, lane, site)));
    return live;
}

static uint64_t process_bytes(struct trace_builder *builder, size_t space) {
    struct trace_pair live = {0};
    for (uint32_t site = 0; site < builder->header.site_count; site++)
        if (builder->sites[site].space == space)
            pair_add(&live, process_live(builder, site));
    return live.bytes;
}

/* Lanes are given up: the record of the process is brought up to date. */
static void lanes_close(struct trace_builder *builder) {
    builder->lane = 0;
    for (size_t space = 0; space < TRACE_SPACES; space++)
        builder->regions[0].space[space].live = (struct trace_pair){0};
    for (uint32_t site = 0; site < builder->header.site_count; site++)
        pair_add(&builder->regions[0].space[builder->sites[site].space].live,
                 process_live(builder, site));
}

void trace_builder_use_lane(struct trace_builder *builder, uint32_t lane) {
    assert(lane < BUILDER_LANES);
    builder->has_lane[lane] = true;
    builder->lane = lane;
}

void trace_builder_point(struct trace_builder *builder, uint32_t region, uint64_t elapsed_ns,
                         int64_t live_bytes) {
    assert(builder->point_count[region] < BUILDER_POINTS);
    builder->has_timeline[region] = true;
    builder->points[region][builder->point_count[region]++] =
        (struct trace_point){elapsed_ns, live_bytes};
}

static uint64_t counted_size(const struct trace_builder *builder, size_t bucket) {
    uint64_t count = 0;
    for (uint32_t lane = 0; lane < BUILDER_LANES; lane++)
        count += builder->lanes[lane].size_counts[bucket];
    return count;
}

static void sizes_begin(struct trace_builder *builder, uint32_t region) {
    builder->has_sizes[region] = true;
    for (size_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++)
        builder->sizes[region].start[bucket] = counted_size(builder, bucket);
}

void trace_builder_count_sizes(struct trace_builder *builder) {
    builder->has_lane[0] = true;
    sizes_begin(builder, 0);
}

/* Heap and anonymous mappings of a region: of the process what its rows say. */
static int64_t combined_live(struct trace_builder *builder, uint32_t region) {
    const struct trace_totals *totals = builder->regions[region].space;
    if (region == 0)
        return (int64_t)(process_bytes(builder, TRACE_HEAP) +
                         process_bytes(builder, TRACE_MAP_ANON));
    return (int64_t)(totals[TRACE_HEAP].live.bytes + totals[TRACE_MAP_ANON].live.bytes);
}

uint32_t trace_builder_begin(struct trace_builder *builder, const char *name) {
    assert(builder->header.region_count < BUILDER_REGIONS);
    uint32_t id = builder->header.region_count;
    struct trace_region *region = &builder->regions[id];
    if (id > 0)
        lanes_close(builder);
    region->instance = 1;
    for (uint32_t i = 0; i < id; i++) {
        if (strcmp(builder->regions[i].name, name) == 0)
            region->instance++;
        if (builder->regions[i].open)
            region->parent = i;
    }
    strncpy(region->name, name, sizeof(region->name) - 1);
    region->open = 1;
    region->begin_thread = builder->thread;
    region->begin_elapsed_ns = 1000 * (id + 1);
    region->usable_start_bytes = builder->regions[0].usable_live_bytes;
    region->usable_live_bytes = region->usable_start_bytes;
    region->usable_at_peak_bytes = region->usable_start_bytes;
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        region->space[space].start = builder->regions[0].space[space].live;
        region->space[space].live = region->space[space].start;
        region->space[space].peak.bytes = region->space[space].start.bytes;
        region->space[space].peak.epoch = 1;
    }
    region->combined_start_bytes = combined_live(builder, id);
    region->combined_peak_bytes = region->combined_start_bytes;
    if (builder->has_sizes[0])
        sizes_begin(builder, id);
    builder->header.region_count++;
    return id;
}

uint32_t trace_builder_begin_thread(struct trace_builder *builder, const char *name) {
    uint32_t id = trace_builder_begin(builder, name);
    struct trace_region *region = &builder->regions[id];
    region->flags = TRACE_REGION_THREAD;
    region->usable_start_bytes = region->usable_live_bytes = region->usable_at_peak_bytes = 0;
    for (size_t space = 0; space < TRACE_SPACES; space++)
        region->space[space] = (struct trace_totals){.peak.epoch = 1};
    region->combined_start_bytes = region->combined_peak_bytes = 0;
    return id;
}

static bool is_of_thread(const struct trace_region *region) {
    return (region->flags & TRACE_REGION_THREAD) != 0;
}

void trace_builder_end(struct trace_builder *builder, uint32_t region) {
    struct trace_region *record = &builder->regions[region];
    for (uint32_t site = 0; site < builder->header.site_count; site++) {
        struct trace_row *row = &builder->rows[region][site];
        struct trace_pair live = process_live(builder, site);
        if (!is_of_thread(record) && row->epoch == 0 && live.blocks > 0) {
            row->start = row->peak = live;
            row->epoch = 1;
        }
        struct trace_totals *totals = &record->space[builder->sites[site].space];
        pair_add(&totals->allocated, row->allocated);
        pair_add(&totals->freed, row->freed);
    }
    for (size_t bucket = 0; !is_of_thread(record) && bucket < TRACE_SIZE_BUCKETS; bucket++)
        builder->sizes[region].counted[bucket] =
            counted_size(builder, bucket) - builder->sizes[region].start[bucket];
    record->combined_end_bytes = combined_live(builder, region);
    record->end_elapsed_ns = record->begin_elapsed_ns + 500;
    record->open = 0;
}

/* Steps 2 and 3: the row. */
static bool book_row(struct trace_builder *builder, struct trace_row *row, uint64_t epoch,
                     bool allocate, uint64_t bytes) {
    struct trace_pair *counter = allocate ? &row->allocated : &row->freed;
    if (row->epoch < epoch) {
        STORE(builder, row->peak = pair_live(row));
        STORE(builder, row->epoch = epoch);
    }
    struct trace_pair counted = {counter->blocks + 1, counter->bytes + bytes};
    STORE(builder, *counter = counted);
    return true;
}

/* Step 5, in bytes that are signed: what a thread has live may be less than nothing. */
static bool book_peak(struct trace_builder *builder, uint32_t id, size_t space,
                      uint64_t live_bytes) {
    struct trace_region *region = &builder->regions[id];
    struct trace_totals *totals = &region->space[space];
    int64_t combined = combined_live(builder, id);
    if (combined > region->combined_peak_bytes)
        region->combined_peak_bytes = combined;
    if ((int64_t)live_bytes <= (int64_t)totals->peak.bytes)
        return true;
    STORE(builder, (totals->peak.bytes = live_bytes, totals->peak.epoch++));
    if (space == TRACE_HEAP)
        region->usable_at_peak_bytes = region->usable_live_bytes;
    return true;
}

static bool book(struct trace_builder *builder, uint32_t id, uint32_t site, bool allocate,
                 uint64_t bytes) {
    struct trace_region *region = &builder->regions[id];
    struct trace_row *row = &builder->rows[id][site];
    size_t space = builder->sites[site].space;
    struct trace_totals *totals = &region->space[space];
    if (id > 0 && row->epoch == 0 && !is_of_thread(region))
        STORE(builder, row->start = process_live(builder, site));
    if (!book_row(builder, row, totals->peak.epoch, allocate, bytes))
        return false;
    struct trace_pair live = totals->live;
    live.blocks += allocate ? 1 : UINT64_MAX;
    live.bytes += allocate ? bytes : 0 - bytes;
    STORE(builder, totals->live = live);
    return book_peak(builder, id, space, id > 0 ? live.bytes : process_bytes(builder, space));
}

static bool book_in_lane(struct trace_builder *builder, uint32_t site, bool allocate,
                         uint64_t bytes) {
    struct trace_region *process = &builder->regions[0];
    size_t space = builder->sites[site].space;
    return book_row(builder, process_row(builder, builder->lane, site),
                    process->space[space].peak.epoch, allocate, bytes) &&
           book_peak(builder, 0, space, process_bytes(builder, space));
}

/* What is counted beside the sums, in no order that matters. */
static void count_beside(struct trace_builder *builder, uint32_t site, bool allocate,
                         uint64_t bytes) {
    uint64_t usable = bytes + builder->slack_bytes;
    size_t bucket = bytes == 0 ? 0 : 64 - (size_t)__builtin_clzll(bytes);
    if (builder->sites[site].space != TRACE_HEAP)
        return;
    for (uint32_t id = 0; id < builder->header.region_count; id++) {
        struct trace_region *region = &builder->regions[id];
        bool counts =
            region->open && (!is_of_thread(region) || region->begin_thread == builder->thread);
        if (counts && builder->header.flags & TRACE_USABLE)
            region->usable_live_bytes += allocate ? (int64_t)usable : -(int64_t)usable;
        if (counts && allocate && is_of_thread(region))
            builder->sizes[id].counted[bucket]++;
    }
    struct trace_lane *lane = &builder->lanes[builder->lane];
    lane->size_counts[bucket] += allocate;
    if (allocate && bytes > lane->largest_bytes)
        lane->largest_bytes = bytes;
}

static bool event(struct trace_builder *builder, uint32_t site, bool allocate, uint64_t bytes) {
    uint64_t *updating = builder->lane == 0 ? &builder->header.updating
                                            : &builder->lanes[builder->lane].updating;
    STORE(builder, *updating = 1);
    count_beside(builder, site, allocate, bytes);
    if (builder->lane > 0 && !book_in_lane(builder, site, allocate, bytes))
        return false;
    for (uint32_t id = builder->header.region_count; builder->lane == 0 && id-- > 0;) {
        const struct trace_region *region = &builder->regions[id];
        bool counts =
            region->open && (!is_of_thread(region) || region->begin_thread == builder->thread);
        if (counts && !book(builder, id, site, allocate, bytes))
            return false;
    }
    STORE(builder, *updating = 0);
    return true;
}

void trace_builder_allocate(struct trace_builder *builder, uint32_t site, uint64_t bytes) {
    (void)event(builder, site, true, bytes);
}

void trace_builder_free(struct trace_builder *builder, uint32_t site, uint64_t bytes) {
    (void)event(builder, site, false, bytes);
}

void trace_builder_exit(struct trace_builder *builder) {
    lanes_close(builder);
    builder->header.state = TRACE_EXITED;
    builder->header.end_elapsed_ns = 123456789;
}

struct output {
    unsigned char *bytes;
    size_t size;
};

/* A chunk of @what, with room for @payload_bytes; returns where the payload goes. */
static void *chunk_add(struct output *output, struct trace_chunk what, size_t payload_bytes) {
    size_t bytes = sizeof(struct trace_chunk) + payload_bytes;
    bytes = (bytes + TRACE_CHUNK_ALIGN - 1) / TRACE_CHUNK_ALIGN * TRACE_CHUNK_ALIGN;
    output->bytes = realloc(output->bytes, output->size + bytes);
    assert(output->bytes);
    memset(output->bytes + output->size, 0, bytes);
    what.magic = TRACE_CHUNK_MAGIC;
    what.bytes = bytes;
    memcpy(output->bytes + output->size, &what, sizeof(what));
    void *payload = output->bytes + output->size + sizeof(what);
    output->size += bytes;
    return payload;
}

static void text_add(struct output *output, enum trace_text what, const char *text,
                     size_t bytes) {
    const struct trace_chunk chunk = {
        .kind = TRACE_CHUNK_TEXT, .first = what, .count = (uint32_t)bytes};
    memcpy(chunk_add(output, chunk, bytes), text, bytes);
}

static void rows_add(const struct trace_builder *builder, struct output *output,
                     const struct trace_row rows[BUILDER_SITES], uint32_t region,
                     uint32_t lane) {
    if (builder->regions[region].flags & TRACE_REGION_NO_ROWS)
        return;
    for (uint32_t first = 0; first < builder->header.site_count;
         first += TRACE_ROWS_PER_CHUNK) {
        bool touched = false;
        for (uint32_t i = 0; i < TRACE_ROWS_PER_CHUNK; i++)
            touched |= rows[first + i].epoch != 0;
        const struct trace_chunk chunk = {.kind = TRACE_CHUNK_ROWS,
                                          .first = first,
                                          .count = TRACE_ROWS_PER_CHUNK,
                                          .owner = region,
                                          .lane = lane};
        if (touched)
            memcpy(chunk_add(output, chunk, TRACE_ROWS_PER_CHUNK * sizeof(*rows)), &rows[first],
                   TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    }
}

static void lane_add(const struct trace_builder *builder, struct output *output,
                     uint32_t lane) {
    const struct trace_chunk chunk = {.kind = TRACE_CHUNK_LANE, .first = lane, .count = 1};
    memcpy(chunk_add(output, chunk, sizeof(struct trace_lane)), &builder->lanes[lane],
           sizeof(struct trace_lane));
    if (lane > 0)
        rows_add(builder, output, builder->lane_rows[lane], 0, lane);
}

static void timeline_add(const struct trace_builder *builder, struct output *output,
                         uint32_t region) {
    const struct trace_chunk chunk = {
        .kind = TRACE_CHUNK_TIMELINE, .count = 1, .owner = region};
    struct trace_timeline *timeline = chunk_add(output, chunk, sizeof(*timeline));
    timeline->count = builder->point_count[region];
    timeline->interval = 1;
    memcpy(timeline->points, builder->points[region],
           builder->point_count[region] * sizeof(struct trace_point));
}

static void sizes_add(const struct trace_builder *builder, struct output *output,
                      uint32_t region) {
    const struct trace_chunk chunk = {.kind = TRACE_CHUNK_SIZES, .count = 1, .owner = region};
    memcpy(chunk_add(output, chunk, sizeof(struct trace_sizes)), &builder->sizes[region],
           sizeof(struct trace_sizes));
}

static void module_add(const struct trace_builder *builder, struct output *output,
                       uint32_t number) {
    const struct trace_module *module = &builder->modules[number];
    const struct trace_chunk chunk = {.kind = TRACE_CHUNK_MODULE, .count = 1};
    unsigned char *payload = chunk_add(output, chunk, sizeof(*module) + module->path_bytes);
    memcpy(payload, module, sizeof(*module));
    memcpy(payload + sizeof(*module), builder->module_paths[number], module->path_bytes);
}

static void table_add(struct output *output, enum trace_chunk_kind kind, const void *table,
                      uint32_t count, size_t bytes) {
    const struct trace_chunk chunk = {.kind = kind, .count = count};
    memcpy(chunk_add(output, chunk, bytes), table, bytes);
}

static void code_add(const struct trace_builder *builder, struct output *output,
                     uint32_t number) {
    const struct trace_code *code = &builder->codes[number];
    const char *const *texts = builder->code_texts[number];
    struct trace_chunk chunk = {.kind = TRACE_CHUNK_CODE, .first = number + 1};
    size_t function_bytes = strlen(texts[0]);
    unsigned char *payload =
        chunk_add(output, chunk, sizeof(*code) + function_bytes + strlen(texts[1]));
    memcpy(payload, code, sizeof(*code));
    memcpy(payload + sizeof(*code), texts[0], function_bytes);
    memcpy(payload + sizeof(*code) + function_bytes, texts[1], strlen(texts[1]));
}

unsigned char *trace_builder_write(const struct trace_builder *builder, size_t *ret_size) {
    struct output output = {calloc(1, TRACE_HEADER_BYTES), TRACE_HEADER_BYTES};
    assert(output.bytes);
    table_add(&output, TRACE_CHUNK_NODES, builder->nodes, BUILDER_NODES,
              sizeof(builder->nodes));
    table_add(&output, TRACE_CHUNK_SITES, builder->sites, BUILDER_SITES,
              sizeof(builder->sites));
    table_add(&output, TRACE_CHUNK_REGIONS, builder->regions, BUILDER_REGIONS,
              sizeof(builder->regions));
    for (uint32_t i = 0; i < BUILDER_LANES; i++)
        if (builder->has_lane[i])
            lane_add(builder, &output, i);
    for (uint32_t i = 0; i < BUILDER_REGIONS; i++) {
        rows_add(builder, &output, builder->rows[i], i, 0);
        if (builder->has_timeline[i])
            timeline_add(builder, &output, i);
        if (builder->has_sizes[i])
            sizes_add(builder, &output, i);
    }
    for (uint32_t i = 0; i < builder->module_count; i++)
        module_add(builder, &output, i);
    for (uint32_t i = 0; i < builder->code_count; i++)
        code_add(builder, &output, i);
    text_add(&output, TRACE_TEXT_EXE, builder->exe, strlen(builder->exe));
    text_add(&output, TRACE_TEXT_CWD, builder->cwd, strlen(builder->cwd));
    text_add(&output, TRACE_TEXT_COMMAND, builder->command, builder->command_bytes);
    if (builder->parent)
        text_add(&output, TRACE_TEXT_PARENT, builder->parent, strlen(builder->parent));

    struct trace_header header = builder->header;
    if (header.used_bytes == 0)
        header.used_bytes = output.size;
    memcpy(output.bytes, &header, sizeof(header));
    *ret_size = output.size;
    return output.bytes;
}
