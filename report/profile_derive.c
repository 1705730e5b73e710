/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_derive.c: trace -> profile, by the rules at the top of trace_layout.h.
 *
 * Rows of a region hold what changed since it began; a site that was not touched is known from
 * the process region. The counts of a region that is still open are the sums of its rows. When
 * the process died inside one event (`updating` is odd) its live and peak are, too, which is
 * what the next instructions would have made of them.
 */
#include "profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct derivation {
    const struct trace *trace;
    struct profile *profile;
    struct fault *fault;
    struct profile_pair *process_live; /* by site */
    size_t next_rows;                  /* index into trace->rows: regions come in order */
};

static int out_of_memory(struct fault *fault) {
    return fault_set(fault, -ENOMEM, "out of memory");
}

/* Counters beyond 2^63 are nonsense; as negative numbers they fail profile_check(). */
static struct profile_pair pair_of(const struct trace_pair *pair) {
    return (struct profile_pair){(int64_t)pair->blocks, (int64_t)pair->bytes};
}

static struct profile_pair pair_live(const struct profile_pair *start,
                                     const struct profile_pair *allocated,
                                     const struct profile_pair *freed) {
    return (struct profile_pair){
        (int64_t)((uint64_t)start->blocks + (uint64_t)allocated->blocks -
                  (uint64_t)freed->blocks),
        (int64_t)((uint64_t)start->bytes + (uint64_t)allocated->bytes - (uint64_t)freed->bytes),
    };
}

static void pair_sum(struct profile_pair *sum, const struct profile_pair *value) {
    sum->blocks = (int64_t)((uint64_t)sum->blocks + (uint64_t)value->blocks);
    sum->bytes = (int64_t)((uint64_t)sum->bytes + (uint64_t)value->bytes);
}

static struct profile_row row_of(uint32_t site, const struct trace_row *row,
                                 uint64_t peak_epoch) {
    struct profile_row out = {
        .site = site,
        .allocated = pair_of(&row->allocated),
        .freed = pair_of(&row->freed),
        .start = pair_of(&row->start),
        .temporary = (int64_t)row->temporary,
    };
    out.end = pair_live(&out.start, &out.allocated, &out.freed);
    out.peak = row->epoch < peak_epoch ? out.end : pair_of(&row->peak);
    return out;
}

static bool row_is_empty(const struct profile_row *row) {
    return row->allocated.blocks == 0 && row->freed.blocks == 0 && row->start.blocks == 0 &&
           row->peak.blocks == 0 && row->end.blocks == 0 && row->allocated.bytes == 0 &&
           row->freed.bytes == 0 && row->start.bytes == 0 && row->peak.bytes == 0 &&
           row->end.bytes == 0;
}

/* The trace's row of @site in region @region, NULL when none was made. Sites come in order. */
static const struct trace_row *row_at(struct derivation *d, uint32_t region, uint32_t site) {
    const struct trace *trace = d->trace;
    while (d->next_rows < trace->rows_count) {
        const struct trace_rows *rows = &trace->rows[d->next_rows];
        if (rows->region > region || (rows->region == region && site < rows->first))
            return NULL;
        if (rows->region == region && site - rows->first < rows->count)
            return &rows->rows[site - rows->first];
        d->next_rows++;
    }
    return NULL;
}

static size_t rows_derive(struct derivation *d, uint32_t region_id, struct profile_row *rows) {
    const struct trace_region *region = &d->trace->regions[region_id];
    size_t count = 0;
    for (uint32_t site = 0; site < d->trace->header->site_count; site++) {
        const struct trace_totals *totals = &region->space[d->trace->sites[site].space];
        const struct trace_row *row = row_at(d, region_id, site);
        struct profile_row out = {.site = site};
        if (row && row->epoch != 0)
            out = row_of(site, row, totals->peak.epoch);
        else if (region_id != 0 && region->open)
            out.start = out.peak = out.end = d->process_live[site];
        if (region_id == 0)
            d->process_live[site] = out.end;
        if (!row_is_empty(&out))
            rows[count++] = out;
    }
    return count;
}

static void totals_derive(const struct trace_totals *from, struct profile_totals *ret) {
    *ret = (struct profile_totals){
        .start = pair_of(&from->start),
        .end = pair_of(&from->live),
        .allocated = pair_of(&from->allocated),
        .freed = pair_of(&from->freed),
        .peak_bytes = (int64_t)from->peak.bytes,
        .temporary = (int64_t)from->temporary,
        .largest_bytes = (int64_t)from->largest_bytes,
        .failed = (int64_t)from->failed,
        .reallocations = (int64_t)from->reallocations,
        .owned_peak_bytes = from->owned_peak_bytes,
    };
}

