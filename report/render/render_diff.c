/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_diff.c: diff, for people.
 *
 * First the table of all benchmarks; below it, what made each difference, as the tree of calls
 * or as the list of call sites, with a total that is the difference itself.
 */
#include "render.h"

#include "compared.h"
#include "render_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct look {
    const char *mark;
    enum term_color color;
};

static struct look look_of(const struct diff_row *row) {
    static const struct look looks[] = {
        [DIFF_WORSE] = {"+", TERM_RED},     [DIFF_BETTER] = {"-", TERM_GREEN},
        [DIFF_ADDED] = {"added", TERM_DIM}, [DIFF_REMOVED] = {"removed", TERM_DIM},
        [DIFF_SAME] = {"~", TERM_PLAIN},    [DIFF_UNKNOWN] = {"unknown", TERM_DIM},
    };
    bool may_be_noise = row->status < DIFF_ADDED && !diff_is_change(row);
    if (may_be_noise)
        return (struct look){row->certainty == DIFF_NOISE ? "~" : "?", TERM_PLAIN};
    return looks[row->status];
}

static int diff_table(const struct term *term, const struct diff *diff) {
    struct table table = compared_table("change");
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        struct look look = look_of(row);
        table_cell(&table, look.color, "%s", look.mark);
        compared_cells(&table, term, row, metric_facts[diff->metric].unit, look.color, NULL);
    }
    return table_print(&table, term, "");
}

/* What a reader has to know before believing one side of a row. */
static void value_notes(const struct term *term, enum metric_unit unit, const char *name,
                        const char *side, const struct diff_value *value) {
    char least[AMOUNT_TEXT_BYTES], most[AMOUNT_TEXT_BYTES];
    char *unfit = value->unfit ? render_unfit(value->unfit) : NULL;
    if (value->unfit)
        fprintf(term->stream, "note: %s, %s: %s\n", name, side,
                unfit ? unfit : run_is_unfit(value->unfit));
    free(unfit);
    if (value->run && !value->known)
        fprintf(term->stream, "note: %s, %s: the number is not known\n", name, side);
    else if (value->least != value->most)
        fprintf(term->stream,
                "note: %s, %s: varies over %zu repeats, %s to %s; the median counts\n", name,
                side, value->repeats, amount_text(term, least, unit, value->least, false),
                amount_text(term, most, unit, value->most, false));
    if (value->instance_count > 1)
        fprintf(term->stream, "note: %s, %s: the worst of %zu instances counts, #%" PRIu32 "\n",
                name, side, value->instance_count, value->region->instance);
}

/* Whether the difference is one, where repeats differ. */
static int certainty_note(const struct term *term, enum metric_unit unit, const char *name,
                          const struct diff_row *row) {
    char low[AMOUNT_TEXT_BYTES], high[AMOUNT_TEXT_BYTES];
    char *words = compared_certainty(row);
    if (!words)
        return -ENOMEM;
    if (words[0] != '\0')
        fprintf(term->stream, "note: %s: %s", name, words);
    if (row->certainty == DIFF_SURE || row->certainty == DIFF_NOISE)
        fprintf(term->stream, "; 95 of 100 such differences are %s to %s",
                amount_text(term, low, unit, row->interval_low, true),
                amount_text(term, high, unit, row->interval_high, true));
    if (words[0] != '\0')
        fputc('\n', term->stream);
    free(words);
    return 0;
}

static int diff_notes(const struct term *term, const struct diff *diff) {
    enum metric_unit unit = metric_facts[diff->metric].unit;
    int r = 0;
    for (size_t i = 0; r == 0 && i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        char *name = render_row_name(row);
        if (!name)
            return -ENOMEM;
        value_notes(term, unit, name, "before", &row->before);
        value_notes(term, unit, name, "after", &row->after);
        r = certainty_note(term, unit, name, row);
        free(name);
    }
    return r;
}

static void change_cells(struct table *table, const struct term *term, enum metric_unit unit,
                         enum term_color color, int64_t before, int64_t after) {
    char text[AMOUNT_TEXT_BYTES];
    table_cell(table, color, "%s", amount_text(term, text, unit, after - before, true));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, before, false));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, after, false));
}

