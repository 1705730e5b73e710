/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_extras.c: slack, sizes and time of one region, for people.
 *
 * A sparkline is one line of eight heights; each column is the most that was live in its share
 * of the region's time, and a column without a point is as high as what came before it: between
 * two points nothing else is known.
 */
#include "render.h"

#include "sparkline.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPARK_MARGIN 2
#define SPARK_WIDTH  72
#define BAR_WIDTH    40

static void show_slack(const struct term *term, const struct profile_region *region) {
    char slack[SIZES_TEXT_BYTES + 1], usable[SIZES_TEXT_BYTES + 1];
    int64_t requested = region->totals[TRACE_HEAP].peak_bytes;
    int64_t bytes = profile_slack(region);
    fprintf(term->stream, "  slack: %s of the %s that the allocator gave at the peak",
            term_bytes(term, slack, bytes, false),
            term_bytes(term, usable, region->usable_peak_bytes, false));
    if (requested > 0)
        fprintf(term->stream, ", %.1f %% of what was requested",
                100.0 * (double)bytes / (double)requested);
    fputc('\n', term->stream);
}

/* Sizes */

/* "0", "1", "2-3", "4-7" ... */
static const char *bucket_text(char ret_text[48], size_t bucket) {
    uint64_t least = bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
    if (bucket < 2)
        snprintf(ret_text, 48, "%zu", bucket);
    else if (bucket + 1 == TRACE_SIZE_BUCKETS)
        snprintf(ret_text, 48, "%" PRIu64 " or more", least);
    else
        snprintf(ret_text, 48, "%" PRIu64 "-%" PRIu64, least, 2 * least - 1);
    return ret_text;
}

static void bar_text(const struct term *term, char ret_text[4 * BAR_WIDTH], int64_t count,
                     int64_t most) {
    size_t columns = (size_t)((double)count / (double)most * BAR_WIDTH + 0.5);
    if (columns == 0 && count > 0)
        columns = 1;
    ret_text[0] = '\0';
    for (size_t i = 0; i < columns && i < BAR_WIDTH; i++)
        strcat(ret_text, term->blocks ? "\u2588" : "#");
}

static int show_sizes(const struct term *term, const struct profile_region *region) {
    struct table table = table_new("rrl");
    int64_t most = 0;
    if (!region->sizes) {
        fputs("  (sizes were not counted)\n", term->stream);
        return 0;
    }
    for (size_t i = 0; i < TRACE_SIZE_BUCKETS; i++)
        if (region->sizes[i] > most)
            most = region->sizes[i];
    table_cell(&table, TERM_DIM, "%s", "size");
    table_cell(&table, TERM_DIM, "%s", "allocations");
    table_cell(&table, TERM_DIM, "%s", "");
    for (size_t i = 0; i < TRACE_SIZE_BUCKETS; i++) {
        char text[48], number[SIZES_TEXT_BYTES], bar[4 * BAR_WIDTH];
        if (region->sizes[i] == 0)
            continue;
        bar_text(term, bar, region->sizes[i], most);
        table_cell(&table, TERM_PLAIN, "%s", bucket_text(text, i));
        table_cell(&table, TERM_PLAIN, "%s", sizes_group(number, region->sizes[i]));
        table_cell(&table, TERM_PLAIN, "%s", bar);
    }
    return table_print(&table, term, "  ");
}

/* Timeline */

static int64_t begin_of(const struct profile_region *region) {
    return region->points[0].elapsed_ns;
}

static int64_t length_of(const struct profile_region *region) {
    return region->points[region->points_count - 1].elapsed_ns - begin_of(region);
}

/* What was live at most in each of @columns shares of the region's time. */
static void columns_fill(const struct profile_region *region, int64_t *ret_live,
                         size_t columns) {
    int64_t length = length_of(region);
    size_t at = 0;
    int64_t last = region->points[0].live_bytes;
    for (size_t i = 0; i < columns; i++) {
        double end = (double)length * (double)(i + 1) / (double)columns;
        ret_live[i] = last;
        for (; at < region->points_count &&
               ((double)(region->points[at].elapsed_ns - begin_of(region)) < end ||
                i + 1 == columns);
             at++) {
            last = region->points[at].live_bytes;
            if (last > ret_live[i])
                ret_live[i] = last;
        }
    }
}

static void show_sparkline(const struct term *term, const struct profile_region *region) {
    int64_t live[SPARK_WIDTH];
    char least_text[SIZES_TEXT_BYTES + 1], most_text[SIZES_TEXT_BYTES + 1];
    size_t room = term->width > 2 * SPARK_MARGIN ? term->width - 2 * SPARK_MARGIN : 1;
    size_t columns = room < SPARK_WIDTH ? room : SPARK_WIDTH;
    if (length_of(region) <= 0)
        return;
    columns_fill(region, live, columns);
    int64_t most = region->totals[TRACE_HEAP].peak_bytes;
    int64_t least = most;
    for (size_t i = 0; i < columns; i++)
        if (live[i] < least)
            least = live[i];
    fprintf(term->stream, "  %s", term_on(term, TERM_DIM));
    sparkline_write(term->stream, live, columns, least, most);
    fprintf(term->stream, "%s\n  live heap over %.3f s, from %s to %s\n",
            term_off(term, TERM_DIM), (double)length_of(region) / 1e9,
            term_bytes(term, least_text, least, false),
            term_bytes(term, most_text, most, false));
}

static int show_timeline(const struct term *term, const struct profile_region *region) {
    struct table table = table_new("rrl");
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    bool peak_seen = false;
    if (region->points_count == 0) {
        fputs("  (no timeline was kept)\n", term->stream);
        return 0;
    }
    table_cell(&table, TERM_DIM, "%s", "seconds");
    table_cell(&table, TERM_DIM, "%s", "live");
    table_cell(&table, TERM_DIM, "%s", "");
    for (size_t i = 0; i < region->points_count; i++) {
        const struct profile_point *point = &region->points[i];
        char bytes[SIZES_TEXT_BYTES + 1];
        bool is_peak = !peak_seen && point->elapsed_ns == region->peak_elapsed_ns &&
                       point->live_bytes == heap->peak_bytes;
        peak_seen |= is_peak;
        table_cell(&table, TERM_PLAIN, "%.6f", (double)point->elapsed_ns / 1e9);
        table_cell(&table, is_peak ? TERM_BOLD : TERM_PLAIN, "%s",
                   term_bytes(term, bytes, point->live_bytes, false));
        table_cell(&table, TERM_DIM, "%s", is_peak ? "peak" : "");
    }
    return table_print(&table, term, "  ");
}

void render_extras(const struct term *term, const struct profile_region *region) {
    if (region->usable_is_known)
        show_slack(term, region);
    if (region->points_count > 0 && term->blocks)
        show_sparkline(term, region);
}

int render_series(const struct term *term, const struct profile_region *region,
                  const struct render_show *options) {
    int r = 0;
    if (options->timeline) {
        fputc('\n', term->stream);
        r = show_timeline(term, region);
    }
    if (r == 0 && options->sizes) {
        fputc('\n', term->stream);
        r = show_sizes(term, region);
    }
    return r;
}
