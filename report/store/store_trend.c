/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_trend.c: from the benchmark to its runs, to their region by its name, to its totals:
 * each by an index, so that the number of other regions does not matter.
 */
#include "store_trend.h"

#include "store_reader.h"
#include "textstream.h"
#include "vector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of one instance; NULL: not known. */
static const struct {
    const char *sql;
    const char *space;
} values[] = {
    [STORE_TREND_PEAK_ADDED] = {"coalesce(live_peak-live_start,0)", "heap"},
    [STORE_TREND_LIVE_END] = {"coalesce(live_end,0)", "heap"},
    [STORE_TREND_TOTAL] = {"CASE WHEN region.open AND run.truncated THEN NULL "
                           "ELSE coalesce(allocated_bytes,0) END",
                           "heap"},
    [STORE_TREND_COUNT] = {"CASE WHEN region.open AND run.truncated THEN NULL "
                           "ELSE coalesce(allocations,0) END",
                           "heap"},
    [STORE_TREND_PEAK_MAP] = {"coalesce(live_peak-live_start,0)", "map_anon"},
    [STORE_TREND_COMBINED] = {"combined_peak-combined_start", "heap"},
    [STORE_TREND_RSS] = {"nullif(run.max_rss,0)", "heap"},
    [STORE_TREND_TIME] = {"CASE WHEN region.open THEN run.elapsed_ns ELSE end_ns END-begin_ns",
                          "heap"},
};

/* As run_is_unfit() has it. free() it. */
static char *unfit_sql(void) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    fputs("outcome='signaled' OR (outcome='exited' AND status<>0) OR "
          "trace_end IN ('killed','snapshot') OR truncated<>0 OR cut<>0",
          stream);
    for (enum profile_gap gap = 0; gap < PROFILE_GAPS; gap++)
        if (profile_gap_text(gap)->spoils_the_sums)
            fprintf(stream, " OR %s<>0", profile_gap_text(gap)->name);
    return textstream_take(&text);
}

/* free() it. */
static char *trend_sql(enum store_trend_value value) {
    char *text;
    char *unfit = unfit_sql();
    if (!unfit)
        return NULL;
    int length =
        asprintf(&text,
                 "SELECT run.id, benchmark_id, parameters, commit_hash, commit_ns, start_ns, "
                 "tree='dirty', %s, CASE WHEN count(%s)=count(*) THEN max(%s) END "
                 "FROM benchmark JOIN run ON benchmark_id=benchmark.id "
                 "JOIN region ON region.name=?2 AND run_id=run.id "
                 "LEFT JOIN region_total ON region_id=region.id AND space='%s' "
                 "WHERE benchmark.name=?1 AND (?3 IS NULL OR branch=?3) "
                 "GROUP BY benchmark_id, run.id ORDER BY benchmark_id, run.id",
                 unfit, values[value].sql, values[value].sql, values[value].space);
    free(unfit);
    return length < 0 ? NULL : text;
}

/* The parameters in @json, by @each; once for each benchmark. */
static int params_take(struct store_reader *reader, sqlite3_stmt *each, const char *json,
                       struct store_trend_point *point) {
    struct vector params = VECTOR_OF(struct run_param);
    int r = store_bind(reader->store, each, reader->fault, "t", json);
    while (r == 0 && (r = store_step(reader->store, each, reader->fault)) > 0) {
        struct run_param *param = vector_add(&params);
        if (param)
            *param = (struct run_param){store_text(reader->arena, each, 0),
                                        store_text(reader->arena, each, 1)};
        r = param && param->key && param->value ? 0 : store_no_memory(reader);
    }
    struct run_param *kept = arena_array(reader->arena, params.count, sizeof(*kept));
    if (r == 0 && !kept)
        r = store_no_memory(reader);
    if (r == 0 && params.count > 0)
        memcpy(kept, params.items, params.count * sizeof(*kept));
    point->params = kept;
    point->param_count = params.count;
    vector_finish(&params);
    return r;
}

