/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_trend.c: a line that shows the shape, the commits at which it changed, and the newest
 * ones as a table.
 */
#include "render_trend.h"

#include "amount.h"
#include "csv.h"
#include "json.h"
#include "sparkline.h"
#include "table.h"
#include "textstream.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPARK_WIDTH  72
#define COMMIT_SHOWN 12
#define LABEL_BYTES  48

/* "deadbeef0123", with a + where files differed; "run 12" where no commit is known. */
static const char *commit_label(const struct trend_commit *commit, char ret_text[LABEL_BYTES]) {
    if (commit->commit[0] == '\0')
        snprintf(ret_text, LABEL_BYTES, "run %" PRId64, commit->run_id);
    else
        snprintf(ret_text, LABEL_BYTES, "%.*s%s", COMMIT_SHOWN, commit->commit,
                 commit->dirty ? "+" : "");
    return ret_text;
}

static const char *day_label(int64_t time_ns, char ret_text[LABEL_BYTES]) {
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm parts;
    if (time_ns <= 0 || !gmtime_r(&seconds, &parts) ||
        strftime(ret_text, LABEL_BYTES, "%Y-%m-%d", &parts) == 0)
        strcpy(ret_text, "");
    return ret_text;
}

/* The most of each column's share of the commits: a single high one is not lost. */
static void show_sparkline(const struct term *term, const struct trend *trend) {
    int64_t heights[SPARK_WIDTH];
    size_t columns = trend->count < SPARK_WIDTH ? trend->count : SPARK_WIDTH;
    int64_t least = trend->commits[0].value;
    int64_t most = least;
    for (size_t i = 0; i < columns; i++) {
        size_t begin = i * trend->count / columns;
        size_t end = (i + 1) * trend->count / columns;
        heights[i] = trend->commits[begin].value;
        for (size_t k = begin; k < end; k++)
            if (trend->commits[k].value > heights[i])
                heights[i] = trend->commits[k].value;
        least = heights[i] < least ? heights[i] : least;
        most = heights[i] > most ? heights[i] : most;
    }
    fprintf(term->stream, "  %s", term_on(term, TERM_DIM));
    sparkline_write(term->stream, heights, columns, least, most);
    fprintf(term->stream, "%s\n", term_off(term, TERM_DIM));
}

static void change_cell(struct table *table, const struct term *term, enum metric_unit unit,
                        int64_t before, int64_t after) {
    char text[AMOUNT_TEXT_BYTES];
    enum term_color color = after > before   ? TERM_RED
                            : after < before ? TERM_GREEN
                                             : TERM_PLAIN;
    table_cell(table, color, "%s", amount_text(term, text, unit, after - before, true));
}

static void ratio_cell(struct table *table, int64_t before, int64_t after) {
    if (before == 0)
        table_cell(table, TERM_PLAIN, "%s", after == 0 ? "1.00" : "inf");
    else
        table_cell(table, TERM_PLAIN, "%.2f", (double)after / (double)before);
}

static void heads(struct table *table, const char *const *names) {
    for (; *names; names++)
        table_cell(table, TERM_DIM, "%s", *names);
}

static void step_cells(struct table *table, const struct term *term, enum metric_unit unit,
                       const struct trend_commit *commit) {
    char text[AMOUNT_TEXT_BYTES], label[LABEL_BYTES];
    int64_t before = commit->level_before;
    int64_t after = commit->level_after;
    table_cell(table, TERM_BOLD, "%s", commit_label(commit, label));
    table_cell(table, TERM_DIM, "%s", day_label(commit->time_ns, label));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, before, false));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, after, false));
    change_cell(table, term, unit, before, after);
    ratio_cell(table, before, after);
}

