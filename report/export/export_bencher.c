/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_bencher.c: Bencher Metric Format,
 * https://bencher.dev/docs/reference/bencher-metric-format
 *
 * A benchmark for each region, with a measure for each metric. The bounds are the least and the
 * most of the repeats.
 */
#include "export_formats.h"
#include "json.h"
#include "render.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS_MAX 1024 /* Bencher refuses longer ones */

/* Slugs of its measures. */
static const char *const measures[] = {
    [EXPORT_PEAK_ADDED] = "peak-added", [EXPORT_LIVE_PEAK] = "live-peak",
    [EXPORT_LIVE_END] = "live-end",     [EXPORT_NET] = "net",
    [EXPORT_TOTAL] = "allocated-bytes", [EXPORT_COUNT] = "allocations",
};

static void write_measure(struct json *json, const struct diff_value *value,
                          const struct export_request *request, enum export_metric metric) {
    json_begin(json, measures[metric], '{');
    json_int(json, "value", export_value(value, request, metric));
    if (metric == EXPORT_PEAK_ADDED && request->space == TRACE_HEAP && value->repeats > 1) {
        json_int(json, "lower_value", value->least);
        json_int(json, "upper_value", value->most);
    }
    json_end(json, '}');
}

static int write_row(struct json *json, const struct diff_row *row,
                     const struct export_request *request, struct fault *fault) {
    const struct diff_value *value = &row->before;
    char *name = render_row_name(row);
    if (!name)
        return export_no_memory(fault);
    size_t length = strlen(name);
    if (length > NAME_CHARACTERS_MAX) {
        free(name);
        return fault_set(fault, -EINVAL,
                         "a benchmark's name with its parameters is %zu bytes long, Bencher "
                         "takes %d: give it a shorter one",
                         length, NAME_CHARACTERS_MAX);
    }
    json_begin(json, name, '{');
    free(name);
    for (int i = 0; i < EXPORT_METRICS; i++)
        if (export_is_known(value->region, (enum export_metric)i))
            write_measure(json, value, request, (enum export_metric)i);
    json_end(json, '}');
    return 0;
}

int export_bencher(FILE *stream, const struct export_request *request, struct fault *fault) {
    struct json json = {.stream = stream};
    int r = 0;
    json_begin(&json, NULL, '{');
    for (size_t i = 0; r == 0 && i < request->diff->row_count; i++)
        r = write_row(&json, &request->diff->rows[i], request, fault);
    json_end(&json, '}');
    return r;
}