static int point_take(struct store_reader *reader, sqlite3_stmt *s, sqlite3_stmt *each,
                      const struct store_trend_point *last, struct store_trend_point *point) {
    point->run_id = sqlite3_column_int64(s, 0);
    point->benchmark_id = sqlite3_column_int64(s, 1);
    if (last && last->benchmark_id == point->benchmark_id) {
        point->params = last->params;
        point->param_count = last->param_count;
    } else {
        const char *json = (const char *)sqlite3_column_text(s, 2);
        int r = params_take(reader, each, json ? json : "{}", point);
        if (r < 0)
            return r;
    }
    point->commit = store_text(reader->arena, s, 3);
    point->commit_ns = sqlite3_column_int64(s, 4);
    point->start_ns = sqlite3_column_int64(s, 5);
    point->dirty = sqlite3_column_int(s, 6) != 0;
    point->unfit = sqlite3_column_int(s, 7) != 0;
    point->known = sqlite3_column_type(s, 8) != SQLITE_NULL;
    point->value = sqlite3_column_int64(s, 8);
    return point->commit ? 0 : store_no_memory(reader);
}

static int points_keep(struct store_reader *reader, const struct vector *points,
                       struct store_trend_point **ret_points, size_t *ret_count) {
    struct store_trend_point *kept = arena_array(reader->arena, points->count, sizeof(*kept));
    if (!kept)
        return store_no_memory(reader);
    if (points->count > 0)
        memcpy(kept, points->items, points->count * sizeof(*kept));
    *ret_points = kept;
    *ret_count = points->count;
    return 0;
}

int store_trend(struct store *store, const char *name, const char *region, const char *branch,
                enum store_trend_value value, struct arena *arena,
                struct store_trend_point **ret_points, size_t *ret_count, struct fault *fault) {
    struct store_reader reader = {.store = store, .fault = fault, .arena = arena};
    struct vector points = VECTOR_OF(struct store_trend_point);
    sqlite3_stmt *s = NULL;
    sqlite3_stmt *each = NULL;
    char *sql = trend_sql(value);
    int r = sql ? store_prepare(store, sql, &s, fault) : store_no_memory(&reader);
    if (r == 0)
        r = store_prepare(store, "SELECT key, value FROM json_each(?1)", &each, fault);
    if (r == 0)
        r = store_bind(store, s, fault, "ttt", name, region, branch);
    while (r == 0 && (r = store_step(store, s, fault)) > 0) {
        struct store_trend_point *point = vector_add(&points);
        r = point ? point_take(&reader, s, each, points.count > 1 ? point - 1 : NULL, point)
                  : store_no_memory(&reader);
    }
    sqlite3_finalize(s);
    sqlite3_finalize(each);
    free(sql);
    if (r == 0)
        r = points_keep(&reader, &points, ret_points, ret_count);
    vector_finish(&points);
    return r;
}

int store_trend_region(struct store *store, const char *name, struct arena *arena,
                       const char **ret_region, struct fault *fault) {
    static const char sql[] = "SELECT headline_region FROM run JOIN benchmark ON "
                              "benchmark.id=benchmark_id WHERE name=?1 ORDER BY run.id DESC "
                              "LIMIT 1";
    struct store_reader reader = {.store = store, .fault = fault, .arena = arena};
    sqlite3_stmt *s = NULL;
    int r = store_prepare(store, sql, &s, fault);
    if (r == 0)
        r = store_bind(store, s, fault, "t", name);
    if (r == 0)
        r = store_step(store, s, fault);
    if (r == 0)
        r = fault_set(fault, -ENODATA, "there is no run of a benchmark named '%s'", name);
    if (r > 0) {
        *ret_region = store_text(arena, s, 0);
        r = *ret_region ? 0 : store_no_memory(&reader);
    }
    sqlite3_finalize(s);
    return r;
}