/* The newest @last of them. */
static int steps_table(const struct term *term, const struct trend *trend, size_t last,
                       enum metric_unit unit) {
    static const char *const names[] = {"first commit", "day",   "before", "after",
                                        "change",       "ratio", NULL};
    struct table table = table_new("llrrrr");
    size_t left_out = trend->step_count > last ? trend->step_count - last : 0;
    size_t seen = 0;
    heads(&table, names);
    for (size_t i = 0; i < trend->count; i++)
        if (trend->commits[i].is_step && seen++ >= left_out)
            step_cells(&table, term, unit, &trend->commits[i]);
    if (left_out > 0)
        fprintf(term->stream, "  %zu older step%s left out (--last)\n", left_out,
                left_out == 1 ? "" : "s");
    return table_print(&table, term, "  ");
}

static void spread_cell(struct table *table, const struct term *term, enum metric_unit unit,
                        const struct trend_commit *commit) {
    char least[AMOUNT_TEXT_BYTES], most[AMOUNT_TEXT_BYTES];
    if (commit->repeats < 2)
        table_cell(table, TERM_PLAIN, "%s", "");
    else if (commit->least == commit->most)
        table_cell(table, TERM_DIM, "%zu runs, all the same", commit->repeats);
    else
        table_cell(table, TERM_DIM, "%zu runs, %s to %s", commit->repeats,
                   amount_text(term, least, unit, commit->least, false),
                   amount_text(term, most, unit, commit->most, false));
}

static int newest_table(const struct term *term, const struct trend *trend, size_t last,
                        enum metric_unit unit) {
    static const char *const names[] = {"commit", "day", "value", "change", "", NULL};
    char text[AMOUNT_TEXT_BYTES], label[LABEL_BYTES];
    struct table table = table_new("llrrl");
    heads(&table, names);
    for (size_t i = trend->count > last ? trend->count - last : 0; i < trend->count; i++) {
        const struct trend_commit *commit = &trend->commits[i];
        table_cell(&table, commit->is_step ? TERM_BOLD : TERM_PLAIN, "%s",
                   commit_label(commit, label));
        table_cell(&table, TERM_DIM, "%s", day_label(commit->time_ns, label));
        table_cell(&table, TERM_PLAIN, "%s",
                   amount_text(term, text, unit, commit->value, false));
        if (i > 0 && commit->value != commit[-1].value)
            change_cell(&table, term, unit, commit[-1].value, commit->value);
        else
            table_cell(&table, TERM_PLAIN, "%s", "");
        spread_cell(&table, term, unit, commit);
    }
    return table_print(&table, term, "  ");
}

/* "(format=binary, rows=20000)", "" without parameters; free() it. */
static char *params_text(const struct trend *trend) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    run_params_write(stream, trend->params, trend->param_count);
    return textstream_take(&text);
}

/* "votable.parse:parse(format=binary): heap added at the peak over 120 commits" */
static void headline(const struct term *term, const struct trend *trend,
                     const struct render_trend *options, char *name) {
    char least[AMOUNT_TEXT_BYTES], most[AMOUNT_TEXT_BYTES];
    enum metric_unit unit = metric_facts[options->metric].unit;
    int64_t low = trend->count > 0 ? trend->commits[0].value : 0;
    int64_t high = low;
    for (size_t i = 0; i < trend->count; i++) {
        low = trend->commits[i].value < low ? trend->commits[i].value : low;
        high = trend->commits[i].value > high ? trend->commits[i].value : high;
    }
    utf8_clean(name);
    fprintf(term->stream, "%s%s%s: %s over %zu commit%s", term_on(term, TERM_BOLD), name,
            term_off(term, TERM_BOLD), metric_facts[options->metric].words, trend->count,
            trend->count == 1 ? "" : "s");
    if (trend->count > 0)
        fprintf(term->stream, ", %s to %s", amount_text(term, least, unit, low, false),
                amount_text(term, most, unit, high, false));
    fputc('\n', term->stream);
}

