/* SPDX-License-Identifier: BSD-3-Clause */
/* render_diff_csv.c: a diff for spreadsheets: a row for each benchmark, numbers exact. */
#include "render.h"

#include "csv.h"

#include <errno.h>
#include <stdlib.h>

static void value_cells(struct csv *csv, const struct diff_value *value) {
    const int64_t numbers[] = {value->value, value->least, value->most};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (value->run && value->known)
            csv_int(csv, numbers[i]);
        else
            csv_empty(csv);
    if (value->run)
        csv_int(csv, (int64_t)value->repeats);
    else
        csv_empty(csv);
}

static int row_write(struct csv *csv, enum metric metric, const struct diff_row *row) {
    static const char *const changes[] = {"worse",   "better", "added",
                                          "removed", "same",   "unknown"};
    static const char *const certainties[] = {"exact", "sure", "noise", "too_few"};
    char *benchmark = render_benchmark(row->benchmark);
    if (!benchmark)
        return -ENOMEM;
    csv_text(csv, changes[row->status]);
    csv_text(csv, benchmark);
    csv_text(csv, row->region);
    csv_text(csv, metric_facts[metric].name);
    value_cells(csv, &row->before);
    value_cells(csv, &row->after);
    if (diff_is_common(row))
        csv_int(csv, diff_difference(row));
    else
        csv_empty(csv);
    csv_real(csv, row->ratio);
    csv_text(csv, certainties[row->certainty]);
    csv_row_end(csv);
    free(benchmark);
    return 0;
}

int render_diff_csv(FILE *stream, const struct diff *diff) {
    static const char *const names[] = {
        "change",       "benchmark",     "region",         "metric", "before",
        "before_least", "before_most",   "before_repeats", "after",  "after_least",
        "after_most",   "after_repeats", "difference",     "ratio",  "certainty",
    };
    struct csv csv = {.stream = stream};
    csv_header(&csv, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < diff->row_count; i++) {
        int r = row_write(&csv, diff->metric, &diff->rows[i]);
        if (r < 0)
            return r;
    }
    return csv_finish(&csv);
}
