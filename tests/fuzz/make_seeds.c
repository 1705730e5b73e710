/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_seeds.c: the corpus of fuzz_trace, one trace for each thing that a trace can hold, and
 * that of fuzz_store.
 *
 *     make_seeds FILE...
 *
 * The last component of FILE says which, see `seeds` and `stores`. Made when the project is
 * built, so that they are always of the layout that is read.
 */
#include "run.h"
#include "store.h"
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two call sites: returned by number, the second in another module. */
static uint32_t add_sites(struct trace_builder *b) {
    trace_builder_module(b, "/opt/victim", 0x1000, 0x2000, 0x1000);
    trace_builder_module(b, "/opt/plugin.so", 0x5000, 0x6000, 0x5000);
    b->modules[1].generation = 1;
    uint32_t outer = trace_builder_node(b, 0, 0x1100);
    uint32_t inner = trace_builder_node(b, outer, 0x5200);
    b->nodes[inner].generation = 1;
    uint32_t site = trace_builder_site(b, outer, TRACE_HEAP);
    trace_builder_site(b, inner, TRACE_HEAP);
    return site;
}

static void seed_empty(struct trace_builder *b) {
    trace_builder_exit(b);
}

static void seed_regions(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    trace_builder_allocate(b, site, 100);
    uint32_t region = trace_builder_begin(b, "parse");
    trace_builder_allocate(b, site + 1, 4000);
    trace_builder_allocate(b, TRACE_MAP_ANON, 8192);
    trace_builder_allocate(b, TRACE_MAP_RESERVED, 65536);
    trace_builder_begin(b, "inner");
    trace_builder_free(b, site, 100);
    trace_builder_end(b, region);
    trace_builder_exit(b);
}

static void seed_no_rows(struct trace_builder *b) {
    seed_regions(b);
    b->regions[1].flags = TRACE_REGION_NO_ROWS;
}

static void seed_killed(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    trace_builder_allocate(b, site, 100);
    trace_builder_begin(b, "parse");
    b->stores_left = 5;
    trace_builder_allocate(b, site, 4000);
}

static void seed_lanes(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    trace_builder_count_sizes(b);
    trace_builder_allocate(b, site, 100);
    trace_builder_use_lane(b, 1);
    trace_builder_allocate(b, site + 1, 60);
    trace_builder_use_lane(b, 2);
    trace_builder_free(b, site, 100);
    trace_builder_allocate(b, site, 0);
}

static void seed_killed_in_lanes(struct trace_builder *b) {
    seed_lanes(b);
    for (uint32_t lane = 1; lane < BUILDER_LANES; lane++) {
        trace_builder_use_lane(b, lane);
        b->stores_left = 4;
        trace_builder_allocate(b, TRACE_FIXED_SITES, 3);
    }
}

static void seed_lanes_then_region(struct trace_builder *b) {
    seed_lanes(b);
    uint32_t region = trace_builder_begin(b, "parse");
    trace_builder_allocate(b, TRACE_FIXED_SITES, 70000);
    trace_builder_end(b, region);
    trace_builder_exit(b);
}

static void seed_thread(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    trace_builder_count_sizes(b);
    trace_builder_allocate(b, site, 500);
    b->thread = 77;
    uint32_t region = trace_builder_begin_thread(b, "work");
    trace_builder_free(b, site, 500);
    trace_builder_allocate(b, site, 20);
    trace_builder_end(b, region);
    trace_builder_begin_thread(b, "work");
    trace_builder_free(b, site, 20);
}

static void seed_timeline(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    trace_builder_allocate(b, site, 500);
    uint32_t region = trace_builder_begin(b, "parse");
    trace_builder_allocate(b, site, 1000);
    trace_builder_free(b, site, 500);
    trace_builder_end(b, region);
    b->regions[region].space[TRACE_HEAP].peak_elapsed_ns = 2200;
    trace_builder_point(b, region, 2300, 1000);
    trace_builder_point(b, region, 2100, 500);
    trace_builder_point(b, region, 2300, 1000);
    trace_builder_point(b, 0, 50, 500);
}

static void seed_usable(struct trace_builder *b) {
    b->header.flags = TRACE_USABLE;
    b->slack_bytes = 8;
    seed_regions(b);
}

