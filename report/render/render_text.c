/* SPDX-License-Identifier: BSD-3-Clause */
/* render_text.c: list and show, for people. One function a section. */
#include "render.h"

#include "render_calls.h"
#include "table.h"
#include "textstream.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SITES_USUAL  15 /* and none below a thousandth */
#define OUTCOME_TEXT 64
#define SPACE_TEXT   40
#define BYTES_TEXT   (SIZES_TEXT_BYTES + 1)

int render_list_text(const struct term *term, const struct store_entry *entries, size_t count) {
    struct table table = table_new("rlrllll");
    static const char *const heads[] = {
        "run", "started (UTC)", "peak added", "ended", "region", "benchmark (parameters)", ""};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &entries[i].run;
        const char *unfit = run_is_unfit(run);
        char when[RENDER_TIME_BYTES], how[OUTCOME_TEXT], bytes[BYTES_TEXT];
        char *name = render_benchmark(run);
        char *gaps = render_gaps(&run->profile);
        table_cell(&table, TERM_PLAIN, "%" PRId64, run->id);
        table_cell(&table, TERM_PLAIN, "%s", render_time(when, run->profile.start_realtime_ns));
        table_cell(&table, TERM_PLAIN, "%s",
                   term_bytes(term, bytes, entries[i].peak_added, false));
        table_cell(&table, unfit ? TERM_RED : TERM_PLAIN, "%s%s",
                   render_outcome(run, how, sizeof(how)),
                   profile_is_incomplete(&run->profile) ? ", incomplete" : "");
        table_cell(&table, TERM_PLAIN, "%s", entries[i].region);
        table_cell(&table, TERM_BOLD, "%s", name ? name : "?");
        table_cell(&table, TERM_RED, "%s", gaps ? gaps : "?");
        free(name);
        free(gaps);
    }
    return table_print(&table, term, "");
}

static void fact(struct table *table, const char *name, const char *text) {
    table_cell(table, TERM_DIM, "%s", name);
    table_cell(table, TERM_PLAIN, "%s", text);
}

/* "yes", or what is missing, each with its number. */
static char *completeness_text(const struct run *run) {
    const struct profile *profile = &run->profile;
    struct textstream text;
    const char *lead = "";
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    for (enum profile_gap gap = 0; gap < PROFILE_GAPS; gap++) {
        if (profile->gaps[gap] == 0)
            continue;
        fputs(lead, stream);
        render_gap(stream, gap, profile->gaps[gap]);
        lead = ", ";
    }
    if (profile->end == PROFILE_KILLED) {
        fprintf(stream, "%send not seen, peaks so far", lead);
        lead = ", ";
    }
    if (profile->cut || profile->truncated) {
        fprintf(stream, "%s%s", lead,
                profile->truncated ? "trace cut off: totals only"
                                   : "died inside one event, which was completed");
        lead = ", ";
    }
    if (lead[0] == '\0')
        fputs("yes", stream);
    return textstream_take(&text);
}

static int show_facts(const struct term *term, const struct run *run) {
    const struct profile *profile = &run->profile;
    struct table table = table_new("ll");
    char when[RENDER_TIME_BYTES], how[OUTCOME_TEXT], text[512];
    char *name = render_benchmark(run);
    char *command = render_command(profile);
    char *complete = completeness_text(run);
    int r = name && command && complete ? 0 : -ENOMEM;
    if (r == 0) {
        fprintf(term->stream, "%srun %" PRId64 ": %s%s\n", term_on(term, TERM_BOLD), run->id,
                name, term_off(term, TERM_BOLD));
        fact(&table, "command", command);
        snprintf(text, sizeof(text), "%s UTC, %.2f s, on %s (%s, %s)",
                 render_time(when, profile->start_realtime_ns),
                 (double)profile->elapsed_ns / 1e9, run->host, run->kernel, run->machine);
        fact(&table, "started", text);
        if (render_parent(run, text, sizeof(text))[0] != '\0')
            fact(&table, "parent", text);
        if (profile->forked && profile->inherited_freed > 0) {
            snprintf(text, sizeof(text), "%" PRId64 " blocks of its parent were freed",
                     profile->inherited_freed);
            fact(&table, "inherited", text);
        }
        fact(&table, "ended", render_outcome(run, how, sizeof(how)));
        fact(&table, "complete", complete);
        if (profile->stacks_truncated > 0) {
            snprintf(text, sizeof(text), "%" PRId64 " were deeper than %" PRIu32 " frames",
                     profile->stacks_truncated, profile->depth_limit);
            fact(&table, "stacks", text);
        }
        r = table_print(&table, term, "  ");
    }
    free(name);
    free(command);
    free(complete);
    return r;
}

