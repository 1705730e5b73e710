/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_diff.c: diff and gate, for people.
 *
 * The table has the columns that reviewers know from asv; below it, what made each difference,
 * with a total that is the difference itself.
 */
#include "render.h"

#include "table.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_TEXT (SIZES_TEXT_BYTES + 1)

static const struct {
    const char *mark;
    enum term_color color;
} looks[] = {
    [DIFF_WORSE] = {"+", TERM_RED},     [DIFF_BETTER] = {"-", TERM_GREEN},
    [DIFF_ADDED] = {"added", TERM_DIM}, [DIFF_REMOVED] = {"removed", TERM_DIM},
    [DIFF_SAME] = {"~", TERM_PLAIN},
};

static void ratio_text(char text[32], const struct diff_row *row) {
    if (isnan(row->ratio))
        strcpy(text, "");
    else if (isinf(row->ratio))
        strcpy(text, "inf");
    else
        snprintf(text, 32, "%.2f", row->ratio);
}

static void value_cell(struct table *table, const struct term *term,
                       const struct diff_value *value) {
    char bytes[BYTES_TEXT];
    table_cell(table, TERM_PLAIN, "%s",
               value->run ? term_bytes(term, bytes, value->peak_added, false) : "-");
}

/* What diff and gate print first; @first_head is that of the column in which they differ. */
static struct table compared_table(const char *first_head) {
    const char *const heads[] = {first_head, "before", "after", "ratio",
                                 "benchmark (parameters)"};
    struct table table = table_new("lrrrl");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    return table;
}

/* What follows the first cell; @reason may be NULL. */
static void compared_cells(struct table *table, const struct term *term,
                           const struct diff_row *row, enum term_color ratio_color,
                           const char *reason) {
    char ratio[32];
    char *name = render_row_name(row);
    ratio_text(ratio, row);
    value_cell(table, term, &row->before);
    value_cell(table, term, &row->after);
    table_cell(table, ratio_color, "%s", ratio);
    table_cell(table, TERM_PLAIN, "%s%s%s", name ? name : "?", reason ? ": " : "",
               reason ? reason : "");
    free(name);
}

static int diff_table(const struct term *term, const struct diff *diff) {
    struct table table = compared_table("change");
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        table_cell(&table, looks[row->status].color, "%s", looks[row->status].mark);
        compared_cells(&table, term, row, looks[row->status].color, NULL);
    }
    return table_print(&table, term, "");
}

/* What a reader has to know before believing one side of a row. */
static void value_notes(const struct term *term, const char *name, const char *side,
                        const struct diff_value *value) {
    char least[BYTES_TEXT], most[BYTES_TEXT];
    char *unfit = value->unfit ? render_unfit(value->unfit) : NULL;
    if (value->unfit)
        fprintf(term->stream, "note: %s, %s: %s\n", name, side,
                unfit ? unfit : run_is_unfit(value->unfit));
    free(unfit);
    if (value->least != value->most)
        fprintf(term->stream,
                "note: %s, %s: varies over %zu repeats, %s to %s; the median counts\n", name,
                side, value->repeats, term_bytes(term, least, value->least, false),
                term_bytes(term, most, value->most, false));
    if (value->instance_count > 1)
        fprintf(term->stream, "note: %s, %s: the worst of %zu instances counts, #%" PRIu32 "\n",
                name, side, value->instance_count, value->region->instance);
}

static int diff_notes(const struct term *term, const struct diff *diff) {
    for (size_t i = 0; i < diff->row_count; i++) {
        char *name = render_row_name(&diff->rows[i]);
        if (!name)
            return -ENOMEM;
        value_notes(term, name, "before", &diff->rows[i].before);
        value_notes(term, name, "after", &diff->rows[i].after);
        free(name);
    }
    return 0;
}

static void change_cells(struct table *table, const struct term *term, enum term_color color,
                         int64_t before, int64_t after) {
    char bytes[BYTES_TEXT];
    table_cell(table, color, "%s", term_bytes(term, bytes, after - before, true));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, before, false));
    table_cell(table, TERM_PLAIN, "%s", term_bytes(term, bytes, after, false));
}

