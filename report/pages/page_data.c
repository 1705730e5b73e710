/* SPDX-License-Identifier: BSD-3-Clause */
/* page_data.c: a subject for each row, then the tables that subjects refer to. */
#include "page_data.h"

#include "compared.h"
#include "context.h"
#include "headline.h"
#include "render.h"
#include "run_data.h"
#include "site_data.h"
#include "textstream.h"
#include "tree_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void write_count(struct json *json, const char *key, int64_t count, bool known) {
    if (known)
        json_int(json, key, count);
    else
        json_null(json, key);
}

static void write_totals(struct json *json, const struct profile_region *region) {
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    bool counts = profile_counts_are_known(region);
    json_int(json, "live_start", heap->start.bytes);
    json_int(json, "live_peak", heap->peak_bytes);
    json_int(json, "live_end", heap->end.bytes);
    json_int(json, "net", profile_net(heap));
    write_count(json, "allocations", heap->allocated.blocks, counts);
    write_count(json, "allocated_bytes", heap->allocated.bytes, counts);
}

static int write_unfit(struct json *json, const struct run *unfit) {
    if (!unfit) {
        json_null(json, "unfit");
        return 0;
    }
    char *why = render_unfit(unfit);
    if (!why)
        return -ENOMEM;
    json_text(json, "unfit", why);
    free(why);
    return 0;
}

static int write_side(struct context *context, const char *key,
                      const struct diff_value *value) {
    struct json *json = &context->json;
    const struct profile_region *region = value->region;
    uint32_t run;
    if (!value->run) {
        json_null(json, key);
        return 0;
    }
    int r = context_run(context, value->run, &run);
    if (r < 0)
        return r;
    json_begin(json, key, '{');
    json_int(json, "run", run);
    json_int(json, "region", region - value->run->profile.regions);
    json_bool(json, "is_process", region == value->run->profile.regions);
    json_int(json, "instance", region->instance);
    json_int(json, "instances", (int64_t)value->instance_count);
    json_int(json, "repeats", (int64_t)value->repeats);
    json_int(json, "peak_added", value->peak_added);
    json_int(json, "map_anon", value->map_anon);
    json_int(json, "begin_ns", region->begin_elapsed_ns);
    json_int(json, "peak_ns", region->peak_elapsed_ns);
    write_totals(json, region);
    run_data_write_timeline(json, "timeline", region);
    r = write_unfit(json, value->unfit);
    json_end(json, '}');
    return r;
}

/* What has to be known of one side before its numbers are read. */
static void write_side_words(struct json *json, const char *side,
                             const struct diff_value *value) {
    char text[256], least[SIZES_TEXT_BYTES + 1], most[SIZES_TEXT_BYTES + 1];
    if (!value->run)
        return;
    if (value->instance_count > 1) {
        snprintf(text, sizeof(text),
                 "%s the region was entered %zu times; the worst counts, number %u.", side,
                 value->instance_count, value->region->instance);
        json_text(json, NULL, text);
    }
    if (value->least != value->most) {
        snprintf(text, sizeof(text), "%s %zu repeats differ, from %s to %s; the median counts.",
                 side, value->repeats, sizes_format(least, value->least),
                 sizes_format(most, value->most));
        json_text(json, NULL, text);
    }
}

/* Whether a difference that varies is more than noise; nothing where every byte is certain. */
static int write_certainty(struct json *json, const struct diff_row *row) {
    if (!row->before.run || !row->after.run || row->certainty == DIFF_EXACT)
        return 0;
    char *text = NULL;
    char *words = compared_certainty(row);
    if (words && asprintf(&text, "Is the difference certain? %s.", words) < 0)
        text = NULL;
    if (text)
        json_text(json, NULL, text);
    free(words);
    int r = text ? 0 : -ENOMEM;
    free(text);
    return r;
}

static int write_words(struct json *json, const struct diff_row *row, bool is_alone,
                       bool is_full) {
    bool two = row->before.run && row->after.run;
    char *about = is_alone ? strdup("") : headline_row(row);
    if (!about)
        return -ENOMEM;
    json_begin(json, "words", '[');
    if (about[0] != '\0')
        json_text(json, NULL, about);
    free(about);
    write_side_words(json, two ? "Before," : "Here,", &row->before);
    write_side_words(json, two ? "After," : "Here,", &row->after);
    int r = write_certainty(json, row);
    if (two && diff_mappings_changed(row))
        json_text(json, NULL, "Its anonymous mappings changed, too: votreport diff has them.");
    if (is_full)
        json_text(json, NULL,
                  "Its graph and its call sites are left out, so that the page stays small: "
                  "votreport html --name shows it alone.");
    json_end(json, ']');
    return r;
}

static int write_subject(struct context *context, const struct diff_row *row, bool two_sides,
                         bool is_alone) {
    static const char *const words[] = {"worse",   "better", "added",
                                        "removed", "same",   "unknown"};
    bool may_be_chance =
        (row->status == DIFF_WORSE || row->status == DIFF_BETTER) && !diff_is_change(row);
    struct json *json = &context->json;
    bool is_full = ftell(json->stream) > PAGE_DATA_BYTES;
    char *name = render_row_name(row);
    if (!name)
        return -ENOMEM;
    json_begin(json, NULL, '{');
    json_text(json, "name", name);
    free(name);
    json_text(json, "region", row->region);
    json_text(json, "status",
              !two_sides      ? "shown"
              : may_be_chance ? "noise"
                              : words[row->status]);
    json_ratio(json, "ratio", row->ratio);
    int r = write_words(json, row, is_alone, is_full);
    if (r == 0)
        r = write_side(context, "before", &row->before);
    if (r == 0)
        r = write_side(context, "after", &row->after);
    if (r == 0 && !is_full)
        r = tree_data_write(context, "tree", row, TREE_DATA_NODES_MAX);
    if (r == 0 && !is_full)
        r = site_data_write(context, "sites", row);
    if (is_full) {
        json_null(json, "tree");
        json_null(json, "sites");
    }
    json_end(json, '}');
    return r;
}

static int write_data(struct context *context, const struct diff *diff, bool two_sides) {
    struct json *json = &context->json;
    int r = 0;
    json_begin(json, NULL, '{');
    json_text(json, "mode", two_sides ? "diff" : "run");
    json_begin(json, "subjects", '[');
    for (size_t i = 0; r == 0 && i < diff->row_count; i++)
        r = write_subject(context, &diff->rows[i], two_sides, diff->row_count == 1);
    json_end(json, ']');
    if (r == 0)
        r = run_data_write(context, "runs");
    if (r == 0)
        context_write_tables(context);
    json_end(json, '}');
    return r;
}

/* Through memory, where its size is known while it grows. */
int page_data_write(FILE *stream, const struct diff *diff, bool two_sides) {
    struct textstream text;
    struct context context;
    FILE *memory = textstream_begin(&text);
    if (!memory)
        return -ENOMEM;
    int r = context_init(&context, memory);
    if (r == 0) {
        r = write_data(&context, diff, two_sides);
        context_finish(&context);
    }
    char *data = textstream_take(&text);
    if (!data)
        return -ENOMEM;
    if (r == 0)
        fwrite(data, 1, text.size, stream);
    free(data);
    return r;
}
