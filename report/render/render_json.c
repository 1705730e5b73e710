/* SPDX-License-Identifier: BSD-3-Clause */
/* render_json.c: what --json prints of one store or run. Bytes and counts are exact integers. */
#include "render.h"

#include "json.h"
#include "render_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const space_names[] = {"heap", "map_anon", "map_file", "map_reserved"};

int json_finish(const struct json *json) {
    return ferror(json->stream) ? -EIO : 0;
}

void json_count(struct json *json, const char *key, int64_t count, bool known) {
    if (known)
        json_int(json, key, count);
    else
        json_null(json, key);
}

void json_parameters(struct json *json, const struct run *run) {
    json_begin(json, "parameters", '{');
    for (size_t i = 0; i < run->param_count; i++)
        json_text(json, run->params[i].key, run->params[i].value);
    json_end(json, '}');
}

/* Of a forked child, or where the parent's run is in the same store; else null. */
static void write_parent(struct json *json, const struct run *run) {
    const struct profile *profile = &run->profile;
    if (!profile->forked && run->parent_id == 0) {
        json_null(json, "parent");
        return;
    }
    json_begin(json, "parent", '{');
    json_int(json, "pid", profile->parent_pid);
    json_text(json, "trace_uuid", profile->parent_uuid);
    json_bool(json, "forked", profile->forked);
    json_int(json, "inherited_freed", profile->inherited_freed);
    json_count(json, "run", run->parent_id, run->parent_id != 0);
    json_end(json, '}');
}

/* What is not known is null. */
static void write_known(struct json *json, const char *key, const char *text) {
    if (text[0] != '\0')
        json_text(json, key, text);
    else
        json_null(json, key);
}

static void write_origin(struct json *json, const struct origin *origin) {
    static const char *const trees[] = {"", "clean", "dirty"};
    write_known(json, "commit", origin->commit);
    write_known(json, "branch", origin->branch);
    json_count(json, "commit_time_ns", origin->commit_time_ns, origin->commit_time_ns != 0);
    write_known(json, "tree", trees[origin->tree]);
    write_known(json, "libc", origin->libc);
    write_known(json, "allocator", origin->allocator);
    write_known(json, "cpu_model", origin->cpu_model);
    json_count(json, "cpu_count", origin->cpu_count, origin->cpu_count != 0);
}

static void write_run(struct json *json, const struct run *run) {
    static const char *const outcomes[] = {"unknown", "exited", "signaled"};
    static const char *const ends[] = {"ended", "killed", "snapshot", "execed"};
    const struct profile *profile = &run->profile;
    json_int(json, "run", run->id);
    json_text(json, "uuid", run->uuid);
    json_text(json, "benchmark", run->benchmark);
    json_parameters(json, run);
    json_text(json, "set", run->set_uuid);
    json_int(json, "repeat", run->repeat);
    json_text(json, "program", profile->program);
    json_text(json, "host", run->host);
    json_text(json, "kernel", run->kernel);
    json_text(json, "machine", run->machine);
    write_origin(json, &run->origin);
    json_text(json, "votrace_version", profile->votrace_version);
    json_int(json, "start_ns", profile->start_realtime_ns);
    json_int(json, "elapsed_ns", profile->elapsed_ns);
    json_text(json, "outcome", outcomes[run->outcome]);
    json_int(json, "status", run->status);
    json_int(json, "pid", profile->pid);
    json_text(json, "trace_uuid", profile->uuid);
    write_parent(json, run);
    json_text(json, "trace_end", ends[profile->end]);
    json_bool(json, "killed", profile->end == PROFILE_KILLED);
    json_bool(json, "complete", !profile_is_incomplete(profile));
    json_begin(json, "completeness", '{');
    for (enum profile_gap gap = 0; gap < PROFILE_GAPS; gap++)
        json_int(json, profile_gap_text(gap)->name, profile->gaps[gap]);
    json_bool(json, "cut", profile->cut);
    json_bool(json, "truncated", profile->truncated);
    json_end(json, '}');
}