static void region_cells(struct table *table, const struct term *term, const char *name,
                         enum term_color color, const struct profile_region *region,
                         enum trace_space space) {
    const struct profile_totals *totals = &region->totals[space];
    bool counts = profile_counts_are_known(region);
    char bytes[BYTES_TEXT], number[SIZES_TEXT_BYTES];
    table_cell(table, color, "%s", name);
    table_cell(table, color, "%s", term_bytes(term, bytes, profile_peak_added(totals), false));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, totals->start.bytes, false));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, totals->peak_bytes, false));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, totals->end.bytes, false));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, profile_net(totals), true));
    table_cell(table, TERM_PLAIN, "%s",
               counts ? sizes_group(number, totals->allocated.blocks) : "?");
    table_cell(table, TERM_PLAIN, "%s",
               counts ? sizes_group(number, totals->freed.blocks) : "?");
    table_cell(table, TERM_PLAIN, "%s",
               counts ? term_bytes(term, bytes, totals->allocated.bytes, false) : "?");
}

static bool space_is_used(const struct profile_totals *totals) {
    return totals->peak_bytes > 0 || totals->allocated.blocks > 0 || totals->failed > 0;
}

/* The instances of one name. */
struct instances {
    const struct profile_region *first;
    const struct profile_region *worst; /* the one that added most, the first of several */
    size_t count;
};

static void instances_add(struct instances *instances, const struct profile_region *region) {
    if (instances->count++ == 0)
        instances->first = instances->worst = region;
    else if (profile_peak_added(&region->totals[TRACE_HEAP]) >
             profile_peak_added(&instances->worst->totals[TRACE_HEAP]))
        instances->worst = region;
}

static struct instances instances_of(const struct profile *profile, const char *name) {
    struct instances instances = {0};
    for (size_t i = 0; i < profile->region_count; i++)
        if (strcmp(profile->regions[i].name, name) == 0)
            instances_add(&instances, &profile->regions[i]);
    return instances;
}

/* By name, then in the order they began. */
static int compare_regions(const void *a, const void *b) {
    const struct profile_region *left = *(const struct profile_region *const *)a;
    const struct profile_region *right = *(const struct profile_region *const *)b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left > right) - (left < right);
}