/* What the rows of one region add up to, by space. */
static void rows_sum(const struct profile *profile, const struct profile_region *region,
                     struct profile_totals ret_sums[TRACE_SPACES]) {
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        struct profile_totals *sum = &ret_sums[profile->sites[row->site].space];
        pair_sum(&sum->start, &row->start);
        pair_sum(&sum->end, &row->end);
        pair_sum(&sum->allocated, &row->allocated);
        pair_sum(&sum->freed, &row->freed);
        sum->peak_bytes = (int64_t)((uint64_t)sum->peak_bytes + (uint64_t)row->peak.bytes);
        sum->temporary = (int64_t)((uint64_t)sum->temporary + (uint64_t)row->temporary);
    }
}

/* The event that was cut short, finished: live from the rows, and its new peak if it is one. */
static void totals_finish(const struct profile *profile, struct profile_totals *totals,
                          const struct profile_totals *sum, struct profile_row *rows,
                          size_t rows_count, size_t space) {
    totals->start = sum->start;
    totals->end = sum->end;
    totals->peak_bytes = sum->peak_bytes;
    if (sum->end.bytes <= sum->peak_bytes)
        return;
    totals->peak_bytes = sum->end.bytes;
    for (size_t i = 0; i < rows_count; i++)
        if (profile->sites[rows[i].site].space == space)
            rows[i].peak = rows[i].end;
}

/* An open region's counts are in its rows only; its record gets them when it ends. */
static void open_totals_derive(const struct profile *profile, struct profile_region *region,
                               struct profile_row *rows) {
    struct profile_totals sums[TRACE_SPACES] = {0};
    rows_sum(profile, region, sums);
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        struct profile_totals *totals = &region->totals[space];
        totals->allocated = sums[space].allocated;
        totals->freed = sums[space].freed;
        totals->temporary = sums[space].temporary;
        if (profile->cut)
            totals_finish(profile, totals, &sums[space], rows, region->rows_count, space);
    }
}

/* What an open region's record does not have yet, whether rows are there or not. */
static void open_record_derive(struct profile_region *region, bool is_process) {
    region->combined_end_bytes = (int64_t)((uint64_t)region->totals[TRACE_HEAP].end.bytes +
                                           (uint64_t)region->totals[TRACE_MAP_ANON].end.bytes);
    /* The process owns whatever was allocated: nothing is counted twice for it. */
    for (size_t space = 0; is_process && space < TRACE_SPACES; space++)
        region->totals[space].owned_peak_bytes = region->totals[space].peak_bytes;
}

static int region_derive(struct derivation *d, uint32_t id, struct profile_row *scratch,
                         struct profile_region *ret) {
    struct profile *profile = d->profile;
    const struct trace_region *from = &d->trace->regions[id];
    size_t name_length = strnlen(from->name, sizeof(from->name));
    *ret = (struct profile_region){
        .name = arena_text(&profile->arena, from->name, name_length),
        .instance = from->instance,
        .parent = from->parent,
        .open = from->open != 0,
        .has_rows = !(from->flags & TRACE_REGION_NO_ROWS) && !d->trace->truncated,
        .begin_elapsed_ns = (int64_t)from->begin_elapsed_ns,
        .end_elapsed_ns = (int64_t)from->end_elapsed_ns,
        .cpu_ns = from->end_cpu_ns > from->begin_cpu_ns
                      ? (int64_t)(from->end_cpu_ns - from->begin_cpu_ns)
                      : 0,
        .combined_start_bytes = from->combined_start_bytes,
        .combined_peak_bytes = from->combined_peak_bytes,
        .combined_end_bytes = from->combined_end_bytes,
    };
    if (!ret->name)
        return out_of_memory(d->fault);
    for (size_t space = 0; space < TRACE_SPACES; space++)
        totals_derive(&from->space[space], &ret->totals[space]);
    if (ret->has_rows) {
        size_t count = rows_derive(d, id, scratch);
        struct profile_row *rows = arena_array(&profile->arena, count, sizeof(*rows));
        if (!rows)
            return out_of_memory(d->fault);
        memcpy(rows, scratch, count * sizeof(*rows));
        ret->rows = rows;
        ret->rows_count = count;
        if (ret->open)
            open_totals_derive(profile, ret, rows);
    }
    if (ret->open)
        open_record_derive(ret, id == 0);
    return 0;
}

