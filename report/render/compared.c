/* SPDX-License-Identifier: BSD-3-Clause */
/* compared.c: one row of two sides, in the columns that reviewers know from asv. */
#include "compared.h"

#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void compared_ratio(char ret_text[32], const struct diff_row *row) {
    if (isnan(row->ratio))
        strcpy(ret_text, "");
    else if (isinf(row->ratio))
        strcpy(ret_text, "inf");
    else
        snprintf(ret_text, 32, "%.2f", row->ratio);
}

static void value_cell(struct table *table, const struct term *term, enum metric_unit unit,
                       const struct diff_value *value) {
    char text[AMOUNT_TEXT_BYTES];
    const char *shown = !value->run     ? "-"
                        : !value->known ? "?"
                                        : amount_text(term, text, unit, value->value, false);
    table_cell(table, TERM_PLAIN, "%s", shown);
}

struct table compared_table(const char *first_head) {
    const char *const heads[] = {first_head, "before", "after", "ratio",
                                 "benchmark (parameters)"};
    struct table table = table_new("lrrrl");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    return table;
}

void compared_cells(struct table *table, const struct term *term, const struct diff_row *row,
                    enum metric_unit unit, enum term_color ratio_color, const char *reason) {
    char ratio[32];
    char *name = render_row_name(row);
    compared_ratio(ratio, row);
    value_cell(table, term, unit, &row->before);
    value_cell(table, term, unit, &row->after);
    table_cell(table, ratio_color, "%s", ratio);
    table_cell(table, TERM_PLAIN, "%s%s%s", name ? name : "?", reason ? ": " : "",
               reason ? reason : "");
    free(name);
}

void compared_change(const struct term *term, enum metric_unit unit, int64_t before,
                     int64_t after, const char *words) {
    char old[AMOUNT_TEXT_BYTES], new[AMOUNT_TEXT_BYTES], change[AMOUNT_TEXT_BYTES];
    fprintf(term->stream, "%s -> %s%s (%s)", amount_text(term, old, unit, before, false),
            amount_text(term, new, unit, after, false), words,
            amount_text(term, change, unit, after - before, true));
}

void compared_mappings(const struct term *term, const struct diff_row *row) {
    fputs("  anonymous mappings: ", term->stream);
    compared_change(term, METRIC_BYTES, row->before.map_anon, row->after.map_anon,
                    " at their peak");
    fputs("; heap and mappings together: ", term->stream);
    compared_change(term, METRIC_BYTES, row->before.combined, row->after.combined, "");
    fputc('\n', term->stream);
}

static int certainty_words(const struct diff_row *row, char **ret_text) {
    size_t least = statistics_least_repeats();
    switch (row->certainty) {
    case DIFF_SURE:
        return asprintf(ret_text, "more than noise (p %.2g)", row->p);
    case DIFF_NOISE:
        if (row->need > row->before.repeats || row->need > row->after.repeats)
            return asprintf(ret_text,
                            "within noise (p %.2g); some %zu repeats on each side would tell",
                            row->p, row->need);
        return asprintf(ret_text, "within noise (p %.2g)", row->p);
    case DIFF_TOO_FEW:
        return asprintf(ret_text, "it varies: at least %zu repeats on each side are needed",
                        row->need > least ? row->need : least);
    case DIFF_EXACT:
        break;
    }
    *ret_text = strdup("");
    return *ret_text ? 0 : -1;
}

char *compared_certainty(const struct diff_row *row) {
    char *text;
    return certainty_words(row, &text) < 0 ? NULL : text;
}