static int compare_first(const void *a, const void *b) {
    const struct instances *left = a;
    const struct instances *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* All names, in the order they first began; free() them. A run can have 100,000 instances. */
static int instances_collect(const struct profile *profile, struct instances **ret_names,
                             size_t *ret_count) {
    size_t count = 0;
    const struct profile_region **sorted = calloc(profile->region_count, sizeof(*sorted));
    struct instances *names = calloc(profile->region_count, sizeof(*names));
    if (!sorted || !names) {
        free(sorted);
        free(names);
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->region_count; i++)
        sorted[i] = &profile->regions[i];
    qsort(sorted, profile->region_count, sizeof(*sorted), compare_regions);
    for (size_t i = 0; i < profile->region_count; i++) {
        if (i > 0 && strcmp(sorted[i]->name, sorted[i - 1]->name) != 0)
            count++;
        instances_add(&names[count], sorted[i]);
    }
    count++;
    qsort(names, count, sizeof(*names), compare_first);
    free(sorted);
    *ret_names = names;
    *ret_count = count;
    return 0;
}

/* Spaces besides the heap stand under it. */
static const char *space_text(char ret_text[SPACE_TEXT], size_t space) {
    snprintf(ret_text, SPACE_TEXT, "  %s", profile_space_words((enum trace_space)space));
    return ret_text;
}

static void region_rows(struct table *table, const struct term *term,
                        const struct profile *profile, const struct profile_region *region,
                        size_t instances) {
    char name[TRACE_NAME_BYTES + 96], text[SPACE_TEXT];
    /* Region 0 is the process, which lasts to the end; what began in it has parent 0, too. */
    const char *open = region->open && region != profile->regions ? ", open" : "";
    char scope[32] = "";
    if (region->thread != 0)
        snprintf(scope, sizeof(scope), ", thread %" PRIu32, region->thread);
    if (instances > 1)
        snprintf(name, sizeof(name), "%s #%" PRIu32 " of %zu%s%s", region->name,
                 region->instance, instances, scope, open);
    else
        snprintf(name, sizeof(name), "%s%s%s", region->name, scope, open);
    region_cells(table, term, name, TERM_BOLD, region, TRACE_HEAP);
    for (size_t space = TRACE_MAP_ANON; space < TRACE_SPACES; space++)
        if (space_is_used(&region->totals[space]))
            region_cells(table, term, space_text(text, space), TERM_DIM, region, space);
}

static void instances_rows(struct table *table, const struct term *term,
                           const struct profile *profile, const struct instances *instances) {
    const struct profile_region *end = profile->regions + profile->region_count;
    for (const struct profile_region *region = instances->first; region < end; region++)
        if (strcmp(region->name, instances->first->name) == 0)
            region_rows(table, term, profile, region, instances->count);
}

/* One row for each name, its worst instance; all instances of a name that was asked for. */
static int show_regions(const struct term *term, const struct profile *profile,
                        const char *only) {
    static const char *const heads[] = {"region",      "peak added", "live start",
                                        "live peak",   "live end",   "net",
                                        "allocations", "frees",      "allocated"};
    struct instances *names;
    size_t count;
    int r = instances_collect(profile, &names, &count);
    if (r < 0)
        return r;
    struct table table = table_new("lrrrrrrrr");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    for (size_t i = 0; !only && i < count; i++)
        region_rows(&table, term, profile, names[i].worst, names[i].count);
    for (size_t i = 0; only && i < count; i++)
        if (strcmp(names[i].first->name, only) == 0)
            instances_rows(&table, term, profile, &names[i]);
    free(names);
    fputc('\n', term->stream);
    return table_print(&table, term, "");
}

static int compare_added(const void *a, const void *b) {
    const struct callsite *left = a;
    const struct callsite *right = b;
    int64_t left_bytes = left->peak.bytes - left->start.bytes;
    int64_t right_bytes = right->peak.bytes - right->start.bytes;
    if (left_bytes != right_bytes)
        return left_bytes > right_bytes ? -1 : 1;
    return callsite_compare(left, right);
}

static void site_cells(struct table *table, const struct term *term,
                       const struct callsite *site, int64_t total) {
    char bytes[BYTES_TEXT], number[SIZES_TEXT_BYTES];
    int64_t added = site->peak.bytes - site->start.bytes;
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, added, false));
    table_cell(table, TERM_PLAIN, "%.1f %%",
               total > 0 ? 100.0 * (double)added / (double)total : 0.0);
    table_cell(table, TERM_PLAIN, "%s",
               sizes_group(number, site->peak.blocks - site->start.blocks));
    char *frame = site->node != 0 ? render_frame(site->profile, site->node) : NULL;
    if (frame)
        table_cell(table, TERM_BOLD, "%s", frame);
    else
        table_cell(table, TERM_DIM, "%s", render_no_stack(site));
    free(frame);

    char *callers = site->node != 0 ? render_callers(site, term->width - 32) : NULL;
    if (!callers || callers[0] == '\0') {
        free(callers);
        return;
    }
    for (size_t i = 0; i < 3; i++)
        table_cell(table, TERM_PLAIN, "%s", "");
    table_cell(table, TERM_DIM, "  %s", callers);
    free(callers);
}

static void others_cells(struct table *table, const struct term *term,
                         const struct callsite *sites, size_t count, int64_t total) {
    char bytes[BYTES_TEXT], number[SIZES_TEXT_BYTES];
    struct profile_pair rest = {0};
    for (size_t i = 0; i < count; i++) {
        rest.blocks += sites[i].peak.blocks - sites[i].start.blocks;
        rest.bytes += sites[i].peak.bytes - sites[i].start.bytes;
    }
    table_cell(table, TERM_DIM, "%s", term_bytes(term, bytes, rest.bytes, false));
    table_cell(table, TERM_DIM, "%.1f %%",
               total > 0 ? 100.0 * (double)rest.bytes / (double)total : 0.0);
    table_cell(table, TERM_DIM, "%s", sizes_group(number, rest.blocks));
    table_cell(table, TERM_DIM, "[%zu other%s]", count, count == 1 ? "" : "s");
}

