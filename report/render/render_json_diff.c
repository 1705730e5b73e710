/* SPDX-License-Identifier: BSD-3-Clause */
/* render_json_diff.c: what diff and gate print for scripts. Exact numbers, whole stacks. */
#include "render.h"

#include "outline.h"
#include "render_gate.h"
#include "render_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why @unfit is, in full, else @reason, else null. */
void render_json_reason(struct json *json, const char *key, const struct run *unfit,
                        const char *reason) {
    char *text = unfit ? render_unfit(unfit) : NULL;
    if (unfit && !text)
        reason = run_is_unfit(unfit);
    if (text || reason)
        json_text(json, key, text ? text : reason);
    else
        json_null(json, key);
    free(text);
}

static void write_value(struct json *json, const char *key, const struct diff_value *value) {
    if (!value->run) {
        json_null(json, key);
        return;
    }
    json_begin(json, key, '{');
    json_int(json, "run", value->run->id);
    json_text(json, "uuid", value->run->uuid);
    json_int(json, "peak_added", value->peak_added);
    json_count(json, "value", value->value, value->known);
    json_int(json, "instance", value->region->instance);
    json_int(json, "instances", (int64_t)value->instance_count);
    json_int(json, "repeats", (int64_t)value->repeats);
    json_count(json, "least", value->least, value->known);
    json_count(json, "most", value->most, value->known);
    render_json_reason(json, "unfit", value->unfit, NULL);
    json_end(json, '}');
}

/* What one side added at the peak of a space that is not the heap; null where it has no run. */
static void write_side(struct json *json, const char *key, const struct diff_value *value,
                       int64_t bytes) {
    if (value->run)
        json_int(json, key, bytes);
    else
        json_null(json, key);
}

static void write_beside_heap(struct json *json, const struct diff_row *row) {
    json_begin(json, "map_anon", '{');
    write_side(json, "before", &row->before, row->before.map_anon);
    write_side(json, "after", &row->after, row->after.map_anon);
    json_end(json, '}');
    json_begin(json, "combined", '{');
    write_side(json, "before", &row->before, row->before.combined);
    write_side(json, "after", &row->after, row->after.combined);
    json_end(json, '}');
}

/* Where repeats differ: is it more than noise? */
static void write_certainty(struct json *json, const struct diff_row *row) {
    static const char *const words[] = {"exact", "sure", "noise", "too_few"};
    bool varies = row->certainty != DIFF_EXACT;
    json_text(json, "certainty", words[row->certainty]);
    json_ratio(json, "p", varies ? row->p : (double)NAN);
    json_count(json, "interval_low", row->interval_low, varies);
    json_count(json, "interval_high", row->interval_high, varies);
    json_count(json, "repeats_needed", (int64_t)row->need, varies && row->need > 0);
}

void render_json_row(struct json *json, const struct diff_row *row) {
    static const char *const changes[] = {"worse",   "better", "added",
                                          "removed", "same",   "unknown"};
    json_text(json, "benchmark", row->benchmark->benchmark);
    json_parameters(json, row->benchmark);
    json_text(json, "region", row->region);
    json_text(json, "change", changes[row->status]);
    write_value(json, "before", &row->before);
    write_value(json, "after", &row->after);
    json_count(json, "difference", diff_difference(row), diff_is_common(row));
    json_ratio(json, "ratio", row->ratio);
    write_certainty(json, row);
    write_beside_heap(json, row);
}

static void write_diff_site(struct json *json, const struct diff_site *site) {
    const struct callsite *at = &site->site;
    json_begin(json, NULL, '{');
    json_text(json, "change", !site->in_before ? "new" : !site->in_after ? "gone" : "changed");
    json_int(json, "before", site->before_bytes);
    json_int(json, "after", site->after_bytes);
    json_int(json, "difference", site->after_bytes - site->before_bytes);
    json_frame(json, at->profile, at->node != 0 ? callsite_frame(at->profile, at->node) : NULL);
    json_stack(json, at->profile, at->innermost);
    json_end(json, '}');
}

