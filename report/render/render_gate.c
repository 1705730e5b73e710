/* SPDX-License-Identifier: BSD-3-Clause */
/* render_gate.c: the verdict of gate on each benchmark, and on all, for people. */
#include "render.h"

#include "compared.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    const char *word;
    enum term_color color;
} verdicts[] = {
    [GATE_PASS] = {"pass", TERM_GREEN},
    [GATE_REGRESSION] = {"REGRESSION", TERM_RED},
    [GATE_UNANSWERED] = {"no answer", TERM_RED},
};

static void gate_summary(const struct term *term, const struct diff *diff,
                         const struct gate_finding *findings, const struct gate_limits *limits,
                         enum gate_verdict verdict) {
    char floor[SIZES_TEXT_BYTES];
    size_t counts[3] = {0};
    for (size_t i = 0; i < diff->row_count; i++)
        counts[findings[i].verdict]++;
    fprintf(term->stream, "%sgate: %s%s: ", term_on(term, verdicts[verdict].color),
            verdicts[verdict].word, term_off(term, verdicts[verdict].color));
    sizes_format(floor, limits->max_added_bytes);
    if (diff->common_count == 0)
        fputs("the two stores have no benchmark in common\n", term->stream);
    else if (verdict == GATE_UNANSWERED)
        fprintf(term->stream, "%zu of %zu benchmarks could not be compared\n",
                counts[GATE_UNANSWERED], diff->row_count);
    else
        fprintf(term->stream,
                "%zu of %zu benchmarks grew beyond ratio %.4g and by more than %s\n",
                counts[GATE_REGRESSION], diff->row_count, limits->max_ratio, floor);
}

/* The table has the heap's numbers, which pass: these do not. */
static int gate_combined(const struct term *term, const struct diff_row *row) {
    char *name = render_row_name(row);
    if (!name)
        return -ENOMEM;
    fprintf(term->stream, "%s:\n", name);
    free(name);
    compared_mappings(term, row);
    return 0;
}

int render_gate_text(const struct term *term, const struct diff *diff,
                     const struct gate_finding *findings, const struct gate_limits *limits,
                     enum gate_verdict verdict) {
    struct table table = compared_table("verdict");
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct gate_finding *finding = &findings[i];
        char *unfit = finding->unfit ? render_unfit(finding->unfit) : NULL;
        table_cell(&table, verdicts[finding->verdict].color, "%s",
                   verdicts[finding->verdict].word);
        compared_cells(&table, term, &diff->rows[i], metric_facts[diff->metric].unit,
                       TERM_PLAIN, unfit ? unfit : finding->reason);
        free(unfit);
    }
    int r = table_print(&table, term, "");
    for (size_t i = 0; r == 0 && i < diff->row_count; i++)
        if (findings[i].by_combined)
            r = gate_combined(term, &diff->rows[i]);
    gate_summary(term, diff, findings, limits, verdict);
    return r;
}