static void seed_forked(struct trace_builder *b) {
    uint32_t site = add_sites(b);
    b->header.flags = TRACE_FORKED;
    b->header.parent_pid = 4000;
    b->header.parent_uuid[0] = 1;
    b->header.completeness.inherited_freed = 2;
    b->parent = "/tmp/victim.4000.vtr";
    b->rows[0][site] = (struct trace_row){.start = {2, 300}, .peak = {2, 300}, .epoch = 1};
    struct trace_totals *heap = &b->regions[0].space[TRACE_HEAP];
    heap->start = heap->live = (struct trace_pair){2, 300};
    heap->peak.bytes = 300;
    b->regions[0].combined_start_bytes = b->regions[0].combined_peak_bytes = 300;
    trace_builder_free(b, site, 100);
    trace_builder_allocate(b, site, 150);
}

static void seed_execed(struct trace_builder *b) {
    seed_regions(b);
    b->header.state = TRACE_EXECED;
    b->header.completeness.malloc_elsewhere = 1;
}

static void seed_damaged(struct trace_builder *b) {
    seed_regions(b);
    b->rows[1][TRACE_FIXED_SITES + 1].peak.bytes++;
    b->regions[1].space[TRACE_HEAP].peak.bytes += 1;
}

static const struct {
    const char *name;
    void (*make)(struct trace_builder *builder);
    size_t cut; /* bytes that are missing at the end */
} seeds[] = {
    {"empty.vtr", seed_empty, 0},
    {"regions.vtr", seed_regions, 0},
    {"no_rows.vtr", seed_no_rows, 0},
    {"killed.vtr", seed_killed, 0},
    {"lanes.vtr", seed_lanes, 0},
    {"killed_in_lanes.vtr", seed_killed_in_lanes, 0},
    {"lanes_then_region.vtr", seed_lanes_then_region, 0},
    {"thread.vtr", seed_thread, 0},
    {"timeline.vtr", seed_timeline, 0},
    {"usable.vtr", seed_usable, 0},
    {"forked.vtr", seed_forked, 0},
    {"execed.vtr", seed_execed, 0},
    {"damaged.vtr", seed_damaged, 0},
    {"cut.vtr", seed_regions, 500},
    {"lanes_cut.vtr", seed_lanes_then_region, 3000},
};

/* Stores of these traces, in this order; a trace may come twice. */
static const struct {
    const char *name;
    void (*make[4])(struct trace_builder *builder);
} stores[] = {
    {"one.db", {seed_regions}},
    {"several.db", {seed_regions, seed_timeline, seed_usable, seed_thread}},
    {"alike.db", {seed_regions, seed_regions, seed_killed}},
};

/* The same each time, but for the uuid. */
static int run_make(void (*make)(struct trace_builder *builder), uint32_t pid,
                    struct run *ret_run, struct fault *fault) {
    struct trace_builder builder;
    struct trace *trace;
    size_t size;
    const struct run_param param = {"format", "binary"};
    *ret_run = (struct run){.repeat = 1, .outcome = RUN_EXITED};
    trace_builder_init(&builder);
    make(&builder);
    builder.header.pid = pid;
    unsigned char *bytes = trace_builder_write(&builder, &size);
    int r = trace_from_bytes(bytes, size, &trace, fault);
    if (r == 0) {
        r = profile_from_trace(trace, &ret_run->profile, fault);
        trace_close(trace);
    }
    free(bytes);
    if (r == 0)
        r = run_describe(ret_run, "votable.parse", &param, 1);
    memcpy(ret_run->set_uuid, ret_run->uuid, sizeof(ret_run->set_uuid));
    return r;
}

static int store_make(const char *path, size_t number) {
    struct fault fault = {0};
    struct store *store;
    remove(path);
    int r = store_open(path, STORE_WRITE, &store, &fault);
    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && i < 4 && stores[number].make[i]; i++) {
        struct run run;
        struct run *one = &run;
        r = run_make(stores[number].make[i], 4711 + i, &run, &fault);
        if (r == 0)
            r = store_add(store, &one, 1, &fault);
        run_finish(&run);
    }
    store_close(store);
    return r;
}

/* Returns 0, or -1 when there is no such seed or it cannot be written. */
static int make(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        if (strcmp(seeds[i].name, name) != 0)
            continue;
        struct trace_builder builder;
        size_t size;
        trace_builder_init(&builder);
        seeds[i].make(&builder);
        unsigned char *bytes = trace_builder_write(&builder, &size);
        FILE *stream = fopen(path, "wb");
        int r = stream && fwrite(bytes, 1, size - seeds[i].cut, stream) == size - seeds[i].cut
                    ? 0
                    : -1;
        if (stream && fclose(stream) != 0)
            r = -1;
        free(bytes);
        return r;
    }
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
        if (strcmp(stores[i].name, name) == 0)
            return store_make(path, i);
    return -1;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (make(argv[i]) < 0) {
            fprintf(stderr, "make_seeds: %s: cannot be made\n", argv[i]);
            return 1;
        }
    }
    return 0;
}
