/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_gate.c: the verdict of gate on each benchmark, and on all, for people.
 *
 * Every benchmark has its line with the bytes that it added to the heap at its peak. Other
 * metrics, and the pinned baseline, have one where there is something to say of them.
 */
#include "render_gate.h"

#include "compared.h"
#include "render.h"
#include "textstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_OF_A_REGRESSION 8

static const struct {
    const char *word;
    enum term_color color;
} verdicts[] = {
    [GATE_PASS] = {"pass", TERM_GREEN},
    [GATE_REGRESSION] = {"REGRESSION", TERM_RED},
    [GATE_UNANSWERED] = {"no answer", TERM_RED},
};

static bool finding_is_listed(const struct gate_finding *finding) {
    return gate_is_headline(finding) || finding->verdict == GATE_REGRESSION ||
           (finding->verdict == GATE_UNANSWERED && finding->row->before.run &&
            finding->row->after.run && !finding->unfit) ||
           (finding->verdict == GATE_UNANSWERED && finding->with_baseline) ||
           (finding->verdict == GATE_PASS && finding->reason && finding->row->before.run &&
            finding->row->after.run);
}

char *render_gate_outcome(const struct gate *gate, const struct gate_limits *limits) {
    char floor[SIZES_TEXT_BYTES];
    char *text;
    size_t judged = 0;
    int length;
    for (size_t i = 0; i < gate->finding_count; i++)
        judged += gate_is_headline(&gate->findings[i]);
    sizes_format(floor, limits->max_added_bytes);
    if (!gate->has_common)
        length = asprintf(&text, "the two stores have no benchmark in common");
    else if (gate->verdict == GATE_UNANSWERED)
        length = asprintf(&text, "%zu of %zu benchmarks could not be compared",
                          gate->counts[GATE_UNANSWERED], gate->finding_count);
    else if (limits->thresholds)
        length = asprintf(&text, "%zu of %zu numbers grew beyond their limits",
                          gate->counts[GATE_REGRESSION], gate->finding_count);
    else
        length =
            asprintf(&text, "%zu of %zu benchmarks grew beyond ratio %.4g and by more than %s",
                     gate->counts[GATE_REGRESSION], judged, limits->max_ratio, floor);
    return length < 0 ? NULL : text;
}

static int finding_row(struct table *table, const struct term *term,
                       const struct gate_finding *finding) {
    char *unfit = finding->unfit ? render_unfit(finding->unfit) : NULL;
    if (finding->unfit && !unfit)
        return -ENOMEM;
    table_cell(table, verdicts[finding->verdict].color, "%s", verdicts[finding->verdict].word);
    compared_cells(table, term, finding->row, metric_facts[finding->metric].unit, TERM_PLAIN,
                   unfit ? unfit : finding->reason);
    free(unfit);
    return 0;
}

/* The combined number has no sites: how much of it was mapped says something. */
static int finding_explain(const struct term *term, const struct gate_finding *finding) {
    const struct render_diff options = {.frames_max = FRAMES_OF_A_REGRESSION};
    const struct diff of_row = {.metric = finding->metric};
    if (finding->metric != METRIC_COMBINED)
        return render_diff_row(term, &of_row, finding->row, &options);
    char *name = render_row_name(finding->row);
    if (!name)
        return -ENOMEM;
    fprintf(term->stream, "%s:\n", name);
    free(name);
    compared_mappings(term, finding->row);
    return 0;
}

int render_gate_text(const struct term *term, const struct gate *gate,
                     const struct gate_limits *limits) {
    struct table table = compared_table("verdict");
    int r = 0;
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        if (finding_is_listed(&gate->findings[i]))
            r = finding_row(&table, term, &gate->findings[i]);
    int printed = table_print(&table, term, "");
    r = r < 0 ? r : printed;
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        if (gate->findings[i].verdict == GATE_REGRESSION)
            r = finding_explain(term, &gate->findings[i]);
    char *outcome = r == 0 ? render_gate_outcome(gate, limits) : NULL;
    if (!outcome)
        return -ENOMEM;
    fprintf(term->stream, "%sgate: %s%s: %s\n", term_on(term, verdicts[gate->verdict].color),
            verdicts[gate->verdict].word, term_off(term, verdicts[gate->verdict].color),
            outcome);
    free(outcome);
    return 0;
}

char *render_finding_name(const struct gate_finding *finding) {
    char *name = render_row_name(finding->row);
    char *text = NULL;
    if (!name || finding->metric == METRIC_PEAK_ADDED)
        return name;
    if (asprintf(&text, "%s: %s", name, metric_facts[finding->metric].name) < 0)
        text = NULL;
    free(name);
    return text;
}

static void write_numbers(FILE *stream, const struct gate_finding *finding) {
    const struct term term = {.stream = stream};
    const struct diff_row *row = finding->row;
    enum metric_unit unit = metric_facts[finding->metric].unit;
    char before[AMOUNT_TEXT_BYTES], after[AMOUNT_TEXT_BYTES], more[AMOUNT_TEXT_BYTES],
        ratio[32];
    compared_ratio(ratio, row);
    fprintf(stream, "%s: %s, %s %s (%s, ratio %s)", metric_facts[finding->metric].words,
            amount_text(&term, after, unit, row->after.value, false),
            finding->with_baseline ? "in the baseline" : "before",
            amount_text(&term, before, unit, row->before.value, false),
            amount_text(&term, more, unit, diff_difference(row), true), ratio);
}

char *render_finding_words(const struct gate_finding *finding) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    char *unfit = finding->unfit ? render_unfit(finding->unfit) : NULL;
    const char *reason = unfit ? unfit : finding->reason;
    bool has_numbers = diff_is_common(finding->row) && !finding->unfit;
    if (has_numbers)
        write_numbers(stream, finding);
    if (reason)
        fprintf(stream, "%s%s", has_numbers ? "; " : "", reason);
    free(unfit);
    return textstream_take(&text);
}