static void site_cells(struct table *table, const struct term *term, enum metric_unit unit,
                       const struct diff_site *site) {
    const char *mark = !site->in_before ? "[NEW] " : !site->in_after ? "[GONE] " : "";
    bool grew = site->after_bytes > site->before_bytes;
    const struct callsite *at = &site->site;
    change_cells(table, term, unit, grew ? TERM_RED : TERM_GREEN, site->before_bytes,
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

static int row_sites(const struct term *term, const struct diff_row *row, enum metric_unit unit,
                     size_t sites_max) {
    static const char *const heads[] = {"difference", "before", "after", "call site"};
    struct table table = table_new("rrrl");
    int64_t rest_before = 0;
    int64_t rest_after = 0;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    size_t shown = row->site_count > sites_max + 1 ? sites_max : row->site_count;
    for (size_t i = 0; i < row->site_count; i++) {
        if (i < shown) {
            site_cells(&table, term, unit, &row->sites[i]);
            continue;
        }
        rest_before += row->sites[i].before_bytes;
        rest_after += row->sites[i].after_bytes;
    }
    if (shown < row->site_count) {
        change_cells(&table, term, unit, TERM_DIM, rest_before, rest_after);
        table_cell(&table, TERM_DIM, "[%zu others]", row->site_count - shown);
    }
    change_cells(&table, term, unit, look_of(row).color, row->before.value, row->after.value);
    table_cell(&table, TERM_BOLD, "TOTAL");
    return table_print(&table, term, "  ");
}

static int row_tree(const struct term *term, const struct diff *diff,
                    const struct diff_row *row, const struct render_diff *options) {
    const struct metric_facts *facts = &metric_facts[diff->metric];
    struct outline outline;
    int r = outline_make(&row->tree, facts->tree, options->frames_max, &outline);
    if (r < 0)
        return r;
    r = render_tree_difference(term, &row->tree, options->by, &outline, facts->unit);
    outline_finish(&outline);
    return r;
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
    compared_mappings(term, row);
    return 0;
}

static int row_headline(const struct term *term, const struct diff *diff,
                        const struct diff_row *row, const struct render_diff *options) {
    const struct metric_facts *facts = &metric_facts[diff->metric];
    char text[AMOUNT_TEXT_BYTES];
    char *name = render_row_name(row);
    if (!name)
        return -ENOMEM;
    int64_t difference = diff_difference(row);
    const char *where = !row->explained ? "" : options->sites_max > 0 ? ", by call site" : "";
    fprintf(term->stream, "\n%s%s%s: ", term_on(term, TERM_BOLD), name,
            term_off(term, TERM_BOLD));
    amount_text(term, text, facts->unit, difference < 0 ? -difference : difference, false);
    if (diff->metric == METRIC_PEAK_ADDED)
        fprintf(term->stream, "%s %s at the peak%s\n", text, difference < 0 ? "less" : "more",
                where);
    else
        fprintf(term->stream, "%s, %s %s%s\n", facts->words, text,
                difference < 0 ? "less" : "more", where);
    free(name);
    return 0;
}

static int row_explanation(const struct term *term, const struct diff *diff,
                           const struct diff_row *row, const struct render_diff *options) {
    const struct metric_facts *facts = &metric_facts[diff->metric];
    if (!facts->has_tree)
        return 0;
    int r = row_headline(term, diff, row, options);
    if (r < 0)
        return r;
    if (row->explained && options->sites_max > 0)
        return row_sites(term, row, facts->unit, options->sites_max);
    if (row->explained)
        return row_tree(term, diff, row, options);
    fputs("  (call sites were not kept on both sides)\n", term->stream);
    return 0;
}

int render_diff_row(const struct term *term, const struct diff *diff,
                    const struct diff_row *row, const struct render_diff *options) {
    int r = 0;
    if (row->status == DIFF_WORSE || row->status == DIFF_BETTER)
        r = row_explanation(term, diff, row, options);
    if (r == 0 && diff->metric == METRIC_PEAK_ADDED && diff_mappings_changed(row))
        r = row_mappings(term, row);
    return r;
}

int render_diff_text(const struct term *term, const struct diff *diff,
                     const struct render_diff *options) {
    int r = diff_table(term, diff);
    if (r == 0)
        r = diff_notes(term, diff);
    for (size_t i = 0; r == 0 && i < diff->row_count; i++)
        r = render_diff_row(term, diff, &diff->rows[i], options);
    return r;
}
