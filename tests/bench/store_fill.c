/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_fill.c: fill a store with runs, through the way that an import takes.
 *
 *     store_fill STORE KIND RUNS [BENCHMARKS [REGIONS [SITES [BATCH]]]]
 *
 * Runs are made up, but add up like real ones, or the store would refuse them when they are read.
 * KIND says what is the same from one run of a benchmark to the next:
 *
 *     usual    every run is of a new commit and a new build, so that all frames of the program have
 *              new addresses; in each region one site in a hundred has new numbers for good, and
 *              one in two hundred has others in every run
 *     noise    the same build, but every number of every site is another in every run
 */
#include "store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTIONS    400
#define DEPTH        12
#define RUN_POINTS   400 /* of the timeline of the process */
#define MARKED_NAMES 5
#define START_NS     1700000000000000000

struct plan {
    const char *path;
    bool noise;
    size_t runs;
    size_t benchmarks;
    size_t regions; /* with "process" */
    size_t sites;   /* in each region */
    size_t batch;   /* runs in one transaction */
};

/* What is the same in all runs of a benchmark, and how its numbers stand. */
struct benchmark {
    char name[32];
    size_t nodes; /* with the root */
    uint32_t *parents;
    uint32_t *frames;         /* by node */
    struct profile_row *rows; /* by region, then site */
    size_t done;              /* runs so far */
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t random_below(uint64_t most) {
    return random_next() % most;
}

static void *need(void *pointer) {
    if (!pointer) {
        fputs("store_fill: out of memory\n", stderr);
        exit(2);
    }
    return pointer;
}

/* Sizes and counts as programs have them: most small, few very large. */
static int64_t heavy_tail(void) {
    int64_t value = 1;
    while (random_below(100) < 55 && value < 1 << 22)
        value = 2 * value + (int64_t)random_below(2);
    return value;
}

/* Freed again, freed after the peak, kept, or there before and left alone. */
static void row_make(struct profile_row *row, uint32_t site) {
    int64_t blocks = heavy_tail();
    struct profile_pair all = {blocks, blocks * (8 + (int64_t)random_below(4000))};
    *row = (struct profile_row){.site = site};
    switch (random_below(4)) {
    case 0:
        row->allocated = row->freed = all;
        row->temporary = (int64_t)random_below((uint64_t)blocks + 1);
        break;
    case 1:
        row->allocated = row->freed = all;
        row->peak.blocks = blocks / 2 + 1;
        row->peak.bytes = all.bytes / blocks * row->peak.blocks;
        break;
    case 2:
        row->allocated = row->peak = row->end = all;
        break;
    default:
        row->start = row->peak = row->end = all;
    }
}

static void benchmark_init(struct benchmark *b, const struct plan *plan, size_t number) {
    size_t pool = plan->sites + plan->sites / 2; /* sites of a run; a region has some of them */
    snprintf(b->name, sizeof(b->name), "parse.%zu", number);
    b->nodes = 2 * pool + DEPTH;
    b->parents = need(calloc(b->nodes, sizeof(*b->parents)));
    b->frames = need(calloc(b->nodes, sizeof(*b->frames)));
    b->rows = need(calloc(plan->regions * plan->sites, sizeof(*b->rows)));
    for (size_t i = 1; i < b->nodes; i++) {
        /* A trunk like main(), then branches that go on from what was there lately. */
        size_t back = i <= DEPTH ? 1 : 1 + random_below(i < 64 ? i : 64);
        b->parents[i] = (uint32_t)(i - back);
        b->frames[i] = (uint32_t)(i <= DEPTH ? i : random_below(b->nodes / 2));
    }
    for (size_t r = 0; r < plan->regions; r++) {
        size_t site = 0;
        for (size_t i = 0; i < plan->sites; i++) {
            site += i > 0;
            size_t left = pool - site - (plan->sites - i);
            site += random_below(left < 2 ? left + 1 : 2);
            row_make(&b->rows[r * plan->sites + i], (uint32_t)site);
        }
    }
}

/* From one run to the next. */
static void benchmark_step(struct benchmark *b, const struct plan *plan) {
    for (size_t i = 0; i < plan->regions * plan->sites; i++) {
        bool changes = plan->noise || random_below(100) == 0 || i % 200 == 7;
        if (changes && b->done > 0)
            row_make(&b->rows[i], b->rows[i].site);
    }
    b->done++;
}

_printf_(2, 3) static const char *printed(struct arena *arena, const char *format, ...) {
    char text[96];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return need(arena_text(arena, text, strlen(text)));
}

/* A program and a library; the program's code has moved with every build. */
static void stacks_make(struct profile *profile, const struct benchmark *b, size_t build) {
    struct arena *arena = &profile->arena;
    size_t frame_count = b->nodes / 2 + 1;
    struct profile_module *modules = need(arena_array(arena, 3, sizeof(*modules)));
    struct profile_frame *frames = need(arena_array(arena, frame_count, sizeof(*frames)));
    struct profile_node *nodes = need(arena_array(arena, b->nodes, sizeof(*nodes)));
    modules[0].path = "";
    modules[1].path = "/usr/local/bin/program";
    snprintf(modules[1].build_id, sizeof(modules[1].build_id), "%040zx", build + 1);
    modules[2].path = "/usr/lib/x86_64-linux-gnu/liblibrary.so.2.9";
    strcpy(modules[2].build_id, "2222222222222222222222222222222222222222");
    for (size_t i = 0; i < frame_count; i++) {
        bool library = i % 3 == 2;
        size_t function = i * 2654435761u % FUNCTIONS;
        frames[i] = (struct profile_frame){
            .module = library ? 2 : 1,
            .offset = 0x1000 + 16 * i + (library ? 0 : 48 * build),
            .function =
                printed(arena, library ? "library_parse_step_%zu" : "program_do_%zu", function),
            .file = printed(arena, "/home/user/program/source/part_%zu/file.c", function / 8),
            .lineno = (uint32_t)(i + (library ? 0 : build / 10)),
        };
    }
    for (size_t i = 1; i < b->nodes; i++)
        nodes[i] = (struct profile_node){b->parents[i], b->frames[i]};
    profile->modules = modules;
    profile->module_count = 3;
    profile->frames = frames;
    profile->frame_count = frame_count;
    profile->nodes = nodes;
    profile->node_count = b->nodes;
}

static void sites_make(struct profile *profile, const struct benchmark *b,
                       const struct plan *plan) {
    size_t pool = plan->sites + plan->sites / 2;
    struct profile_site *sites = need(arena_array(&profile->arena, pool, sizeof(*sites)));
    for (size_t i = 0; i < pool; i++)
        sites[i].node = (uint32_t)(DEPTH + 2 * i);
    profile->sites = sites;
    profile->site_count = pool;
}

static void pair_add(struct profile_pair *sum, const struct profile_pair *pair) {
    sum->blocks += pair->blocks;
    sum->bytes += pair->bytes;
}

static void totals_make(struct profile_region *region) {
    struct profile_totals *totals = &region->totals[TRACE_HEAP];
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        pair_add(&totals->start, &row->start);
        pair_add(&totals->end, &row->end);
        pair_add(&totals->allocated, &row->allocated);
        pair_add(&totals->freed, &row->freed);
        totals->peak_bytes += row->peak.bytes;
        totals->temporary += row->temporary;
    }
    totals->largest_bytes = totals->peak_bytes / 2;
    totals->owned_peak_bytes = totals->peak_bytes - totals->start.bytes;
    region->combined_start_bytes = totals->start.bytes;
    region->combined_peak_bytes = totals->peak_bytes;
    region->combined_end_bytes = totals->end.bytes;
}

