/* SPDX-License-Identifier: BSD-3-Clause */
/* render_dump.c: a trace's tables as they are, for debugging recorder and reader. */
#include "render.h"

#include "profile.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const space_names[] = {"heap", "map_anon", "map_file", "map_reserved"};

/* Texts may hold NUL: it separates the arguments of the command. */
static void print_text(const struct term *term, const char *name,
                       const struct trace_bytes *bytes) {
    char *text = malloc(bytes->length + 1);
    if (!text)
        return;
    for (size_t i = 0; i < bytes->length; i++)
        text[i] = bytes->data[i] != '\0' ? bytes->data[i] : ' ';
    text[bytes->length] = '\0';
    utf8_clean(text);
    fprintf(term->stream, "%-12s %s\n", name, text);
    free(text);
}

static void print_uuid(const struct term *term, const char *name,
                       const uint8_t uuid[TRACE_UUID_BYTES]) {
    fprintf(term->stream, "%-12s ", name);
    for (size_t i = 0; i < TRACE_UUID_BYTES; i++)
        fprintf(term->stream, "%02x", uuid[i]);
    fputc('\n', term->stream);
}

static void dump_header(const struct term *term, const struct trace *trace) {
    static const char *const states[] = {"starting", "running", "exited", "execed"};
    static const char *const stacks[] = {"none", "region", "all"};
    const struct trace_header *header = trace->header;
    const uint64_t *gaps = &header->completeness.events_lost;
    char program[TRACE_NAME_BYTES];
    memcpy(program, header->program, sizeof(program));
    utf8_clean(program);
    fprintf(term->stream,
            "header       version %" PRIu32 ", %s, updating %" PRIu64 ", used %" PRIu64
            " bytes%s\n",
            header->version, states[header->state], header->updating, header->used_bytes,
            trace->truncated ? ", TRUNCATED" : "");
    print_uuid(term, "uuid", header->uuid);
    fprintf(term->stream, "program      %s, pid %" PRIu32 ", parent %" PRIu32 "\n", program,
            header->pid, header->parent_pid);
    if (header->flags & TRACE_FORKED)
        print_uuid(term, "forked by", header->parent_uuid);
    if (header->flags & TRACE_USABLE)
        fputs("usable       sizes were asked for\n", term->stream);
    fprintf(term->stream,
            "stacks       %s, depth %" PRIu32 ", %" PRIu32 " truncated; page %" PRIu32
            " bytes\n",
            stacks[header->stacks], header->depth_limit, header->stacks_truncated,
            header->page_bytes);
    for (enum profile_gap gap = 0; gap < PROFILE_GAPS; gap++)
        if (gaps[gap] != 0)
            fprintf(term->stream, "gap          %s %" PRIu64 "\n", profile_gap_text(gap)->name,
                    gaps[gap]);
    if (header->peak_resident_bytes != 0)
        fprintf(term->stream,
                "resident     %" PRIu64 " bytes at most, says the kernel of all memory\n",
                header->peak_resident_bytes);
    print_text(term, "exe", &trace->exe);
    print_text(term, "command", &trace->command);
    if (header->completeness.inherited_freed != 0)
        fprintf(term->stream, "inherited    %" PRIu64 " blocks of its parent freed\n",
                header->completeness.inherited_freed);
    print_text(term, "cwd", &trace->cwd);
    if (trace->parent.data)
        print_text(term, "parent", &trace->parent);
}

static void dump_modules(const struct term *term, const struct trace *trace) {
    fprintf(term->stream, "\nmodules %zu\n", trace->module_count);
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct trace_module *module = trace->modules[i].module;
        fprintf(term->stream,
                "  [%#" PRIx64 ", %#" PRIx64 ") bias %#" PRIx64 " generation %" PRIu32 " ",
                module->start, module->end, module->bias, module->generation);
        for (uint32_t b = 0; b < module->build_id_bytes; b++)
            fprintf(term->stream, "%02x", module->build_id[b]);
        print_text(term, "", &trace->modules[i].path);
    }
}

static void dump_codes(const struct term *term, const struct trace *trace) {
    fprintf(term->stream, "\nfunctions of interpreted code %zu\n", trace->code_count);
    for (size_t i = 0; i < trace->code_count; i++) {
        fprintf(term->stream, "  %zu line %" PRIu32, i + 1, trace->codes[i].first_line);
        print_text(term, "", &trace->codes[i].function);
        print_text(term, "   ", &trace->codes[i].path);
    }
}

static void print_pair(const struct term *term, const char *name,
                       const struct trace_pair *pair) {
    /* What a thread has live may be less than nothing. */
    fprintf(term->stream, " %s %" PRId64 "/%" PRId64, name, (int64_t)pair->blocks,
            (int64_t)pair->bytes);
}

static void dump_stacks(const struct term *term, const struct trace *trace) {
    fprintf(term->stream, "\nnodes %" PRIu32 "\n", trace->header->node_count);
    for (uint32_t i = 1; i < trace->header->node_count; i++)
        fprintf(term->stream, "  %" PRIu32 " <- %" PRIu32 " %#" PRIx64 " generation %u\n", i,
                trace->nodes[i].parent, trace->nodes[i].address, trace->nodes[i].generation);
    fprintf(term->stream, "\nsites %" PRIu32 "\n", trace->header->site_count);
    for (uint32_t i = 0; i < trace->header->site_count; i++)
        fprintf(term->stream, "  %" PRIu32 " node %" PRIu32 " %s flags %u\n", i,
                trace->sites[i].node, space_names[trace->sites[i].space],
                trace->sites[i].flags);
}