int render_list_json(FILE *stream, const struct store_entry *entries, size_t count) {
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        json_begin(&json, NULL, '{');
        write_run(&json, &entries[i].run);
        json_text(&json, "region", entries[i].region);
        json_int(&json, "peak_added", entries[i].peak_added);
        json_int(&json, "regions", entries[i].region_count);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    return json_finish(&json);
}

static void write_totals(struct json *json, const struct profile_totals *totals, bool counts) {
    json_int(json, "live_start", totals->start.bytes);
    json_int(json, "live_peak", totals->peak_bytes);
    json_int(json, "peak_added", profile_peak_added(totals));
    json_int(json, "live_end", totals->end.bytes);
    json_int(json, "net", profile_net(totals));
    json_count(json, "allocations", totals->allocated.blocks, counts);
    json_count(json, "frees", totals->freed.blocks, counts);
    json_count(json, "allocated_bytes", totals->allocated.bytes, counts);
    json_count(json, "freed_bytes", totals->freed.bytes, counts);
    json_int(json, "blocks_start", totals->start.blocks);
    json_int(json, "blocks_end", totals->end.blocks);
    json_count(json, "temporary", totals->temporary, counts);
    json_int(json, "largest_bytes", totals->largest_bytes);
    json_int(json, "failed", totals->failed);
    json_int(json, "reallocations", totals->reallocations);
    json_int(json, "owned_peak", totals->owned_peak_bytes);
}

/* @frame may be NULL, where no stack is known: the keys are always there. */
void json_frame(struct json *json, const struct profile *profile,
                const struct profile_frame *frame) {
    static const struct profile_frame unknown = {.function = "", .file = ""};
    const char *module = frame ? profile->modules[frame->module].path : "";
    if (!frame)
        frame = &unknown;
    json_text(json, "function", frame->function);
    json_text(json, "file", frame->file);
    json_int(json, "line", frame->lineno);
    json_text(json, "module", module);
    json_int(json, "offset", (int64_t)frame->offset);
}