static void points_make(struct arena *arena, struct profile_region *region, size_t count) {
    int64_t peak = region->totals[TRACE_HEAP].peak_bytes;
    struct profile_point *points = need(arena_array(arena, count, sizeof(*points)));
    int64_t span = region->end_elapsed_ns - region->begin_elapsed_ns;
    for (size_t i = 0; i < count; i++) {
        points[i].elapsed_ns = region->begin_elapsed_ns + span * (int64_t)i / (int64_t)count +
                               (int64_t)random_below((uint64_t)span / count);
        points[i].live_bytes = peak / (int64_t)count * (int64_t)i +
                               (int64_t)random_below((uint64_t)peak / count + 1);
    }
    points[count - 1].live_bytes = peak;
    region->points = points;
    region->points_count = count;
}

static void regions_make(struct profile *profile, const struct benchmark *b,
                         const struct plan *plan) {
    static const char *const names[MARKED_NAMES] = {"parse", "decode", "convert", "write",
                                                    "read"};
    struct arena *arena = &profile->arena;
    struct profile_region *regions = need(arena_array(arena, plan->regions, sizeof(*regions)));
    for (size_t r = 0; r < plan->regions; r++) {
        struct profile_region *region = &regions[r];
        struct profile_row *rows = need(arena_array(arena, plan->sites, sizeof(*rows)));
        int64_t *sizes = need(arena_array(arena, TRACE_SIZE_BUCKETS, sizeof(*sizes)));
        memcpy(rows, &b->rows[r * plan->sites], plan->sites * sizeof(*rows));
        region->name = r == 0 ? "process" : names[(r - 1) % MARKED_NAMES];
        region->instance = r == 0 ? 1 : (uint32_t)(1 + (r - 1) / MARKED_NAMES);
        region->open = r == 0;
        region->has_rows = true;
        region->rows = rows;
        region->rows_count = plan->sites;
        region->begin_elapsed_ns = r == 0 ? 0 : (int64_t)(r * 40000000 + random_below(1000000));
        region->end_elapsed_ns =
            r == 0 ? profile->elapsed_ns
                   : region->begin_elapsed_ns + 30000000 + (int64_t)random_below(1000000);
        region->cpu_ns = region->end_elapsed_ns - region->begin_elapsed_ns;
        region->peak_elapsed_ns = region->end_elapsed_ns;
        totals_make(region);
        sizes[5] = region->totals[TRACE_HEAP].allocated.blocks;
        region->sizes = sizes;
        points_make(arena, region, r == 0 ? RUN_POINTS : RUN_POINTS / 10);
    }
    regions[0].end_elapsed_ns = 0;
    profile->regions = regions;
    profile->region_count = plan->regions;
}

