/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.c: the table of formats, and what all of them ask of a region.
 *
 * What a format cannot hold is refused here, before anything is written.
 */
#include "export.h"

#include "export_formats.h"
#include "render.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const struct export_format export_formats[] = {
    {"folded", "one line a stack and its bytes: flamegraph.pl, inferno, speedscope",
     EXPORT_STACKS, EXPORT_SKIPS_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_folded},
    {"difffolded", "the same with two numbers, of BEFORE and AFTER: flamegraph.pl",
     EXPORT_PAIR, EXPORT_SKIPS_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_difffolded},
    {"speedscope", "JSON for speedscope.app, a profile for each metric",
     EXPORT_STACKS, EXPORT_REFUSES_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_speedscope},
    {"pprof", "gzipped protocol buffer for pprof, all metrics",
     EXPORT_STACKS, EXPORT_TAKES_NEGATIVE, EXPORT_ALL_METRICS, true, false, export_pprof},
    {"massif", "massif.out of valgrind, over time: ms_print, massif-visualizer",
     EXPORT_STACKS, EXPORT_REFUSES_NEGATIVE, EXPORT_LIVE_PEAKS, false, true, export_massif},
    {"csv-sites", "one row for each call site of a region, all metrics",
     EXPORT_STACKS, EXPORT_TAKES_NEGATIVE, EXPORT_ALL_METRICS, false, false, export_csv_sites},
    {"csv", "one row for each region of each run, all metrics",
     EXPORT_RUNS, EXPORT_TAKES_NEGATIVE, EXPORT_ALL_METRICS, false, false, export_csv},
    {"bencher", "Bencher Metric Format (JSON), all metrics",
     EXPORT_TABLE, EXPORT_TAKES_NEGATIVE, EXPORT_ALL_METRICS, false, false, export_bencher},
    {"github", "JSON for github-action-benchmark, tool customSmallerIsBetter",
     EXPORT_TABLE, EXPORT_TAKES_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_github},
    {"asv", "results of airspeed velocity: results/MACHINE/COMMIT-ENV.json",
     EXPORT_TABLE, EXPORT_TAKES_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_asv},
    {"asv-benchmarks", "what asv has to know of them: results/benchmarks.json",
     EXPORT_TABLE, EXPORT_TAKES_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_asv_benchmarks},
    {"asv-machine", "and of the machine: results/MACHINE/machine.json",
     EXPORT_TABLE, EXPORT_TAKES_NEGATIVE, EXPORT_ONE_METRIC, false, false, export_asv_machine},
    {0},
};
// clang-format on

static const struct export_metric_text metric_texts[] = {
    [EXPORT_PEAK_ADDED] = {"peak_added", "bytes"}, [EXPORT_LIVE_PEAK] = {"live_peak", "bytes"},
    [EXPORT_LIVE_END] = {"live_end", "bytes"},     [EXPORT_NET] = {"net", "bytes"},
    [EXPORT_TOTAL] = {"total", "bytes"},           [EXPORT_COUNT] = {"count", "allocations"},
};

static const char *const space_names[] = {"heap", "map_anon", "map_file", "map_reserved"};
static const char *const by_names[] = {"function", "file", "module", "line"};

