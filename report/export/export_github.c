/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_github.c: what github-action-benchmark takes for the tool customSmallerIsBetter: a
 * list of name, unit, value, and where they are known range and extra.
 *
 * The name ends with the metric: the action keeps one series for a name.
 */
#include "export_formats.h"
#include "json.h"
#include "render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* How far the repeats differ, and which run it is. */
static void write_details(struct json *json, const struct diff_value *value, bool is_headline) {
    char text[160];
    if (is_headline && value->least != value->most) {
        snprintf(text, sizeof(text), "%" PRId64 " - %" PRId64, value->least, value->most);
        json_text(json, "range", text);
    }
    if (value->repeats > 1)
        snprintf(text, sizeof(text), "run %s, median of %zu", value->run->uuid, value->repeats);
    else
        snprintf(text, sizeof(text), "run %s", value->run->uuid);
    json_text(json, "extra", text);
}

static int write_row(struct json *json, const struct diff_row *row,
                     const struct export_request *request) {
    const struct export_metric_text *text = export_metric_text(request->metric);
    bool is_headline = request->metric == EXPORT_PEAK_ADDED && request->space == TRACE_HEAP;
    char *name = NULL;
    if (!export_is_known(row->before.region, request->metric))
        return 0;
    char *benchmark = render_row_name(row);
    if (!benchmark)
        return -ENOMEM;
    int r = is_headline || request->space == TRACE_HEAP
                ? asprintf(&name, "%s %s", benchmark, text->name)
                : asprintf(&name, "%s %s %s", benchmark, export_space_name(request->space),
                           text->name);
    free(benchmark);
    if (r < 0)
        return -ENOMEM;
    json_begin(json, NULL, '{');
    json_text(json, "name", name);
    json_text(json, "unit", text->unit);
    json_int(json, "value", export_value(&row->before, request, request->metric));
    write_details(json, &row->before, is_headline);
    json_end(json, '}');
    free(name);
    return 0;
}

int export_github(FILE *stream, const struct export_request *request, struct fault *fault) {
    struct json json = {.stream = stream};
    int r = 0;
    json_begin(&json, NULL, '[');
    for (size_t i = 0; r == 0 && i < request->diff->row_count; i++)
        r = write_row(&json, &request->diff->rows[i], request);
    json_end(&json, ']');
    return r < 0 ? export_no_memory(fault) : 0;
}
