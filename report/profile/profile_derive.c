/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_derive.c: trace -> profile, by the rules at the top of trace_layout.h.
 *
 * Here are the header, modules, stacks and sites; profile_regions.c has what was counted.
 */
#include "profile_derive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct fault *fault) {
    return fault_set(fault, -ENOMEM, "out of memory");
}

static void hex_write(char *ret_text, const uint8_t *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        ret_text[2 * i] = digits[bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret_text[2 * count] = '\0';
}

static int modules_derive(struct derivation *d) {
    const struct trace *trace = d->trace;
    struct profile *profile = d->profile;
    struct profile_module *modules =
        arena_array(&profile->arena, trace->module_count + 2, sizeof(*modules));
    if (!modules)
        return out_of_memory(d->fault);
    modules[0].path = "";
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct trace_loaded_module *from = &trace->modules[i];
        struct profile_module *module = &modules[i + 1];
        module->path = arena_text(&profile->arena, from->path.data, from->path.length);
        if (!module->path)
            return out_of_memory(d->fault);
        hex_write(module->build_id, from->module->build_id, from->module->build_id_bytes);
    }
    profile->modules = modules;
    profile->module_count = trace->module_count + 1;
    if (trace->code_count > 0)
        modules[profile->module_count++].path = PROFILE_CODE_PATH;
    return 0;
}

/*
 * Of the modules that cover an address the youngest that was there when the node was made: a
 * later one came after an unload. Of one generation the last that was noted wins.
 */
static uint32_t module_of(const struct trace *trace, const struct trace_node *node) {
    uint32_t found = 0;
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct trace_module *module = trace->modules[i].module;
        if (node->address - 1 < module->start || node->address - 1 >= module->end ||
            module->generation > node->generation)
            continue;
        if (found == 0 || module->generation >= trace->modules[found - 1].module->generation)
            found = (uint32_t)(i + 1);
    }
    return found;
}

/* A frame of interpreted code is of a module of its own, the last. */
static bool is_code(const struct trace *trace, uint64_t address) {
    return trace->code_count > 0 && (address & TRACE_CODE_FRAME) != 0;
}

/* What the trace says of it needs no symbols. */
static int code_frame_derive(struct derivation *d, uint64_t address,
                             struct profile_frame *frame) {
    const struct trace *trace = d->trace;
    uint64_t id = (address & ~TRACE_CODE_FRAME) >> TRACE_CODE_LINE_BITS;
    frame->lineno = (uint32_t)(address & TRACE_CODE_LINE_MAX);
    frame->offset = frame->lineno;
    if (id == 0 || id > trace->code_count)
        return 0;
    const struct trace_loaded_code *code = &trace->codes[id - 1];
    frame->function =
        arena_text(&d->profile->arena, code->function.data, code->function.length);
    frame->file = arena_text(&d->profile->arena, code->path.data, code->path.length);
    return frame->function && frame->file ? 0 : out_of_memory(d->fault);
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
        uint64_t address = trace->nodes[i].address;
        if (is_code(trace, address)) {
            located[i] = (struct located_node){i, (uint32_t)profile->module_count - 1, address};
            continue;
        }
        uint32_t module = module_of(trace, &trace->nodes[i]);
        uint64_t bias = module > 0 ? trace->modules[module - 1].module->bias : 0;
        located[i] = (struct located_node){i, module, address - bias};
    }
    qsort(located + 1, count - 1, sizeof(*located), located_compare);

    size_t frame_count = 0;
    int r = 0;
    for (uint32_t i = 1; r == 0 && i < count; i++) {
        const struct located_node *at = &located[i];
        if (i == 1 || at->module != at[-1].module || at->offset != at[-1].offset) {
            frames[frame_count++] = (struct profile_frame){
                .module = at->module,
                .offset = at->offset,
                .function = "",
                .file = "",
            };
            if (is_code(trace, trace->nodes[at->node].address))
                r = code_frame_derive(d, at->offset, &frames[frame_count - 1]);
        }
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
    if (r == 0)
        profile_note_interpreters(profile);
    return r;
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

/*
 * When the end was not seen, the last thing that was: the begin or end of a region, or a point
 * of a timeline.
 */
static int64_t elapsed_ns(const struct trace *trace) {
    uint64_t latest = trace->header->end_elapsed_ns;
    if (trace_has_ended(trace) && latest != 0)
        return (int64_t)latest;
    for (uint32_t i = 0; i < trace->header->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        const struct trace_timeline *timeline = trace->timelines[i];
        if (region->begin_elapsed_ns > latest)
            latest = region->begin_elapsed_ns;
        if (region->end_elapsed_ns > latest)
            latest = region->end_elapsed_ns;
        for (uint32_t p = 0; timeline && p < timeline->count; p++)
            if (timeline->points[p].elapsed_ns > latest)
                latest = timeline->points[p].elapsed_ns;
    }
    return (int64_t)latest;
}

/* "" for one that is all zero. */
static void uuid_write(char ret_text[PROFILE_UUID_BYTES], const uint8_t *uuid) {
    static const uint8_t none[TRACE_UUID_BYTES];
    ret_text[0] = '\0';
    if (memcmp(uuid, none, sizeof(none)) != 0)
        hex_write(ret_text, uuid, TRACE_UUID_BYTES);
}

static void state_derive(struct derivation *d) {
    static const enum profile_end ends[] = {
        [TRACE_STARTING] = PROFILE_KILLED,
        [TRACE_RUNNING] = PROFILE_KILLED,
        [TRACE_EXITED] = PROFILE_ENDED,
        [TRACE_EXECED] = PROFILE_EXECED,
    };
    const struct trace_header *header = d->trace->header;
    struct profile *profile = d->profile;
    profile->pid = header->pid;
    profile->parent_pid = header->parent_pid;
    profile->forked = (header->flags & TRACE_FORKED) != 0;
    profile->inherited_freed = (int64_t)(header->completeness.inherited_freed & INT64_MAX);
    uuid_write(profile->uuid, header->uuid);
    uuid_write(profile->parent_uuid, header->parent_uuid);
    profile->start_realtime_ns = (int64_t)header->start_realtime_ns;
    profile->elapsed_ns = elapsed_ns(d->trace);
    profile->end = ends[header->state];
    profile->stacks = (enum trace_stacks)header->stacks;
    profile->depth_limit = header->depth_limit;
    profile->stacks_truncated = header->stacks_truncated;
    profile->cut = trace_events_in_flight(d->trace) > 0;
    profile->truncated = d->trace->truncated;
}

static int header_derive(struct derivation *d) {
    const struct trace *trace = d->trace;
    const struct trace_header *header = trace->header;
    struct profile *profile = d->profile;
    const uint64_t *gaps = &header->completeness.events_lost;
    _Static_assert(offsetof(struct trace_completeness, malloc_elsewhere) ==
                       PROFILE_MALLOC_ELSEWHERE * sizeof(uint64_t),
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
    state_derive(d);
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
        stacks_derive, sites_derive,     profile_regions_derive,
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