static int regions_derive(struct derivation *d) {
    struct profile *profile = d->profile;
    uint32_t count = d->trace->header->region_count;
    uint32_t site_count = d->trace->header->site_count;
    struct profile_region *regions = arena_array(&profile->arena, count, sizeof(*regions));
    struct profile_row *scratch = calloc(site_count, sizeof(*scratch));
    d->process_live = calloc(site_count, sizeof(*d->process_live));

    int r = regions && scratch && d->process_live ? 0 : out_of_memory(d->fault);
    for (uint32_t id = 0; r == 0 && id < count; id++)
        r = region_derive(d, id, scratch, &regions[id]);
    free(scratch);
    free(d->process_live);
    if (r < 0)
        return r;
    profile->regions = regions;
    profile->region_count = count;
    return 0;
}

static int modules_derive(struct derivation *d) {
    const struct trace *trace = d->trace;
    struct profile *profile = d->profile;
    struct profile_module *modules =
        arena_array(&profile->arena, trace->module_count + 1, sizeof(*modules));
    if (!modules)
        return out_of_memory(d->fault);
    modules[0].path = "";
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct trace_loaded_module *from = &trace->modules[i];
        struct profile_module *module = &modules[i + 1];
        module->path = arena_text(&profile->arena, from->path.data, from->path.length);
        if (!module->path)
            return out_of_memory(d->fault);
        static const char digits[] = "0123456789abcdef";
        for (uint32_t b = 0; b < from->module->build_id_bytes; b++) {
            module->build_id[2 * b] = digits[from->module->build_id[b] >> 4];
            module->build_id[2 * b + 1] = digits[from->module->build_id[b] & 15];
        }
    }
    profile->modules = modules;
    profile->module_count = trace->module_count + 1;
    return 0;
}

/* The youngest module wins: an older one at the same addresses was unloaded before it came. */
static uint32_t module_of(const struct trace *trace, uint64_t address) {
    for (size_t i = trace->module_count; i > 0; i--) {
        const struct trace_module *module = trace->modules[i - 1].module;
        if (address - 1 >= module->start && address - 1 < module->end)
            return (uint32_t)i;
    }
    return 0;
}

struct located_node {
    uint32_t node;
    uint32_t module;
    uint64_t offset;
};

static int located_compare(const void *a, const void *b) {
    const struct located_node *left = a;
    const struct located_node *right = b;
    if (left->module != right->module)
        return left->module < right->module ? -1 : 1;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return left->node < right->node ? -1 : left->node > right->node;
}

/* Nodes keep their numbers; one frame serves all nodes at the same place of the same module. */
static int stacks_derive(struct derivation *d) {
    const struct trace *trace = d->trace;
    struct profile *profile = d->profile;
    uint32_t count = trace->header->node_count;
    struct profile_node *nodes = arena_array(&profile->arena, count, sizeof(*nodes));
    struct profile_frame *frames = arena_array(&profile->arena, count, sizeof(*frames));
    struct located_node *located = calloc(count, sizeof(*located));
    if (!nodes || !frames || !located) {
        free(located);
        return out_of_memory(d->fault);
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t module = module_of(trace, trace->nodes[i].address);
        uint64_t bias = module > 0 ? trace->modules[module - 1].module->bias : 0;
        located[i] = (struct located_node){i, module, trace->nodes[i].address - bias};
    }
    qsort(located + 1, count - 1, sizeof(*located), located_compare);

    size_t frame_count = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct located_node *at = &located[i];
        if (i == 1 || at->module != at[-1].module || at->offset != at[-1].offset)
            frames[frame_count++] = (struct profile_frame){
                .module = at->module,
                .offset = at->offset,
                .function = "",
                .file = "",
            };
        nodes[at->node] = (struct profile_node){
            .parent = trace->nodes[at->node].parent,
            .frame = (uint32_t)(frame_count - 1),
        };
    }
    free(located);
    profile->nodes = nodes;
    profile->node_count = count;
    profile->frames = frames;
    profile->frame_count = frame_count;
    return 0;
}