static void write_sites(struct json *json, const struct diff_row *row, size_t sites_max) {
    size_t shown = row->site_count < sites_max ? row->site_count : sites_max;
    int64_t rest = 0;
    json_begin(json, "sites", '[');
    for (size_t s = 0; s < shown; s++)
        write_diff_site(json, &row->sites[s]);
    json_end(json, ']');
    for (size_t s = shown; s < row->site_count; s++)
        rest += row->sites[s].after_bytes - row->sites[s].before_bytes;
    json_begin(json, "others", '{');
    json_int(json, "sites", (int64_t)(row->site_count - shown));
    json_int(json, "difference", rest);
    json_end(json, '}');
}

static const char *change_of(const struct calltree_node *node) {
    return !node->in[CALLTREE_BEFORE] ? "new" : !node->in[CALLTREE_AFTER] ? "gone" : "changed";
}

static void write_line_frames(struct json *json, const struct calltree *tree,
                              const struct outline_line *line) {
    const struct calltree_node *last = &tree->nodes[line->last];
    json_text(json, "change", change_of(last));
    json_text(json, "name", last->name);
    if (last->frame)
        json_frame(json, last->profile, last->frame);
    json_begin(json, "through", '[');
    for (uint32_t node = line->last; node != line->first;) {
        node = tree->nodes[node].parent;
        json_text(json, NULL, tree->nodes[node].name);
    }
    json_end(json, ']');
}

static int write_tree(struct json *json, const struct diff_row *row, enum metric metric,
                      size_t frames_max) {
    static const char *const kinds[] = {"frames", "self", "others"};
    struct outline outline = {0};
    int r = row->tree.count > 0
                ? outline_make(&row->tree, metric_facts[metric].tree, frames_max, &outline)
                : 0;
    json_begin(json, "tree", '[');
    for (size_t i = 0; r == 0 && i < outline.count; i++) {
        const struct outline_line *line = &outline.lines[i];
        json_begin(json, NULL, '{');
        json_int(json, "depth", line->depth);
        json_text(json, "kind", kinds[line->kind]);
        json_int(json, "before", line->before);
        json_int(json, "after", line->after);
        json_int(json, "difference", line->after - line->before);
        if (line->kind == OUTLINE_FRAMES)
            write_line_frames(json, &row->tree, line);
        if (line->kind == OUTLINE_OTHERS)
            json_int(json, "count", (int64_t)line->count);
        json_end(json, '}');
    }
    json_end(json, ']');
    outline_finish(&outline);
    return r;
}

int render_diff_json(FILE *stream, const struct diff *diff, const struct render_diff *options) {
    struct json json = {.stream = stream};
    int r = 0;
    json_begin(&json, NULL, '{');
    json_text(&json, "metric", metric_facts[diff->metric].name);
    json_begin(&json, "benchmarks", '[');
    for (size_t i = 0; r == 0 && i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        json_begin(&json, NULL, '{');
        render_json_row(&json, row);
        json_bool(&json, "explained", row->explained);
        write_sites(&json, row, options->sites_max > 0 ? options->sites_max : 10);
        r = write_tree(&json, row, diff->metric, options->frames_max);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    return r < 0 ? r : json_finish(&json);
}

int render_gate_json(FILE *stream, const struct gate *gate, const struct gate_limits *limits) {
    static const char *const verdicts[] = {"pass", "regression", "unanswered"};
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '{');
    json_text(&json, "verdict", verdicts[gate->verdict]);
    json_ratio(&json, "max_ratio", limits->max_ratio);
    json_int(&json, "max_added", limits->max_added_bytes);
    json_begin(&json, "benchmarks", '[');
    for (size_t i = 0; i < gate->finding_count; i++) {
        const struct gate_finding *finding = &gate->findings[i];
        json_begin(&json, NULL, '{');
        json_text(&json, "verdict", verdicts[finding->verdict]);
        json_text(&json, "metric", metric_facts[finding->metric].name);
        json_text(&json, "against", finding->with_baseline ? "baseline" : "base");
        json_ratio(&json, "max_ratio", finding->max_ratio);
        json_int(&json, "max_added", finding->max_added);
        render_json_reason(&json, "reason", finding->unfit, finding->reason);
        render_json_row(&json, finding->row);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    return json_finish(&json);
}