static int series_text(const struct term *term, const struct trend *trend,
                       const struct render_trend *options) {
    enum metric_unit unit = metric_facts[options->metric].unit;
    char *name = NULL;
    char *params = params_text(trend);
    int length =
        params ? asprintf(&name, "%s:%s%s", options->benchmark, options->region, params) : -1;
    free(params);
    if (length < 0)
        return -ENOMEM;
    headline(term, trend, options, name);
    free(name);
    if (trend->left_out > 0)
        fprintf(term->stream,
                "  note: %zu run%s left out: not whole, or the number is not known\n",
                trend->left_out, trend->left_out == 1 ? "" : "s");
    if (trend->count == 0)
        return 0;
    if (term->blocks)
        show_sparkline(term, trend);
    int r = 0;
    if (trend->step_count > 0)
        r = steps_table(term, trend, options->last, unit);
    else
        fprintf(term->stream, "  no step%s\n",
                trend->varies ? ": what varies may be noise" : ": the same to the byte");
    if (r == 0)
        r = newest_table(term, trend, options->last, unit);
    return r;
}

int render_trend_text(const struct term *term, const struct trend *trends, size_t count,
                      const struct render_trend *options) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc('\n', term->stream);
        int r = series_text(term, &trends[i], options);
        if (r < 0)
            return r;
    }
    return 0;
}

static void write_commit(struct json *json, const struct trend_commit *commit) {
    json_begin(json, NULL, '{');
    if (commit->commit[0] != '\0')
        json_text(json, "commit", commit->commit);
    else
        json_null(json, "commit");
    json_bool(json, "dirty", commit->dirty);
    json_int(json, "run", commit->run_id);
    json_int(json, "time_ns", commit->time_ns);
    json_int(json, "value", commit->value);
    json_int(json, "least", commit->least);
    json_int(json, "most", commit->most);
    json_int(json, "repeats", (int64_t)commit->repeats);
    json_bool(json, "step", commit->is_step);
    if (commit->is_step) {
        json_int(json, "level_before", commit->level_before);
        json_int(json, "level_after", commit->level_after);
    }
    json_end(json, '}');
}

int render_trend_json(FILE *stream, const struct trend *trends, size_t count,
                      const struct render_trend *options) {
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '{');
    json_text(&json, "benchmark", options->benchmark);
    json_text(&json, "region", options->region);
    json_text(&json, "metric", metric_facts[options->metric].name);
    json_begin(&json, "series", '[');
    for (size_t i = 0; i < count; i++) {
        json_begin(&json, NULL, '{');
        json_begin(&json, "parameters", '{');
        for (size_t k = 0; k < trends[i].param_count; k++)
            json_text(&json, trends[i].params[k].key, trends[i].params[k].value);
        json_end(&json, '}');
        json_bool(&json, "varies", trends[i].varies);
        json_int(&json, "runs_left_out", (int64_t)trends[i].left_out);
        json_begin(&json, "commits", '[');
        for (size_t k = 0; k < trends[i].count; k++)
            write_commit(&json, &trends[i].commits[k]);
        json_end(&json, ']');
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    return ferror(stream) ? -EIO : 0;
}

int render_trend_csv(FILE *stream, const struct trend *trends, size_t count,
                     const struct render_trend *options) {
    static const char *const names[] = {"benchmark", "parameters", "region", "metric",
                                        "commit",    "time_ns",    "value",  "least",
                                        "most",      "repeats",    "step"};
    struct csv csv = {.stream = stream};
    csv_header(&csv, names, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < count; i++) {
        char *params = params_text(&trends[i]);
        csv.failed |= !params;
        for (size_t k = 0; params && k < trends[i].count; k++) {
            const struct trend_commit *commit = &trends[i].commits[k];
            const int64_t numbers[] = {
                commit->time_ns,          commit->value,  commit->least, commit->most,
                (int64_t)commit->repeats, commit->is_step};
            csv_text(&csv, options->benchmark);
            csv_text(&csv, params);
            csv_text(&csv, options->region);
            csv_text(&csv, metric_facts[options->metric].name);
            csv_text(&csv, commit->commit);
            for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
                csv_int(&csv, numbers[n]);
            csv_row_end(&csv);
        }
        free(params);
    }
    return csv_finish(&csv);
}