/* Innermost first. */
void json_stack(struct json *json, const struct profile *profile, uint32_t node) {
    json_begin(json, "stack", '[');
    for (; node != 0; node = profile->nodes[node].parent) {
        json_begin(json, NULL, '{');
        json_frame(json, profile, callsite_frame(profile, node));
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* The same as numbers of the list "frames": a run has thousands of stacks, and they share. */
static void write_stack_numbers(struct json *json, const struct profile *profile,
                                uint32_t node) {
    json_begin(json, "stack", '[');
    json->compact = true;
    for (; node != 0; node = profile->nodes[node].parent)
        json_int(json, NULL, profile->nodes[node].frame);
    json_end(json, ']');
    json->compact = false;
}

static void write_frames(struct json *json, const struct profile *profile) {
    json_begin(json, "frames", '[');
    for (size_t i = 0; i < profile->frame_count; i++) {
        json_begin(json, NULL, '{');
        json_frame(json, profile, &profile->frames[i]);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_row(struct json *json, const struct profile *profile,
                      const struct profile_row *row) {
    const struct profile_site *site = &profile->sites[row->site];
    json_begin(json, NULL, '{');
    json_text(json, "space", space_names[site->space]);
    json_int(json, "live_start", row->start.bytes);
    json_int(json, "at_peak", row->peak.bytes);
    json_int(json, "live_end", row->end.bytes);
    json_int(json, "blocks_start", row->start.blocks);
    json_int(json, "blocks_at_peak", row->peak.blocks);
    json_int(json, "blocks_end", row->end.blocks);
    json_int(json, "allocations", row->allocated.blocks);
    json_int(json, "frees", row->freed.blocks);
    json_int(json, "allocated_bytes", row->allocated.bytes);
    json_int(json, "freed_bytes", row->freed.bytes);
    json_int(json, "temporary", row->temporary);
    json_bool(json, "stack_truncated", site->flags & TRACE_SITE_TRUNCATED);
    uint32_t telling = site->node != 0 ? callsite_telling_node(profile, site->node) : 0;
    json_frame(json, profile, telling != 0 ? callsite_frame(profile, telling) : NULL);
    write_stack_numbers(json, profile, site->node);
    json_end(json, '}');
}

/* What the allocator gave for the heap's live bytes; null when it was not asked for. */
static void write_usable(struct json *json, const struct profile_region *region) {
    if (!region->usable_is_known) {
        json_null(json, "usable");
        return;
    }
    json_begin(json, "usable", '{');
    json_int(json, "live_start", region->usable_start_bytes);
    json_int(json, "live_peak", region->usable_peak_bytes);
    json_int(json, "live_end", region->usable_end_bytes);
    json_int(json, "slack", profile_slack(region));
    json_end(json, '}');
}

static void write_sizes(struct json *json, const struct profile_region *region) {
    if (!region->sizes) {
        json_null(json, "sizes");
        return;
    }
    json_begin(json, "sizes", '[');
    for (size_t i = 0; i < TRACE_SIZE_BUCKETS; i++) {
        if (region->sizes[i] == 0)
            continue;
        json_begin(json, NULL, '{');
        json_int(json, "least", i == 0 ? 0 : INT64_C(1) << (i - 1));
        json_int(json, "allocations", region->sizes[i]);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_timeline(struct json *json, const struct profile_region *region) {
    if (region->points_count == 0) {
        json_null(json, "timeline");
        return;
    }
    json_begin(json, "timeline", '[');
    for (size_t i = 0; i < region->points_count; i++) {
        json_begin(json, NULL, '{');
        json_int(json, "ns", region->points[i].elapsed_ns);
        json_int(json, "live", region->points[i].live_bytes);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_region(struct json *json, const struct profile *profile,
                         const struct profile_region *region) {
    json_begin(json, NULL, '{');
    json_text(json, "region", region->name);
    json_int(json, "instance", region->instance);
    json_text(json, "parent", profile->regions[region->parent].name);
    json_count(json, "thread", region->thread, region->thread != 0);
    json_bool(json, "open", region->open);
    json_int(json, "begin_ns", region->begin_elapsed_ns);
    json_int(json, "end_ns", region->end_elapsed_ns);
    json_int(json, "cpu_ns", region->cpu_ns);
    json_int(json, "peak_ns", region->peak_elapsed_ns);
    write_totals(json, &region->totals[TRACE_HEAP], profile_counts_are_known(region));
    for (size_t space = TRACE_MAP_ANON; space < TRACE_SPACES; space++) {
        json_begin(json, space_names[space], '{');
        write_totals(json, &region->totals[space], profile_counts_are_known(region));
        json_end(json, '}');
    }
    json_begin(json, "combined", '{');
    json_int(json, "live_start", region->combined_start_bytes);
    json_int(json, "live_peak", region->combined_peak_bytes);
    json_int(json, "peak_added",
             (int64_t)((uint64_t)region->combined_peak_bytes -
                       (uint64_t)region->combined_start_bytes));
    json_int(json, "live_end", region->combined_end_bytes);
    json_end(json, '}');
    write_usable(json, region);
    write_sizes(json, region);
    write_timeline(json, region);
    if (region->has_rows) {
        json_begin(json, "sites", '[');
        for (size_t i = 0; i < region->rows_count; i++)
            write_row(json, profile, &region->rows[i]);
        json_end(json, ']');
    } else {
        json_null(json, "sites");
    }
    json_end(json, '}');
}

int render_show_json(FILE *stream, const struct run *run, const struct render_show *options) {
    const struct profile *profile = &run->profile;
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '{');
    write_run(&json, run);
    json_begin(&json, "command", '[');
    for (size_t i = 0; i < profile->argument_count; i++)
        json_text(&json, NULL, profile->arguments[i]);
    json_end(&json, ']');
    json_text(&json, "exe", profile->exe);
    json_text(&json, "cwd", profile->cwd);
    write_frames(&json, profile);
    json_begin(&json, "regions", '[');
    for (size_t i = 0; i < profile->region_count; i++)
        if (!options->region || strcmp(profile->regions[i].name, options->region) == 0)
            write_region(&json, profile, &profile->regions[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    return json_finish(&json);
}
