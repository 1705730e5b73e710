/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_markdown.c: diff and gate as a comment or a job summary: a headline, a table, and what
 * made each difference, folded up.
 */
#include "render.h"

#include "compared.h"
#include "markdown.h"
#include "render_gate.h"
#include "textstream.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_OF_A_FINDING 12

static void value_cell(FILE *stream, const struct diff *diff, const struct diff_value *value) {
    const struct term term = {.stream = stream};
    char text[AMOUNT_TEXT_BYTES];
    enum metric_unit unit = metric_facts[diff->metric].unit;
    fprintf(stream, " %s |",
            !value->run     ? "-"
            : !value->known ? "?"
                            : amount_text(&term, text, unit, value->value, false));
}

/* What follows the first cell, up to the name. */
static int row_cells(FILE *stream, const struct diff *diff, const struct diff_row *row,
                     const char *name) {
    char ratio[32];
    compared_ratio(ratio, row);
    value_cell(stream, diff, &row->before);
    value_cell(stream, diff, &row->after);
    fprintf(stream, " %s | ", ratio);
    markdown_code(stream, name);
    return 0;
}

/* The tree of one row, as a terminal without colors would have it. */
static int row_block(FILE *stream, const struct diff *diff, const struct diff_row *row,
                     const struct render_diff *options) {
    struct textstream text;
    FILE *lines = textstream_begin(&text);
    if (!lines)
        return -ENOMEM;
    const struct term term = {.stream = lines, .width = 120};
    int r = render_diff_row(&term, diff, row, options);
    char *block = textstream_take(&text);
    if (!block)
        return -ENOMEM;
    const char *begin = block + strspn(block, "\n");
    if (r == 0 && begin[0] != '\0')
        markdown_block(stream, begin);
    free(block);
    return r;
}

static int row_details(FILE *stream, const struct diff *diff, const struct diff_row *row,
                       const char *name, const struct render_diff *options) {
    const struct term term = {.stream = stream};
    char text[AMOUNT_TEXT_BYTES];
    if (!row->explained || row->tree.count == 0)
        return 0;
    fputs("\n<details><summary>", stream);
    markdown_code(stream, name);
    fprintf(
        stream, ": %s</summary>\n\n",
        amount_text(&term, text, metric_facts[diff->metric].unit, diff_difference(row), true));
    int r = row_block(stream, diff, row, options);
    fputs("\n</details>\n", stream);
    return r;
}

static const char *mark_of(const struct diff_row *row) {
    static const char *const marks[] = {
        [DIFF_WORSE] = "**more**",  [DIFF_BETTER] = "less", [DIFF_ADDED] = "added",
        [DIFF_REMOVED] = "removed", [DIFF_SAME] = "same",   [DIFF_UNKNOWN] = "unknown",
    };
    if (row->status < DIFF_ADDED && !diff_is_change(row))
        return row->certainty == DIFF_NOISE ? "noise" : "too few repeats";
    return marks[row->status];
}

static void diff_headline(FILE *stream, const struct diff *diff) {
    size_t more = 0;
    size_t less = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        more += diff_is_change(&diff->rows[i]) && diff->rows[i].status == DIFF_WORSE;
        less += diff_is_change(&diff->rows[i]) && diff->rows[i].status == DIFF_BETTER;
    }
    fprintf(stream, "### votrace: %zu of %zu benchmarks need more, %zu less\n\n", more,
            diff->row_count, less);
    fprintf(stream, "%s, before and after. ", metric_facts[diff->metric].words);
    fputs("Numbers are exact unless they say otherwise.\n\n", stream);
}

int render_diff_markdown(FILE *stream, const struct diff *diff,
                         const struct render_diff *options) {
    int r = 0;
    diff_headline(stream, diff);
    fputs("| change | before | after | ratio | benchmark |\n|---|---:|---:|---:|---|\n",
          stream);
    for (size_t i = 0; r == 0 && i < diff->row_count; i++) {
        char *name = render_row_name(&diff->rows[i]);
        if (!name)
            return -ENOMEM;
        fprintf(stream, "| %s |", mark_of(&diff->rows[i]));
        r = row_cells(stream, diff, &diff->rows[i], name);
        fputs(" |\n", stream);
        free(name);
    }
    for (size_t i = 0; r == 0 && i < diff->row_count; i++) {
        char *name = render_row_name(&diff->rows[i]);
        r = name ? row_details(stream, diff, &diff->rows[i], name, options) : -ENOMEM;
        free(name);
    }
    return r < 0 ? r : ferror(stream) ? -EIO : 0;
}

static int finding_row(FILE *stream, const struct gate_finding *finding) {
    static const char *const words[] = {
        [GATE_PASS] = "pass",
        [GATE_REGRESSION] = "**grew**",
        [GATE_UNANSWERED] = "**no answer**",
    };
    const struct diff of_row = {.metric = finding->metric};
    char *name = render_finding_name(finding);
    char *unfit = finding->unfit ? render_unfit(finding->unfit) : NULL;
    const char *reason = unfit ? unfit : finding->reason;
    int r = name ? 0 : -ENOMEM;
    if (r == 0) {
        fprintf(stream, "| %s |", words[finding->verdict]);
        r = row_cells(stream, &of_row, finding->row, name);
        if (reason) {
            fputs(": ", stream);
            markdown_text(stream, reason);
        }
        fputs(" |\n", stream);
    }
    free(name);
    free(unfit);
    return r;
}

static int finding_details(FILE *stream, const struct gate_finding *finding) {
    const struct diff of_row = {.metric = finding->metric};
    const struct render_diff options = {.frames_max = FRAMES_OF_A_FINDING};
    char *name = render_finding_name(finding);
    if (!name)
        return -ENOMEM;
    int r = row_details(stream, &of_row, finding->row, name, &options);
    free(name);
    return r;
}

int render_gate_markdown(FILE *stream, const struct gate *gate,
                         const struct gate_limits *limits) {
    static const char *const words[] = {
        [GATE_PASS] = "memory stays within its limits",
        [GATE_REGRESSION] = "memory grew beyond its limits",
        [GATE_UNANSWERED] = "memory could not be compared",
    };
    char *outcome = render_gate_outcome(gate, limits);
    if (!outcome)
        return -ENOMEM;
    int r = 0;
    fprintf(stream, "### votrace: %s\n\n", words[gate->verdict]);
    markdown_text(stream, outcome);
    free(outcome);
    fputs("\n\n| verdict | before | after | ratio | benchmark |\n|---|---:|---:|---:|---|\n",
          stream);
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        if (gate_is_headline(&gate->findings[i]) || gate->findings[i].verdict != GATE_PASS)
            r = finding_row(stream, &gate->findings[i]);
    for (size_t i = 0; r == 0 && i < gate->finding_count; i++)
        if (gate->findings[i].verdict == GATE_REGRESSION)
            r = finding_details(stream, &gate->findings[i]);
    return r < 0 ? r : ferror(stream) ? -EIO : 0;
}
