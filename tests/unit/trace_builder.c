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

uint32_t trace_builder_begin(struct trace_builder *builder, const char *name) {
    assert(builder->header.region_count < BUILDER_REGIONS);
    uint32_t id = builder->header.region_count;
    struct trace_region *region = &builder->regions[id];
    region->instance = 1;
    for (uint32_t i = 0; i < id; i++) {
        if (strcmp(builder->regions[i].name, name) == 0)
            region->instance++;
        if (builder->regions[i].open)
            region->parent = i;
    }
    strncpy(region->name, name, sizeof(region->name) - 1);
    region->open = 1;
    region->begin_elapsed_ns = 1000 * (id + 1);
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        region->space[space].start = builder->regions[0].space[space].live;
        region->space[space].live = region->space[space].start;
        region->space[space].peak.bytes = region->space[space].start.bytes;
        region->space[space].peak.epoch = 1;
    }
    builder->header.region_count++;
    return id;
}

void trace_builder_end(struct trace_builder *builder, uint32_t region) {
    struct trace_region *record = &builder->regions[region];
    for (uint32_t site = 0; site < builder->header.site_count; site++) {
        struct trace_row *row = &builder->rows[region][site];
        struct trace_pair live = pair_live(&builder->rows[0][site]);
        if (row->epoch == 0 && live.blocks > 0) {
            row->start = row->peak = live;
            row->epoch = 1;
        }
        struct trace_totals *totals = &record->space[builder->sites[site].space];
        totals->allocated.blocks += row->allocated.blocks;
        totals->allocated.bytes += row->allocated.bytes;
        totals->freed.blocks += row->freed.blocks;
        totals->freed.bytes += row->freed.bytes;
    }
    record->end_elapsed_ns = record->begin_elapsed_ns + 500;
    record->open = 0;
}

static bool book(struct trace_builder *builder, uint32_t id, uint32_t site, bool allocate,
                 uint64_t bytes) {
    struct trace_row *row = &builder->rows[id][site];
    struct trace_totals *totals = &builder->regions[id].space[builder->sites[site].space];
    struct trace_pair *counter = allocate ? &row->allocated : &row->freed;
    if (row->epoch == 0)
        STORE(builder, row->start = pair_live(&builder->rows[0][site]));
    if (row->epoch < totals->peak.epoch) {
        STORE(builder, row->peak = pair_live(row));
        STORE(builder, row->epoch = totals->peak.epoch);
    }
    struct trace_pair counted = {counter->blocks + 1, counter->bytes + bytes};
    STORE(builder, *counter = counted);
    struct trace_pair live = totals->live;
    live.blocks += allocate ? 1 : UINT64_MAX;
    live.bytes += allocate ? bytes : 0 - bytes;
    STORE(builder, totals->live = live);
    if (live.bytes > totals->peak.bytes)
        STORE(builder, (totals->peak.bytes = live.bytes, totals->peak.epoch++));
    return true;
}

static bool event(struct trace_builder *builder, uint32_t site, bool allocate, uint64_t bytes) {
    STORE(builder, builder->header.updating = 1);
    for (uint32_t id = builder->header.region_count; id-- > 0;)
        if (builder->regions[id].open && !book(builder, id, site, allocate, bytes))
            return false;
    STORE(builder, builder->header.updating = 0);
    return true;
}

void trace_builder_allocate(struct trace_builder *builder, uint32_t site, uint64_t bytes) {
    (void)event(builder, site, true, bytes);
}

void trace_builder_free(struct trace_builder *builder, uint32_t site, uint64_t bytes) {
    (void)event(builder, site, false, bytes);
}

void trace_builder_exit(struct trace_builder *builder) {
    builder->header.state = TRACE_EXITED;
    builder->header.end_elapsed_ns = 123456789;
}

struct output {
    unsigned char *bytes;
    size_t size;
};