/* How many to list: as many as asked for, else those that matter. */
static size_t sites_shown(const struct callsite_list *list, int64_t total, size_t sites_max) {
    size_t most = sites_max > 0 ? sites_max : SITES_USUAL;
    size_t shown = 0;
    while (shown < list->count && shown < most) {
        const struct callsite *site = &list->items[shown];
        int64_t added = site->peak.bytes - site->start.bytes;
        if (sites_max == 0 && shown >= 3 && added < total / 1000)
            break;
        shown++;
    }
    return shown + 1 == list->count ? list->count : shown;
}

static void show_headline(const struct term *term, const struct profile_region *region,
                          bool tree) {
    char bytes[BYTES_TEXT], name[TRACE_NAME_BYTES], scope[32] = "";
    snprintf(name, sizeof(name), "%s", region->name);
    utf8_clean(name);
    const char *by = !region->has_rows ? "" : tree ? ", by call" : ", by call site";
    if (region->thread != 0)
        snprintf(scope, sizeof(scope), " (thread %" PRIu32 ")", region->thread);
    int64_t total = profile_peak_added(&region->totals[TRACE_HEAP]);
    fprintf(term->stream, "\n%s%s%s: %s added at its peak%s%s\n", term_on(term, TERM_BOLD),
            name, scope, term_bytes(term, bytes, total, false), by, term_off(term, TERM_BOLD));
}

static int show_sites(const struct term *term, const struct profile *profile,
                      const struct profile_region *region, size_t sites_max) {
    int64_t total = profile_peak_added(&region->totals[TRACE_HEAP]);
    struct callsite_list list;
    char bytes[BYTES_TEXT], number[SIZES_TEXT_BYTES];
    if (!region->has_rows) {
        fputs("  (call sites were not kept)\n", term->stream);
        return 0;
    }
    int r = callsite_collect(profile, region, TRACE_HEAP, &list);
    if (r < 0)
        return r;
    qsort(list.items, list.count, sizeof(*list.items), compare_added);
    while (list.count > 0 &&
           list.items[list.count - 1].peak.bytes == list.items[list.count - 1].start.bytes)
        list.count--;

    struct table table = table_new("rrrl");
    size_t shown = sites_shown(&list, total, sites_max);
    int64_t blocks = 0;
    table_cell(&table, TERM_DIM, "%s", "bytes");
    table_cell(&table, TERM_DIM, "%s", "share");
    table_cell(&table, TERM_DIM, "%s", "blocks");
    table_cell(&table, TERM_DIM, "%s", "call site");
    for (size_t i = 0; i < shown; i++)
        site_cells(&table, term, &list.items[i], total);
    if (shown < list.count)
        others_cells(&table, term, list.items + shown, list.count - shown, total);
    for (size_t i = 0; i < list.count; i++)
        blocks += list.items[i].peak.blocks - list.items[i].start.blocks;
    table_cell(&table, TERM_BOLD, "%s", term_bytes(term, bytes, total, false));
    table_cell(&table, TERM_BOLD, "%s", "100 %");
    table_cell(&table, TERM_BOLD, "%s", sizes_group(number, blocks));
    table_cell(&table, TERM_BOLD, "%s", "TOTAL");
    free(list.items);
    return table_print(&table, term, "  ");
}

/* Whose call sites to show when nothing was asked for: the marked region that added most. */
static const struct profile_region *headline_region(const struct profile *profile) {
    const struct profile_region *best = &profile->regions[0];
    for (size_t i = 1; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        if (best == &profile->regions[0] || profile_peak_added(&region->totals[TRACE_HEAP]) >
                                                profile_peak_added(&best->totals[TRACE_HEAP]))
            best = region;
    }
    return best;
}

int render_show_text(const struct term *term, const struct run *run,
                     const struct render_show *options) {
    const struct profile_region *region =
        options->region ? instances_of(&run->profile, options->region).worst
                        : headline_region(&run->profile);
    int r = show_facts(term, run);
    if (r == 0)
        r = show_regions(term, &run->profile, options->region);
    if (r == 0)
        render_advice(term, run);
    if (r < 0 || !region)
        return r;
    show_headline(term, region, options->tree);
    render_extras(term, region);
    r = options->tree ? render_calls_region(term, &run->profile, region, options->sites_max)
                      : show_sites(term, &run->profile, region, options->sites_max);
    return r < 0 ? r : render_series(term, region, options);
}