static void dump_totals(const struct term *term, const struct trace_region *region) {
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        const struct trace_totals *totals = &region->space[space];
        fprintf(term->stream, "    %s:", space_names[space]);
        print_pair(term, "start", &totals->start);
        print_pair(term, "live", &totals->live);
        print_pair(term, "allocated", &totals->allocated);
        print_pair(term, "freed", &totals->freed);
        fprintf(term->stream,
                " peak %" PRId64 " epoch %" PRIu64 " by %" PRIu64 " ns owned %" PRId64
                "/%" PRId64 "\n",
                (int64_t)totals->peak.bytes, totals->peak.epoch, totals->peak_elapsed_ns,
                totals->owned_live_bytes, totals->owned_peak_bytes);
    }
}

static void dump_rows(const struct term *term, const struct trace_rows *rows) {
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct trace_row *row = &rows->rows[i];
        if (row->epoch == 0)
            continue;
        fprintf(term->stream, "    site %" PRIu32, rows->first + i);
        if (rows->lane > 0)
            fprintf(term->stream, " in lane %" PRIu32, rows->lane);
        fputc(':', term->stream);
        print_pair(term, "start", &row->start);
        print_pair(term, "peak", &row->peak);
        print_pair(term, "allocated", &row->allocated);
        print_pair(term, "freed", &row->freed);
        fprintf(term->stream, " epoch %" PRIu64 "\n", row->epoch);
    }
}

static void print_buckets(const struct term *term, const char *name,
                          const uint64_t counts[TRACE_SIZE_BUCKETS]) {
    fprintf(term->stream, "    %s:", name);
    for (size_t i = 0; i < TRACE_SIZE_BUCKETS; i++)
        if (counts[i] != 0)
            fprintf(term->stream, " [%zu] %" PRIu64, i, counts[i]);
    fputc('\n', term->stream);
}

static void dump_extras(const struct term *term, const struct trace *trace, uint32_t id) {
    const struct trace_region *region = &trace->regions[id];
    const struct trace_timeline *timeline = trace->timelines[id];
    if (trace->header->flags & TRACE_USABLE)
        fprintf(term->stream,
                "    usable: start %" PRId64 " live %" PRId64 " at peak %" PRId64 "\n",
                region->usable_start_bytes, region->usable_live_bytes,
                region->usable_at_peak_bytes);
    if (trace->sizes[id]) {
        print_buckets(term, "sizes at start", trace->sizes[id]->start);
        print_buckets(term, "sizes counted", trace->sizes[id]->counted);
    }
    if (!timeline)
        return;
    fprintf(term->stream, "    timeline: %" PRIu32 " points, one for %" PRIu64 " events\n",
            timeline->count, timeline->interval);
    for (uint32_t i = 0; i < timeline->count; i++)
        fprintf(term->stream, "      %" PRIu64 " ns: %" PRId64 "\n",
                timeline->points[i].elapsed_ns, timeline->points[i].live_bytes);
}

static void dump_lanes(const struct term *term, const struct trace *trace) {
    for (uint32_t i = 0; i < TRACE_LANES_MAX; i++) {
        const struct trace_lane *lane = trace->lanes[i];
        if (!lane)
            continue;
        fprintf(term->stream,
                "\nlane %" PRIu32 ": updating %" PRIu64 ", largest %" PRIu64
                ", reallocations %" PRIu64 "\n",
                i, lane->updating, lane->largest_bytes, lane->reallocations);
        print_buckets(term, "sizes", lane->size_counts);
    }
}

static void dump_regions(const struct term *term, const struct trace *trace) {
    size_t at = 0;
    fprintf(term->stream, "\nregions %" PRIu32 " (pairs are blocks/bytes)\n",
            trace->header->region_count);
    for (uint32_t i = 0; i < trace->header->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        char name[TRACE_NAME_BYTES];
        memcpy(name, region->name, sizeof(name));
        utf8_clean(name);
        fprintf(term->stream, "  %" PRIu32 " \"%s\" #%" PRIu32 " in %" PRIu32 "%s%s", i, name,
                region->instance, region->parent, region->open ? ", open" : "",
                region->flags & TRACE_REGION_NO_ROWS ? ", no rows" : "");
        if (region->flags & TRACE_REGION_THREAD)
            fprintf(term->stream, ", of thread %" PRIu32, region->begin_thread);
        fputc('\n', term->stream);
        dump_totals(term, region);
        dump_extras(term, trace, i);
        for (; at < trace->rows_count && trace->rows[at].region == i; at++)
            dump_rows(term, &trace->rows[at]);
    }
}

void render_dump(const struct term *term, const struct trace *trace) {
    dump_header(term, trace);
    dump_modules(term, trace);
    if (trace->code_count > 0)
        dump_codes(term, trace);
    dump_lanes(term, trace);
    dump_stacks(term, trace);
    dump_regions(term, trace);
}
