/* SPDX-License-Identifier: BSD-3-Clause */
/* trend.c: sort the runs by commit, take each commit together, look for steps. */
#include "trend.h"

#include "statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_LEAST 3 /* values on either side of a step */

/* One series while it is made. */
struct series {
    struct arena *arena;
    struct store_trend_point *points; /* fit and known, by commit, then by run */
    size_t count;
    int64_t *values; /* theirs, sorted within each commit */
    size_t *begins;  /* of each commit in values; commit_count + 1 */
    struct trend trend;
};

enum store_trend_value trend_value(enum metric metric) {
    static const enum store_trend_value values[METRICS] = {
        [METRIC_PEAK_ADDED] = STORE_TREND_PEAK_ADDED,
        [METRIC_LIVE_END] = STORE_TREND_LIVE_END,
        [METRIC_TOTAL] = STORE_TREND_TOTAL,
        [METRIC_COUNT] = STORE_TREND_COUNT,
        [METRIC_PEAK_MAP] = STORE_TREND_PEAK_MAP,
        [METRIC_COMBINED] = STORE_TREND_COMBINED,
        [METRIC_RSS] = STORE_TREND_RSS,
        [METRIC_TIME] = STORE_TREND_TIME,
    };
    return values[metric];
}

static bool is_same_commit(const struct store_trend_point *a,
                           const struct store_trend_point *b) {
    return a->commit[0] != '\0' && strcmp(a->commit, b->commit) == 0 && a->dirty == b->dirty;
}

/* Runs of one commit together; what has none by itself. */
static int compare_commits(const void *a, const void *b) {
    const struct store_trend_point *left = a;
    const struct store_trend_point *right = b;
    int order = strcmp(left->commit, right->commit);
    if (order == 0)
        order = left->dirty - right->dirty;
    return order != 0 ? order : (left->run_id > right->run_id) - (left->run_id < right->run_id);
}

/* A commit's place: its time where all have one, else the run that measured it first. */
struct place {
    size_t begin, end; /* in the points, sorted by commit */
    int64_t commit_ns;
    int64_t run_id;
    bool by_time;
};

static int compare_places(const void *a, const void *b) {
    const struct place *left = a;
    const struct place *right = b;
    if (left->by_time && left->commit_ns != right->commit_ns)
        return left->commit_ns < right->commit_ns ? -1 : 1;
    return (left->run_id > right->run_id) - (left->run_id < right->run_id);
}

static size_t places_find(const struct series *s, struct place *places) {
    size_t count = 0;
    bool by_time = true;
    for (size_t i = 0; i < s->count; i++) {
        bool goes_on = i > 0 && is_same_commit(&s->points[i - 1], &s->points[i]);
        if (goes_on) {
            places[count - 1].end = i + 1;
            continue;
        }
        const struct store_trend_point *point = &s->points[i];
        places[count++] = (struct place){i, i + 1, point->commit_ns, point->run_id, false};
        by_time &= point->commit_ns > 0;
    }
    for (size_t i = 0; i < count; i++)
        places[i].by_time = by_time;
    qsort(places, count, sizeof(*places), compare_places);
    return count;
}

static void commit_take(struct series *s, const struct place *place, size_t at) {
    const struct store_trend_point *first = &s->points[place->begin];
    struct statistics_sample sample = {s->values + s->begins[at], place->end - place->begin};
    int64_t *values = s->values + s->begins[at];
    for (size_t i = 0; i < sample.count; i++)
        values[i] = s->points[place->begin + i].value;
    statistics_sort(values, sample.count);
    s->begins[at + 1] = s->begins[at] + sample.count;
    s->trend.commits[at] = (struct trend_commit){
        .commit = first->commit,
        .run_id = first->run_id,
        .time_ns = first->commit_ns > 0 ? first->commit_ns : first->start_ns,
        .dirty = first->dirty,
        .repeats = sample.count,
        .value = statistics_median(&sample),
        .least = values[0],
        .most = values[sample.count - 1],
    };
}

static int commits_take(struct series *s) {
    struct place *places = calloc(s->count + 1, sizeof(*places));
    if (!places)
        return -ENOMEM;
    if (s->count > 0)
        qsort(s->points, s->count, sizeof(*s->points), compare_commits);
    s->trend.count = places_find(s, places);
    for (size_t i = 0; i < s->trend.count; i++)
        commit_take(s, &places[i], i);
    free(places);
    return 0;
}

static void step_set(struct series *s, size_t at) {
    s->trend.commits[at].is_step = true;
    s->trend.step_count++;
}

static void steps_exact(struct series *s) {
    for (size_t i = 1; i < s->trend.count; i++)
        if (s->trend.commits[i].value != s->trend.commits[i - 1].value)
            step_set(s, i);
}

/* The commit that begins next to value @at, between @first and @end, which it is not. */
static size_t nearest_begin(const struct series *s, size_t first, size_t end, size_t at) {
    size_t best = first + 1;
    for (size_t i = first + 1; i < end; i++) {
        size_t distance = s->begins[i] > at ? s->begins[i] - at : at - s->begins[i];
        size_t least = s->begins[best] > at ? s->begins[best] - at : at - s->begins[best];
        if (distance < least)
            best = i;
    }
    return best;
}

/* The values of commits [first, end), sorted; NULL when there is no memory. */
static int64_t *values_sorted(const struct series *s, size_t first, size_t end) {
    size_t count = s->begins[end] - s->begins[first];
    int64_t *copy = calloc(count + 1, sizeof(*copy));
    if (!copy)
        return NULL;
    memcpy(copy, s->values + s->begins[first], count * sizeof(*copy));
    statistics_sort(copy, count);
    return copy;
}

