/* SPDX-License-Identifier: BSD-3-Clause */
/* export_csv.c: regions of runs, and call sites of a region, as rows of numbers. */
#include "callsite.h"
#include "csv.h"
#include "export_formats.h"
#include "render.h"
#include "textstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a row begins with: which run, which region. */
#define REGION_COLUMNS                                                                         \
    "run", "uuid", "benchmark", "parameters", "commit", "branch", "repeat", "complete",        \
        "region", "instance", "space"

#define METRIC_COLUMNS "peak_added", "live_peak", "live_end", "net", "total", "count"

/* "format=binary, rows=10". */
static int write_parameters(struct csv *csv, const struct run *run) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return -ENOMEM;
    for (size_t i = 0; i < run->param_count; i++)
        fprintf(stream, "%s%s=%s", i > 0 ? ", " : "", run->params[i].key, run->params[i].value);
    char *parameters = textstream_take(&text);
    if (!parameters)
        return -ENOMEM;
    csv_text(csv, parameters);
    free(parameters);
    return 0;
}

static int write_region(struct csv *csv, const struct run *run,
                        const struct profile_region *region, enum trace_space space) {
    csv_int(csv, run->id);
    csv_text(csv, run->uuid);
    csv_text(csv, run->benchmark);
    int r = write_parameters(csv, run);
    csv_text(csv, run->origin.commit);
    csv_text(csv, run->origin.branch);
    csv_int(csv, run->repeat);
    csv_text(csv, run_is_unfit(run) ? "no" : "yes");
    csv_text(csv, region->name);
    csv_int(csv, region->instance);
    csv_text(csv, export_space_name(space));
    return r;
}

static void write_metrics(struct csv *csv, const struct profile_region *region,
                          enum trace_space space) {
    for (int i = 0; i < EXPORT_METRICS; i++) {
        enum export_metric metric = (enum export_metric)i;
        if (export_is_known(region, metric))
            csv_int(csv, export_region_value(region, space, metric));
        else
            csv_empty(csv);
    }
}

static void write_end_ns(struct csv *csv, const struct profile_region *region) {
    csv_int(csv, region->begin_elapsed_ns);
    if (region->open)
        csv_empty(csv);
    else
        csv_int(csv, region->end_elapsed_ns);
    csv_int(csv, region->cpu_ns);
}

int export_csv(FILE *stream, const struct export_request *request, struct fault *fault) {
    static const char *const names[] = {REGION_COLUMNS, METRIC_COLUMNS, "begin_ns", "end_ns",
                                        "cpu_ns"};
    struct csv csv = {.stream = stream};
    int r = 0;
    csv_header(&csv, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < request->run_count; i++) {
        const struct run *run = &request->runs[i];
        for (size_t j = 0; r == 0 && j < run->profile.region_count; j++) {
            const struct profile_region *region = &run->profile.regions[j];
            r = write_region(&csv, run, region, request->space);
            write_metrics(&csv, region, request->space);
            write_end_ns(&csv, region);
            csv_row_end(&csv);
        }
    }
    if (r == 0)
        r = csv_finish(&csv);
    return r == -ENOMEM ? export_no_memory(fault) : r;
}

/* "main;parse;xrealloc", outermost first, or why there is no stack. */
static int write_stack(struct csv *csv, const struct run *run,
                       const struct profile_site *site) {
    const struct profile *profile = &run->profile;
    struct textstream text;
    size_t depth = 0;
    for (uint32_t node = site->node; node != 0; node = profile->nodes[node].parent)
        depth++;
    uint32_t *path = calloc(depth + 1, sizeof(*path));
    FILE *stream = path ? textstream_begin(&text) : NULL;
    for (uint32_t node = site->node, i = 0; stream && node != 0;
         node = profile->nodes[node].parent)
        path[i++] = node;
    for (size_t i = depth; stream && i-- > 0;) {
        const struct profile_frame *frame = callsite_frame(profile, path[i]);
        const char *module = callsite_basename(profile->modules[frame->module].path);
        if (frame->function[0] != '\0')
            fputs(frame->function, stream);
        else
            fprintf(stream, "%s+0x%llx", module, (unsigned long long)frame->offset);
        if (i > 0)
            fputc(';', stream);
    }
    free(path);
    char *names = stream ? textstream_take(&text) : NULL;
    if (!names)
        return -ENOMEM;
    csv_text(csv, depth > 0 ? names : export_no_stack(run, site->flags));
    free(names);
    return 0;
}

/* Where the telling frame is. */
static void write_place(struct csv *csv, const struct profile *profile,
                        const struct profile_site *site) {
    if (site->node == 0) {
        for (int i = 0; i < 5; i++)
            csv_empty(csv);
        return;
    }
    const struct profile_frame *frame =
        callsite_frame(profile, callsite_telling_node(profile, site->node));
    csv_text(csv, frame->function);
    csv_text(csv, frame->file);
    if (frame->lineno != 0)
        csv_int(csv, frame->lineno);
    else
        csv_empty(csv);
    csv_text(csv, profile->modules[frame->module].path);
    csv_int(csv, (int64_t)frame->offset);
}

static int write_site(struct csv *csv, const struct export_source *source,
                      const struct profile_row *row, enum trace_space space) {
    const struct profile *profile = &source->run->profile;
    const struct profile_site *site = &profile->sites[row->site];
    int r = write_region(csv, source->run, source->region, space);
    for (int i = 0; i < EXPORT_METRICS; i++)
        csv_int(csv, export_row_value(row, (enum export_metric)i));
    csv_int(csv, row->peak.blocks);
    csv_int(csv, row->end.blocks);
    write_place(csv, profile, site);
    if (r == 0)
        r = write_stack(csv, source->run, site);
    csv_row_end(csv);
    return r;
}

int export_csv_sites(FILE *stream, const struct export_request *request, struct fault *fault) {
    static const char *const names[] = {
        REGION_COLUMNS, METRIC_COLUMNS, "blocks_at_peak", "blocks_end", "function",
        "file",         "line",         "module",         "offset",     "stack"};
    const struct export_source *source = &request->after;
    struct csv csv = {.stream = stream};
    int r = 0;
    csv_header(&csv, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; r == 0 && i < source->region->rows_count; i++) {
        const struct profile_row *row = &source->region->rows[i];
        if (source->run->profile.sites[row->site].space == request->space)
            r = write_site(&csv, source, row, request->space);
    }
    if (r == 0)
        r = csv_finish(&csv);
    return r == -ENOMEM ? export_no_memory(fault) : r;
}