static void run_make(struct run *run, struct benchmark *b, const struct plan *plan,
                     size_t number) {
    struct profile *profile = &run->profile;
    const struct run_param params[] = {{"format", "binary"}, {"rows", "20000"}};
    size_t build = plan->noise ? 0 : b->done;
    *run = (struct run){0};
    benchmark_step(b, plan);
    profile->program = "program";
    profile->exe = "/usr/local/bin/program";
    profile->cwd = "/home/user/program";
    profile->votrace_version = "0.1.0";
    profile->pid = (uint32_t)(1000 + number);
    profile->start_realtime_ns = START_NS + (int64_t)number * 60000000000;
    profile->elapsed_ns = 900000000 + (int64_t)random_below(10000000);
    profile->stacks = TRACE_STACKS_ALL;
    profile->depth_limit = 64;
    stacks_make(profile, b, build);
    sites_make(profile, b, plan);
    regions_make(profile, b, plan);
    if (run_describe(run, b->name, params, 2) < 0 || run_uuid_make(run->set_uuid) < 0) {
        fputs("store_fill: a run cannot be described\n", stderr);
        exit(2);
    }
    run->repeat = 1;
    run->outcome = RUN_EXITED;
    run->origin.commit =
        printed(&profile->arena, "%016zx%024x", (build + 1) * (size_t)0x9e3779b97f4a7c15u, 0);
    run->origin.branch = "main";
    run->origin.commit_time_ns = profile->start_realtime_ns - 1000000000;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void store_batch(const struct plan *plan, struct run *runs, size_t count) {
    struct fault fault = {0};
    struct store *store;
    struct run **pointers = need(calloc(count, sizeof(struct run *)));
    for (size_t i = 0; i < count; i++)
        pointers[i] = &runs[i];
    int r = store_open(plan->path, STORE_WRITE, &store, &fault);
    if (r == 0) {
        r = store_add(store, pointers, count, &fault);
        store_close(store);
    }
    if (r < 0) {
        fprintf(stderr, "store_fill: %s: %s\n", plan->path, fault.text);
        exit(2);
    }
    free(pointers);
}

static double fill(const struct plan *plan, struct benchmark *benchmarks) {
    struct run *runs = need(calloc(plan->batch, sizeof(*runs)));
    double spent = 0;
    for (size_t i = 0; i < plan->runs; i += plan->batch) {
        size_t count = plan->runs - i < plan->batch ? plan->runs - i : plan->batch;
        for (size_t k = 0; k < count; k++)
            run_make(&runs[k], &benchmarks[(i + k) % plan->benchmarks], plan, i + k);
        double begin = now_s();
        store_batch(plan, runs, count);
        spent += now_s() - begin;
        for (size_t k = 0; k < count; k++)
            run_finish(&runs[k]);
    }
    free(runs);
    return spent;
}

static size_t number_of(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 1000000) {
        fprintf(stderr, "store_fill: '%s' is no number from 1 to 1000000\n", text);
        exit(2);
    }
    return value;
}

int main(int count, char **arguments) {
    if (count < 4 || count > 8 ||
        (strcmp(arguments[2], "usual") != 0 && strcmp(arguments[2], "noise") != 0)) {
        fputs(
            "usage: store_fill STORE usual|noise RUNS [BENCHMARKS [REGIONS [SITES [BATCH]]]]\n",
            stderr);
        return 2;
    }
    struct plan plan = {
        .path = arguments[1],
        .noise = strcmp(arguments[2], "noise") == 0,
        .runs = number_of(arguments[3]),
        .benchmarks = count > 4 ? number_of(arguments[4]) : 50,
        .regions = count > 5 ? number_of(arguments[5]) : 20,
        .sites = count > 6 ? number_of(arguments[6]) : 1000,
        .batch = count > 7 ? number_of(arguments[7]) : 1,
    };
    struct benchmark *benchmarks = need(calloc(plan.benchmarks, sizeof(*benchmarks)));
    for (size_t i = 0; i < plan.benchmarks; i++)
        benchmark_init(&benchmarks[i], &plan, i);
    double spent = fill(&plan, benchmarks);
    printf("%.1f\n", (double)plan.runs / spent);
    for (size_t i = 0; i < plan.benchmarks; i++) {
        free(benchmarks[i].parents);
        free(benchmarks[i].frames);
        free(benchmarks[i].rows);
    }
    free(benchmarks);
    return 0;
}