/* Do the commits on either side of @at differ by more than chance? */
static int step_holds(const struct series *s, size_t first, size_t at, size_t end,
                      bool *ret_holds) {
    int64_t *left = values_sorted(s, first, at);
    int64_t *right = values_sorted(s, at, end);
    struct statistics_sample before = {left, s->begins[at] - s->begins[first]};
    struct statistics_sample after = {right, s->begins[end] - s->begins[at]};
    int r = left && right ? 0 : -ENOMEM;
    *ret_holds = r == 0 && before.count >= SEGMENT_LEAST && after.count >= SEGMENT_LEAST &&
                 statistics_p(&before, &after) < TREND_ALPHA;
    free(left);
    free(right);
    return r;
}

struct stretch {
    size_t first, end; /* commits */
};

/* Split stretches at their strongest change while there is one. */
static int steps_by_statistics(struct series *s) {
    struct stretch *todo = calloc(s->trend.count + 1, sizeof(*todo));
    size_t count = 0;
    int r = todo ? 0 : -ENOMEM;
    if (r == 0)
        todo[count++] = (struct stretch){0, s->trend.count};
    while (r == 0 && count > 0) {
        struct stretch at = todo[--count];
        double p = 1;
        bool holds = false;
        if (at.end - at.first < 2)
            continue;
        size_t begin = s->begins[at.first];
        size_t change =
            statistics_change_point(s->values + begin, s->begins[at.end] - begin, &p);
        if (change == 0 || p >= TREND_ALPHA)
            continue;
        size_t step = nearest_begin(s, at.first, at.end, begin + change);
        r = step_holds(s, at.first, step, at.end, &holds);
        if (!holds)
            continue;
        step_set(s, step);
        todo[count++] = (struct stretch){at.first, step};
        todo[count++] = (struct stretch){step, at.end};
    }
    free(todo);
    return r;
}

/* The median of the commits between two steps, each with all its values. */
static int level_of(const struct series *s, size_t first, size_t end, int64_t *ret_level) {
    int64_t *values = values_sorted(s, first, end);
    struct statistics_sample sample = {values, s->begins[end] - s->begins[first]};
    if (!values)
        return -ENOMEM;
    *ret_level = statistics_median(&sample);
    free(values);
    return 0;
}

static int levels_find(struct series *s) {
    size_t first = 0;
    struct trend_commit *step = NULL;
    for (size_t i = 1; i <= s->trend.count; i++) {
        int64_t level;
        if (i < s->trend.count && !s->trend.commits[i].is_step)
            continue;
        int r = level_of(s, first, i, &level);
        if (r < 0)
            return r;
        if (step)
            step->level_after = level;
        if (i == s->trend.count)
            break;
        step = &s->trend.commits[i];
        step->level_before = level;
        first = i;
    }
    return 0;
}

static bool series_varies(const struct series *s, enum metric metric) {
    bool varies = metric_facts[metric].varies;
    for (size_t i = 0; i < s->trend.count; i++)
        varies |= s->trend.commits[i].least != s->trend.commits[i].most;
    return varies;
}

/* The points of one benchmark_id, of which those that count are moved to the front. */
static int series_make(struct store_trend_point *points, size_t count, enum metric metric,
                       struct arena *arena, struct trend *ret_trend) {
    struct series s = {.arena = arena, .points = points};
    s.trend.params = points[0].params;
    s.trend.param_count = points[0].param_count;
    for (size_t i = 0; i < count; i++) {
        if (points[i].known && !points[i].unfit)
            points[s.count++] = points[i];
        else
            s.trend.left_out++;
    }
    s.values = calloc(s.count + 1, sizeof(*s.values));
    s.begins = calloc(s.count + 2, sizeof(*s.begins));
    s.trend.commits = arena_array(arena, s.count, sizeof(*s.trend.commits));
    int r = s.values && s.begins && s.trend.commits ? commits_take(&s) : -ENOMEM;
    if (r == 0) {
        s.trend.varies = series_varies(&s, metric);
        if (s.trend.varies)
            r = steps_by_statistics(&s);
        else
            steps_exact(&s);
    }
    if (r == 0)
        r = levels_find(&s);
    free(s.values);
    free(s.begins);
    if (r == 0)
        *ret_trend = s.trend;
    return r;
}

int trend_make(const struct store_trend_point *points, size_t count, enum metric metric,
               struct arena *arena, struct trend **ret_trends, size_t *ret_count) {
    struct store_trend_point *copy = calloc(count + 1, sizeof(*copy));
    size_t series = 0;
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        series += i == 0 || points[i].benchmark_id != points[i - 1].benchmark_id;
    struct trend *trends = arena_array(arena, series, sizeof(*trends));
    int r = copy && trends ? 0 : -ENOMEM;
    if (r == 0 && count > 0)
        memcpy(copy, points, count * sizeof(*copy));
    for (size_t i = 0; r == 0 && i < count;) {
        size_t end = i + 1;
        while (end < count && points[end].benchmark_id == points[i].benchmark_id)
            end++;
        r = series_make(copy + i, end - i, metric, arena, &trends[made++]);
        i = end;
    }
    free(copy);
    if (r == 0) {
        *ret_trends = trends;
        *ret_count = series;
    }
    return r;
}
