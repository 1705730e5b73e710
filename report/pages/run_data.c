/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_data.c: what is known of each run.
 *
 * A timeline of more points than a picture has room for keeps the lowest and the highest of each
 * stretch: no peak disappears.
 */
#include "run_data.h"

#include "config.h"
#include "render.h"
#include "textstream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS_MAX 400
#define POINTS_MAX  480
#define FACT_BYTES  256

static void fact(struct json *json, const char *name, const char *value) {
    if (value[0] == '\0')
        return;
    json_begin(json, NULL, '[');
    json_text(json, NULL, name);
    json_text(json, NULL, value);
    json_end(json, ']');
}

static void write_origin(struct json *json, const struct origin *origin) {
    char text[FACT_BYTES];
    snprintf(text, sizeof(text), "%s%s", origin->commit,
             origin->tree == ORIGIN_TREE_DIRTY ? ", with changes that are in no commit" : "");
    fact(json, "commit", origin->commit[0] != '\0' ? text : "");
    fact(json, "branch", origin->branch);
    fact(json, "C library", origin->libc);
    fact(json, "allocator", origin->allocator);
    fact(json, "environment", origin->environment);
    snprintf(text, sizeof(text), "%s%s%" PRIu32 " processors", origin->cpu_model,
             origin->cpu_model[0] != '\0' ? ", " : "", origin->cpu_count);
    fact(json, "processor", origin->cpu_count > 0 ? text : origin->cpu_model);
}

static int write_facts(struct json *json, const struct run *run) {
    const struct profile *profile = &run->profile;
    char text[FACT_BYTES], when[RENDER_TIME_BYTES];
    char *name = render_benchmark(run);
    char *command = render_command(profile);
    if (!name || !command) {
        free(name);
        free(command);
        return -ENOMEM;
    }
    json_begin(json, "facts", '[');
    snprintf(text, sizeof(text), "%" PRId64 " (%s)", run->id, run->uuid);
    fact(json, "run", text);
    fact(json, "benchmark", name);
    fact(json, "command", command);
    fact(json, "folder", profile->cwd);
    snprintf(text, sizeof(text), "%s UTC, took %.2f s",
             render_time(when, profile->start_realtime_ns), (double)profile->elapsed_ns / 1e9);
    fact(json, "started", text);
    fact(json, "ended", render_outcome(run, text, sizeof(text)));
    fact(json, "parent", render_parent(run, text, sizeof(text)));
    write_origin(json, &run->origin);
    snprintf(text, sizeof(text), "%s (%s, %s)", run->host, run->kernel, run->machine);
    fact(json, "machine", text);
    snprintf(text, sizeof(text), "recorded by %s, shown by %s", profile->votrace_version,
             VOTRACE_VERSION);
    fact(json, "votrace", text);
    json_end(json, ']');
    free(name);
    free(command);
    return 0;
}

static int write_gap(struct json *json, enum profile_gap gap, int64_t count) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return -ENOMEM;
    render_gap(stream, gap, count);
    char *meaning = textstream_take(&text);
    if (!meaning)
        return -ENOMEM;
    json_text(json, NULL, meaning);
    free(meaning);
    return 0;
}

static int write_gaps(struct json *json, const struct profile *profile) {
    char text[FACT_BYTES];
    int r = 0;
    json_begin(json, "gaps", '[');
    for (enum profile_gap gap = 0; r == 0 && gap < PROFILE_GAPS; gap++)
        if (profile->gaps[gap] != 0)
            r = write_gap(json, gap, profile->gaps[gap]);
    if (profile->end == PROFILE_KILLED)
        json_text(json, NULL, "its end was not seen: peaks are those so far");
    if (profile->truncated)
        json_text(json, NULL, "its trace was cut off: totals only");
    else if (profile->cut)
        json_text(json, NULL, "it died inside one event, which was completed");
    if (profile->stacks_truncated > 0) {
        snprintf(text, sizeof(text),
                 "%" PRId64 " call stacks were deeper than the %" PRIu32
                 " frames that are kept",
                 profile->stacks_truncated, profile->depth_limit);
        json_text(json, NULL, text);
    }
    json_end(json, ']');
    return r;
}

static void write_regions(struct json *json, const struct profile *profile) {
    size_t shown = profile->region_count < REGIONS_MAX ? profile->region_count : REGIONS_MAX;
    json_begin(json, "regions", '[');
    for (size_t i = 0; i < shown; i++) {
        const struct profile_region *region = &profile->regions[i];
        json_begin(json, NULL, '[');
        json_text(json, NULL, region->name);
        json_int(json, NULL, region->instance);
        json_int(json, NULL, region->parent);
        json_int(json, NULL, region->begin_elapsed_ns);
        json_int(json, NULL, region->open ? profile->elapsed_ns : region->end_elapsed_ns);
        json_end(json, ']');
    }
    json_end(json, ']');
    json_int(json, "regions_hidden", (int64_t)(profile->region_count - shown));
}

/* Each as the difference from the one before. */
struct points_writer {
    struct json *json;
    struct profile_point last;
};

static void points_add(struct points_writer *writer, const struct profile_point *point) {
    json_int(writer->json, NULL, point->elapsed_ns - writer->last.elapsed_ns);
    json_int(writer->json, NULL, point->live_bytes - writer->last.live_bytes);
    writer->last = *point;
}

/* The lowest and the highest of [begin, end), in the order of time. */
static void stretch_add(struct points_writer *writer, const struct profile_point *begin,
                        const struct profile_point *end) {
    const struct profile_point *least = begin;
    const struct profile_point *most = begin;
    for (const struct profile_point *point = begin; point < end; point++) {
        if (point->live_bytes < least->live_bytes)
            least = point;
        if (point->live_bytes > most->live_bytes)
            most = point;
    }
    points_add(writer, least < most ? least : most);
    if (least != most)
        points_add(writer, least < most ? most : least);
}

void run_data_write_timeline(struct json *json, const char *key,
                             const struct profile_region *region) {
    struct points_writer writer = {.json = json};
    const struct profile_point *points = region->points;
    size_t count = region->points_count;
    if (count == 0) {
        json_null(json, key);
        return;
    }
    json_begin(json, key, '[');
    if (count <= POINTS_MAX) {
        for (size_t i = 0; i < count; i++)
            points_add(&writer, &points[i]);
    } else {
        /* The first and the last are there for themselves. */
        size_t stretches = POINTS_MAX / 2;
        points_add(&writer, &points[0]);
        for (size_t i = 0; i < stretches; i++)
            stretch_add(&writer, &points[1 + i * (count - 2) / stretches],
                        &points[1 + (i + 1) * (count - 2) / stretches]);
        points_add(&writer, &points[count - 1]);
    }
    json_end(json, ']');
}

int run_data_write(struct context *context, const char *key) {
    struct json *json = &context->json;
    const struct run *const *runs = context->runs.items;
    int r = 0;
    json_begin(json, key, '[');
    for (size_t i = 0; r == 0 && i < context->runs.count; i++) {
        const struct profile *profile = &runs[i]->profile;
        json_begin(json, NULL, '{');
        r = write_facts(json, runs[i]);
        if (r == 0)
            r = write_gaps(json, profile);
        write_regions(json, profile);
        run_data_write_timeline(json, "timeline", &profile->regions[0]);
        json_end(json, '}');
    }
    json_end(json, ']');
    return r;
}