/* A chunk with room for @payload_bytes; returns where the payload goes. */
static void *chunk_add(struct output *output, uint32_t kind, uint32_t first, uint32_t count,
                       uint32_t owner, size_t payload_bytes) {
    size_t bytes = sizeof(struct trace_chunk) + payload_bytes;
    bytes = (bytes + TRACE_CHUNK_ALIGN - 1) / TRACE_CHUNK_ALIGN * TRACE_CHUNK_ALIGN;
    output->bytes = realloc(output->bytes, output->size + bytes);
    assert(output->bytes);
    memset(output->bytes + output->size, 0, bytes);
    struct trace_chunk chunk = {.magic = TRACE_CHUNK_MAGIC,
                                .kind = kind,
                                .bytes = bytes,
                                .first = first,
                                .count = count,
                                .owner = owner};
    memcpy(output->bytes + output->size, &chunk, sizeof(chunk));
    void *payload = output->bytes + output->size + sizeof(chunk);
    output->size += bytes;
    return payload;
}

static void text_add(struct output *output, enum trace_text what, const char *text,
                     size_t bytes) {
    memcpy(chunk_add(output, TRACE_CHUNK_TEXT, what, (uint32_t)bytes, 0, bytes), text, bytes);
}

static void rows_add(const struct trace_builder *builder, struct output *output,
                     uint32_t region) {
    if (builder->regions[region].flags & TRACE_REGION_NO_ROWS)
        return;
    for (uint32_t first = 0; first < builder->header.site_count;
         first += TRACE_ROWS_PER_CHUNK) {
        bool touched = false;
        for (uint32_t i = 0; i < TRACE_ROWS_PER_CHUNK; i++)
            touched |= builder->rows[region][first + i].epoch != 0;
        if (touched)
            memcpy(chunk_add(output, TRACE_CHUNK_ROWS, first, TRACE_ROWS_PER_CHUNK, region,
                             TRACE_ROWS_PER_CHUNK * sizeof(struct trace_row)),
                   &builder->rows[region][first],
                   TRACE_ROWS_PER_CHUNK * sizeof(struct trace_row));
    }
}

unsigned char *trace_builder_write(const struct trace_builder *builder, size_t *ret_size) {
    struct output output = {calloc(1, TRACE_HEADER_BYTES), TRACE_HEADER_BYTES};
    assert(output.bytes);
    memcpy(chunk_add(&output, TRACE_CHUNK_NODES, 0, BUILDER_NODES, 0, sizeof(builder->nodes)),
           builder->nodes, sizeof(builder->nodes));
    memcpy(chunk_add(&output, TRACE_CHUNK_SITES, 0, BUILDER_SITES, 0, sizeof(builder->sites)),
           builder->sites, sizeof(builder->sites));
    memcpy(chunk_add(&output, TRACE_CHUNK_REGIONS, 0, BUILDER_REGIONS, 0,
                     sizeof(builder->regions)),
           builder->regions, sizeof(builder->regions));
    for (uint32_t i = 0; i < BUILDER_REGIONS; i++)
        rows_add(builder, &output, i);
    for (uint32_t i = 0; i < builder->module_count; i++) {
        const struct trace_module *module = &builder->modules[i];
        unsigned char *payload = chunk_add(&output, TRACE_CHUNK_MODULE, 0, 1, 0,
                                           sizeof(*module) + module->path_bytes);
        memcpy(payload, module, sizeof(*module));
        memcpy(payload + sizeof(*module), builder->module_paths[i], module->path_bytes);
    }
    text_add(&output, TRACE_TEXT_EXE, builder->exe, strlen(builder->exe));
    text_add(&output, TRACE_TEXT_CWD, builder->cwd, strlen(builder->cwd));
    text_add(&output, TRACE_TEXT_COMMAND, builder->command, builder->command_bytes);

    struct trace_header header = builder->header;
    if (header.used_bytes == 0)
        header.used_bytes = output.size;
    memcpy(output.bytes, &header, sizeof(header));
    *ret_size = output.size;
    return output.bytes;
}