static int sites_derive(struct derivation *d) {
    uint32_t count = d->trace->header->site_count;
    struct profile_site *sites = arena_array(&d->profile->arena, count, sizeof(*sites));
    if (!sites)
        return out_of_memory(d->fault);
    for (uint32_t i = 0; i < count; i++)
        sites[i] = (struct profile_site){
            .node = d->trace->sites[i].node,
            .space = d->trace->sites[i].space,
            .flags = d->trace->sites[i].flags,
        };
    d->profile->sites = sites;
    d->profile->site_count = count;
    return 0;
}

/* The program's arguments. What is behind the last NUL was cut off and counts, too. */
static int arguments_derive(struct derivation *d) {
    struct profile *profile = d->profile;
    const struct trace_bytes *command = &d->trace->command;
    size_t count = 0;
    for (size_t i = 0; i < command->length; i++)
        count += command->data[i] == '\0' || i + 1 == command->length;

    const char **arguments = arena_array(&profile->arena, count, sizeof(*arguments));
    if (!arguments)
        return out_of_memory(d->fault);
    const char *at = command->data;
    for (size_t i = 0; i < count; i++) {
        size_t length = strnlen(at, (size_t)(command->data + command->length - at));
        arguments[i] = arena_text(&profile->arena, at, length);
        if (!arguments[i])
            return out_of_memory(d->fault);
        at += length + 1;
    }
    profile->arguments = arguments;
    profile->argument_count = count;
    return 0;
}

/* When exit was not seen, the last thing that was: the latest begin or end of a region. */
static int64_t elapsed_ns(const struct trace *trace) {
    uint64_t latest = trace->header->end_elapsed_ns;
    for (uint32_t i = 0;
         trace->header->state != TRACE_EXITED && i < trace->header->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        if (region->begin_elapsed_ns > latest)
            latest = region->begin_elapsed_ns;
        if (region->end_elapsed_ns > latest)
            latest = region->end_elapsed_ns;
    }
    return (int64_t)latest;
}

static int header_derive(struct derivation *d) {
    const struct trace *trace = d->trace;
    const struct trace_header *header = trace->header;
    struct profile *profile = d->profile;
    const uint64_t *gaps = &header->completeness.events_lost;
    _Static_assert(offsetof(struct trace_completeness, settings_ignored) ==
                       PROFILE_SETTINGS_IGNORED * sizeof(uint64_t),
                   "enum profile_gap has the order of struct trace_completeness");

    profile->program = arena_text(&profile->arena, header->program,
                                  strnlen(header->program, sizeof(header->program)));
    profile->votrace_version =
        arena_text(&profile->arena, header->votrace_version,
                   strnlen(header->votrace_version, sizeof(header->votrace_version)));
    profile->exe =
        arena_text(&profile->arena, trace->exe.data ? trace->exe.data : "", trace->exe.length);
    profile->cwd =
        arena_text(&profile->arena, trace->cwd.data ? trace->cwd.data : "", trace->cwd.length);
    if (!profile->program || !profile->votrace_version || !profile->exe || !profile->cwd)
        return out_of_memory(d->fault);
    profile->pid = header->pid;
    profile->start_realtime_ns = (int64_t)header->start_realtime_ns;
    profile->elapsed_ns = elapsed_ns(trace);
    profile->end = header->state == TRACE_EXITED ? PROFILE_ENDED : PROFILE_KILLED;
    profile->stacks = (enum trace_stacks)header->stacks;
    profile->depth_limit = header->depth_limit;
    profile->stacks_truncated = header->stacks_truncated;
    profile->cut = header->updating % 2 != 0;
    profile->truncated = trace->truncated;
    for (size_t i = 0; i < PROFILE_GAPS; i++)
        profile->gaps[i] = gaps[i] > INT64_MAX ? INT64_MAX : (int64_t)gaps[i];
    return 0;
}

int profile_from_trace(const struct trace *trace, struct profile *ret_profile,
                       struct fault *fault) {
    struct profile profile = {0};
    struct derivation d = {.trace = trace, .profile = &profile, .fault = fault};
    static int (*const steps[])(struct derivation *) = {
        header_derive, arguments_derive, modules_derive,
        stacks_derive, sites_derive,     regions_derive,
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
        r = steps[i](&d);
    if (r == 0) {
        struct fault inner;
        r = profile_check(&profile, &inner);
        if (r < 0)
            fault_set(fault, r, "trace %s", inner.text);
    }
    if (r < 0)
        profile_finish(&profile);
    *ret_profile = profile;
    return r;
}