const struct export_format *export_format_find(const char *name) {
    for (const struct export_format *format = export_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

const struct export_metric_text *export_metric_text(enum export_metric metric) {
    return &metric_texts[metric];
}

int export_metric_parse(const char *name, enum export_metric *ret_metric) {
    for (int i = 0; i < EXPORT_METRICS; i++) {
        if (strcmp(metric_texts[i].name, name) == 0) {
            *ret_metric = (enum export_metric)i;
            return 0;
        }
    }
    return -EINVAL;
}

static int word_find(const char *const *words, int count, const char *word) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -EINVAL;
}

int export_space_parse(const char *name, enum trace_space *ret_space) {
    int r = word_find(space_names, TRACE_SPACES, name);
    if (r >= 0)
        *ret_space = (enum trace_space)r;
    return r < 0 ? r : 0;
}

const char *export_space_name(enum trace_space space) {
    return space_names[space];
}

int export_by_parse(const char *name, enum calltree_by *ret_by) {
    int r = word_find(by_names, sizeof(by_names) / sizeof(by_names[0]), name);
    if (r >= 0)
        *ret_by = (enum calltree_by)r;
    return r < 0 ? r : 0;
}

static int64_t heap_added(const struct profile_region *region) {
    return profile_peak_added(&region->totals[TRACE_HEAP]);
}

const struct profile_region *export_region_pick(const struct run *run, const char *name) {
    const struct profile *profile = &run->profile;
    const struct profile_region *worst = NULL;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        bool wanted =
            name ? strcmp(region->name, name) == 0 : i > 0 || profile->region_count == 1;
        if (wanted && (!worst || heap_added(region) > heap_added(worst)))
            worst = region;
    }
    return worst;
}

int64_t export_region_value(const struct profile_region *region, enum trace_space space,
                            enum export_metric metric) {
    const struct profile_totals *totals = &region->totals[space];
    const int64_t values[] = {
        [EXPORT_PEAK_ADDED] = export_less(totals->peak_bytes, totals->start.bytes),
        [EXPORT_LIVE_PEAK] = totals->peak_bytes,
        [EXPORT_LIVE_END] = totals->end.bytes,
        [EXPORT_NET] = export_less(totals->end.bytes, totals->start.bytes),
        [EXPORT_TOTAL] = totals->allocated.bytes,
        [EXPORT_COUNT] = totals->allocated.blocks,
    };
    return values[metric];
}

int64_t export_row_value(const struct profile_row *row, enum export_metric metric) {
    const int64_t values[] = {
        [EXPORT_PEAK_ADDED] = export_less(row->peak.bytes, row->start.bytes),
        [EXPORT_LIVE_PEAK] = row->peak.bytes,
        [EXPORT_LIVE_END] = row->end.bytes,
        [EXPORT_NET] = export_less(row->end.bytes, row->start.bytes),
        [EXPORT_TOTAL] = row->allocated.bytes,
        [EXPORT_COUNT] = row->allocated.blocks,
    };
    return values[metric];
}

int64_t export_value(const struct diff_value *value, const struct export_request *request,
                     enum export_metric metric) {
    if (metric == EXPORT_PEAK_ADDED && request->space == TRACE_HEAP)
        return value->peak_added;
    return export_region_value(value->region, request->space, metric);
}

int export_no_memory(struct fault *fault) {
    return fault_set(fault, -ENOMEM, "out of memory");
}

enum calltree_metric export_tree_metric(enum export_metric metric) {
    static const enum calltree_metric metrics[] = {
        [EXPORT_PEAK_ADDED] = CALLTREE_PEAK_ADDED, [EXPORT_LIVE_PEAK] = CALLTREE_LIVE_PEAK,
        [EXPORT_LIVE_END] = CALLTREE_LIVE_END,     [EXPORT_NET] = CALLTREE_NET,
        [EXPORT_TOTAL] = CALLTREE_TOTAL,           [EXPORT_COUNT] = CALLTREE_COUNT,
    };
    return metrics[metric];
}

static struct calltree_source tree_source(const struct export_source *source) {
    if (!source->run)
        return (struct calltree_source){0};
    return (struct calltree_source){&source->run->profile, source->region};
}

int export_tree(const struct export_request *request, struct calltree *ret_tree,
                struct fault *fault) {
    const struct calltree_source sources[CALLTREE_SIDES] = {
        [CALLTREE_BEFORE] = tree_source(&request->before),
        [CALLTREE_AFTER] = tree_source(&request->after),
    };
    const struct calltree_settings settings = {
        .by = request->by, .space = request->space, .keep_recursion = true};
    int r = calltree_build(sources, &settings, ret_tree);
    if (r == 0)
        calltree_sort(ret_tree, export_tree_metric(request->metric));
    return r < 0 ? export_no_memory(fault) : 0;
}