static void site_cells(struct table *table, const struct term *term,
                       const struct diff_site *site) {
    const char *mark = !site->in_before ? "[NEW] " : !site->in_after ? "[GONE] " : "";
    bool grew = site->after_bytes > site->before_bytes;
    const struct callsite *at = &site->site;
    change_cells(table, term, grew ? TERM_RED : TERM_GREEN, site->before_bytes,
                 site->after_bytes);
    char *frame = at->node != 0 ? render_telling(at) : NULL;
    table_cell(table, TERM_BOLD, "%s%s", mark, frame ? frame : render_no_stack(at));
    free(frame);
    char *callers = at->node != 0 ? render_callers(at, term->width - 40) : NULL;
    if (callers && callers[0] != '\0') {
        for (size_t i = 0; i < 3; i++)
            table_cell(table, TERM_PLAIN, "%s", "");
        table_cell(table, TERM_DIM, "  %s", callers);
    }
    free(callers);
}

static int row_sites(const struct term *term, const struct diff_row *row, size_t sites_max) {
    struct table table = table_new("rrrl");
    int64_t before = row->before.peak_added;
    int64_t after = row->after.peak_added;
    int64_t shown_before = 0;
    int64_t shown_after = 0;
    static const char *const heads[] = {"difference", "before", "after", "call site"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    size_t shown = row->site_count > sites_max + 1 ? sites_max : row->site_count;
    for (size_t i = 0; i < row->site_count; i++) {
        if (i < shown) {
            site_cells(&table, term, &row->sites[i]);
            continue;
        }
        shown_before += row->sites[i].before_bytes;
        shown_after += row->sites[i].after_bytes;
    }
    if (shown < row->site_count) {
        change_cells(&table, term, TERM_DIM, shown_before, shown_after);
        table_cell(&table, TERM_DIM, "[%zu others]", row->site_count - shown);
    }
    change_cells(&table, term, looks[row->status].color, before, after);
    table_cell(&table, TERM_BOLD, "TOTAL");
    return table_print(&table, term, "  ");
}

/* The memory that is not the heap's: "0 B -> 4.77 MiB at their peak (+4.77 MiB)". */
static void write_change(const struct term *term, int64_t before, int64_t after,
                         const char *words) {
    char old[BYTES_TEXT], new[BYTES_TEXT], change[BYTES_TEXT];
    fprintf(term->stream, "%s -> %s%s (%s)", term_bytes(term, old, before, false),
            term_bytes(term, new, after, false), words,
            term_bytes(term, change, after - before, true));
}

static void mappings_line(const struct term *term, const struct diff_row *row) {
    fputs("  anonymous mappings: ", term->stream);
    write_change(term, row->before.map_anon, row->after.map_anon, " at their peak");
    fputs("; heap and mappings together: ", term->stream);
    write_change(term, row->before.combined, row->after.combined, "");
    fputc('\n', term->stream);
}

static int row_mappings(const struct term *term, const struct diff_row *row) {
    if (row->status == DIFF_SAME) {
        char *name = render_row_name(row);
        if (!name)
            return -ENOMEM;
        fprintf(term->stream, "\n%s%s%s: the same heap at the peak, other mappings\n",
                term_on(term, TERM_BOLD), name, term_off(term, TERM_BOLD));
        free(name);
    }
    mappings_line(term, row);
    return 0;
}

static int row_explanation(const struct term *term, const struct diff_row *row,
                           size_t sites_max) {
    char bytes[BYTES_TEXT];
    char *name = render_row_name(row);
    if (!name)
        return -ENOMEM;
    int64_t difference = row->after.peak_added - row->before.peak_added;
    fprintf(term->stream, "\n%s%s%s: %s %s at the peak%s\n", term_on(term, TERM_BOLD), name,
            term_off(term, TERM_BOLD),
            term_bytes(term, bytes, difference < 0 ? -difference : difference, false),
            difference < 0 ? "less" : "more", row->explained ? ", by call site" : "");
    free(name);
    if (row->explained)
        return row_sites(term, row, sites_max);
    fputs("  (call sites were not kept on both sides)\n", term->stream);
    return 0;
}

int render_diff_text(const struct term *term, const struct diff *diff, size_t sites_max) {
    int r = diff_table(term, diff);
    if (r == 0)
        r = diff_notes(term, diff);
    for (size_t i = 0; r == 0 && i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (row->status == DIFF_WORSE || row->status == DIFF_BETTER)
            r = row_explanation(term, row, sites_max);
        if (r == 0 && diff_mappings_changed(row))
            r = row_mappings(term, row);
    }
    return r;
}

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
    mappings_line(term, row);
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
        compared_cells(&table, term, &diff->rows[i], TERM_PLAIN,
                       unfit ? unfit : finding->reason);
        free(unfit);
    }
    int r = table_print(&table, term, "");
    for (size_t i = 0; r == 0 && i < diff->row_count; i++)
        if (findings[i].by_combined)
            r = gate_combined(term, &diff->rows[i]);
    gate_summary(term, diff, findings, limits, verdict);
    return r;
}
