/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_trace.c: any bytes as a trace file, as far as `votreport import` takes them before
 * symbols and store, and as far as `dump`, `show` and `export` print them.
 *
 * What is accepted has to pass its own check again, the call sites of each region have to add
 * up to its peak, and its lists have to come back from the text that goes into a store: a fuzzer
 * then finds not only crashes, but sums that do not hold.
 */
#include "callsite.h"
#include "corpus.h"
#include "export.h"
#include "profile.h"
#include "render.h"
#include "store_series.h"
#include "trace_reader.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_sites(const struct profile *profile, const struct profile_region *region) {
    for (size_t space = 0; region->has_rows && space < TRACE_SPACES; space++) {
        struct callsite_list list;
        if (callsite_collect(profile, region, (enum trace_space)space, &list) < 0)
            return;
        int64_t at_peak = 0;
        int64_t live = 0;
        for (size_t i = 0; i < list.count; i++) {
            at_peak += list.items[i].peak.bytes;
            live += list.items[i].end.bytes;
        }
        require(at_peak == region->totals[space].peak_bytes);
        require(live == region->totals[space].end.bytes);
        free(list.items);
    }
}

/* What a store would keep of its sizes and its timeline is what they were. */
static void check_series(const struct profile_region *region) {
    struct store_series series;
    struct profile_region again = {0};
    struct arena arena = {0};
    require(store_series_write(region, &series) == 0);
    require(!series.sizes || store_series_read_sizes(series.sizes, &arena, &again) == 0);
    require(!series.timeline ||
            store_series_read_timeline(series.timeline, series.timeline_bytes, &arena,
                                       &again) == 0);
    require((again.sizes != NULL) == (region->sizes != NULL));
    require(again.points_count == region->points_count);
    if (again.sizes)
        require(memcmp(again.sizes, region->sizes, TRACE_SIZE_BUCKETS * sizeof(*again.sizes)) ==
                0);
    for (size_t i = 0; i < again.points_count; i++)
        require(again.points[i].elapsed_ns == region->points[i].elapsed_ns &&
                again.points[i].live_bytes == region->points[i].live_bytes);
    store_series_finish(&series);
    arena_finish(&arena);
}

static struct term sink_open(FILE *stream) {
    struct term term = term_open(stream, TERM_NEVER, true);
    term.blocks = true;
    return term;
}

static void print_profile(FILE *sink, const struct profile *profile) {
    struct term term = sink_open(sink);
    const struct render_show options = {.sizes = true, .timeline = true};
    const struct run run = {.benchmark = "",
                            .host = "",
                            .kernel = "",
                            .machine = "",
                            .origin = origin_unknown,
                            .profile = *profile};
    require(render_show_text(&term, &run, &options) == 0);
    require(render_show_json(sink, &run, &options) == 0);
}

/* The call tree in it asserts that its sums are the region's. */
static void export_region(FILE *sink, const struct profile *profile,
                          const struct profile_region *region) {
    const struct run run = {.benchmark = "",
                            .host = "",
                            .kernel = "",
                            .machine = "",
                            .origin = origin_unknown,
                            .profile = *profile};
    const struct export_request request = {.after = {&run, region}};
    for (const struct export_format *format = export_formats; format->name; format++) {
        struct fault fault = {0};
        size_t skipped;
        if (format->shape == EXPORT_STACKS &&
            export_write(format, &request, sink, &skipped, &fault) < 0)
            require(fault.text[0] != '\0');
    }
}

static void check_trace(FILE *sink, const struct trace *trace) {
    struct fault fault = {0};
    struct profile profile;
    struct term term = sink_open(sink);
    render_dump(&term, trace);
    if (profile_from_trace(trace, &profile, &fault) < 0) {
        require(fault.text[0] != '\0');
        return;
    }
    require(profile_check(&profile, &fault) == 0);
    for (size_t i = 0; i < profile.region_count; i++) {
        check_sites(&profile, &profile.regions[i]);
        check_series(&profile.regions[i]);
        export_region(sink, &profile, &profile.regions[i]);
    }
    print_profile(sink, &profile);
    profile_finish(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fault fault = {0};
    struct trace *trace;
    if (trace_from_bytes(data, size, &trace, &fault) < 0) {
        require(fault.text[0] != '\0');
        return 0;
    }
    FILE *sink = fopen("/dev/null", "w");
    require(sink != NULL);
    check_trace(sink, trace);
    fclose(sink);
    trace_close(trace);
    return 0;
}