const char *export_no_stack(const struct run *run, uint16_t flags) {
    return render_no_stack(&(struct callsite){.profile = &run->profile, .flags = flags});
}

char *export_node_words(const struct calltree_node *node, const struct export_request *request,
                        bool with_line) {
    char *words = NULL;
    int r;
    if (node->kind != CALLTREE_FRAME)
        r = asprintf(&words, "%s",
                     export_no_stack(request->after.run, node->kind == CALLTREE_OTHER
                                                             ? TRACE_SITE_OTHER
                                                             : TRACE_SITE_NO_STACK));
    else if (with_line && node->frame->lineno != 0)
        r = asprintf(&words, "%s:%" PRIu32, node->name, node->frame->lineno);
    else
        r = asprintf(&words, "%s", node->name);
    if (r < 0)
        return NULL;
    utf8_clean(words);
    return words;
}

/* Why @source's stacks cannot be had, or 0. */
static int source_check(const struct export_source *source, struct fault *fault) {
    if (source->region->has_rows)
        return 0;
    return fault_set(fault, -ENODATA,
                     "region '%s' of run %" PRId64
                     " has no call sites, only its totals are known",
                     source->region->name, source->run->id);
}

/* The stacks of one side, merged as they will be written, that are below zero. */
static size_t negative_count(const struct calltree *tree, enum calltree_metric metric) {
    size_t count = 0;
    for (size_t i = 0; i < tree->count; i++)
        count += tree->nodes[i].self[CALLTREE_BEFORE][metric] < 0 ||
                 tree->nodes[i].self[CALLTREE_AFTER][metric] < 0;
    return count;
}

static int refuse_negative(const struct export_format *format, enum export_metric metric,
                           size_t count, struct fault *fault) {
    return fault_set(fault, -ERANGE,
                     "--format %s has no room for the %zu call stacks whose %s is below zero: "
                     "use %s--format pprof",
                     format->name, count, metric_texts[metric].name,
                     metric == EXPORT_LIVE_PEAK ? "" : "--metric live_peak, or ");
}

static int stacks_check(const struct export_format *format,
                        const struct export_request *request, size_t *ret_skipped,
                        struct fault *fault) {
    struct calltree tree;
    enum export_metric metric =
        format->metrics == EXPORT_LIVE_PEAKS ? EXPORT_LIVE_PEAK : request->metric;
    int r = source_check(&request->after, fault);
    if (r == 0 && format->shape == EXPORT_PAIR)
        r = source_check(&request->before, fault);
    if (r == 0 && format->heap_only && request->space != TRACE_HEAP)
        r = fault_set(fault, -ENOTSUP, "--format %s has the heap only, not %s", format->name,
                      space_names[request->space]);
    if (r < 0 || format->negative == EXPORT_TAKES_NEGATIVE)
        return r;
    r = export_tree(request, &tree, fault);
    if (r < 0)
        return r;
    size_t count = negative_count(&tree, export_tree_metric(metric));
    calltree_finish(&tree);
    if (format->negative == EXPORT_SKIPS_NEGATIVE)
        *ret_skipped = count;
    else if (count > 0)
        return refuse_negative(format, metric, count, fault);
    return 0;
}

int export_write(const struct export_format *format, const struct export_request *request,
                 FILE *stream, size_t *ret_skipped, struct fault *fault) {
    size_t skipped = 0;
    int r = 0;
    if (format->shape == EXPORT_STACKS || format->shape == EXPORT_PAIR)
        r = stacks_check(format, request, &skipped, fault);
    if (r == 0)
        r = format->write(stream, request, fault);
    if (r == 0 && ferror(stream))
        r = fault_set(fault, -EIO, "cannot be written");
    if (r == 0)
        *ret_skipped = skipped;
    return r;
}
