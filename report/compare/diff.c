/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff.c: list what each side measured, both in one order, walk them together.
 *
 * A row that changed is explained by its call sites (diff_sites.c) and by the tree of calls.
 * Both add up to its own difference, which is asserted.
 */
#include "diff.h"

#include "diff_sites.h"
#include "measurement.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One call of diff_compare_by(). */
struct comparing {
    const struct diff_settings *settings;
    struct vector before; /* struct measurement */
    struct vector after;
    int64_t *samples; /* where the next row's go */
};

static int64_t map_anon_of(const struct measurement *m) {
    return m->map_anon;
}

static int64_t combined_of(const struct measurement *m) {
    return m->combined;
}

/* The lower median of @number over @count repeats, which are in the order of another one. */
static int64_t median_of(const struct measurement *repeats, size_t count,
                         int64_t (*number)(const struct measurement *)) {
    for (size_t i = 0; i < count; i++) {
        size_t less = 0;
        size_t equal = 0;
        for (size_t j = 0; j < count; j++) {
            less += number(&repeats[j]) < number(&repeats[i]);
            equal += number(&repeats[j]) == number(&repeats[i]);
        }
        if (less <= (count - 1) / 2 && (count - 1) / 2 < less + equal)
            return number(&repeats[i]);
    }
    return number(repeats); /* not reached: one of them is the median */
}

/* The repeats of one row stand together from @at on, by size; take them as one value. */
static struct diff_value value_take(struct comparing *c, const struct vector *list,
                                    size_t *at) {
    const struct measurement *all = list->items;
    const struct measurement *first = &all[*at];
    size_t repeats = 0;
    const struct run *unfit = NULL;
    int64_t *sample = c->samples;
    while (*at < list->count && measurement_compare_row(first, &all[*at]) == 0) {
        if (!unfit && run_is_unfit(all[*at].run))
            unfit = all[*at].run;
        *c->samples++ = all[*at].value;
        repeats++;
        ++*at;
    }
    const struct measurement *median = first + (repeats - 1) / 2;
    return (struct diff_value){
        .run = median->run,
        .region = median->region,
        .instance_count = median->instance_count,
        .repeats = repeats,
        .known = first->known, /* unknown ones come first */
        .value = median->value,
        .peak_added = profile_peak_added(&median->region->totals[TRACE_HEAP]),
        .least = first->value,
        .most = first[repeats - 1].value,
        .sample = {sample, repeats},
        .map_anon = median_of(first, repeats, map_anon_of),
        .combined = median_of(first, repeats, combined_of),
        .unfit = unfit,
    };
}

static enum diff_status status_of(const struct diff_row *row) {
    if (!row->before.run)
        return DIFF_ADDED;
    if (!row->after.run)
        return DIFF_REMOVED;
    if (!row->before.known || !row->after.known)
        return DIFF_UNKNOWN;
    if (row->after.value == row->before.value)
        return DIFF_SAME;
    return row->after.value > row->before.value ? DIFF_WORSE : DIFF_BETTER;
}

static double ratio_of(const struct diff_row *row) {
    if (!diff_is_common(row))
        return (double)NAN;
    if (row->before.value == row->after.value)
        return 1.0;
    return row->before.value == 0 ? (double)INFINITY
                                  : (double)row->after.value / (double)row->before.value;
}

static bool value_varies(const struct diff_value *value) {
    return value->least != value->most;
}

/* What the repeats say, where they do not all say the same. */
static void certainty_find(struct diff_row *row, enum metric metric) {
    const struct statistics_sample *before = &row->before.sample;
    const struct statistics_sample *after = &row->after.sample;
    row->certainty = DIFF_EXACT;
    if (!diff_is_common(row) || (!metric_facts[metric].varies && !value_varies(&row->before) &&
                                 !value_varies(&row->after)))
        return;
    row->p = statistics_p(before, after);
    statistics_interval(before, after, &row->interval_low, &row->interval_high);
    row->need = statistics_need(before, after);
    row->certainty = row->p < STATISTICS_ALPHA ? DIFF_SURE : DIFF_NOISE;
    if (row->certainty == DIFF_NOISE && (before->count < statistics_least_repeats() ||
                                         after->count < statistics_least_repeats()))
        row->certainty = DIFF_TOO_FEW;
}

static int tree_build(struct diff_row *row, const struct diff_settings *settings) {
    const struct metric_facts *facts = &metric_facts[settings->metric];
    const struct calltree_source sources[CALLTREE_SIDES] = {
        [CALLTREE_BEFORE] = {&row->before.run->profile, row->before.region},
        [CALLTREE_AFTER] = {&row->after.run->profile, row->after.region},
    };
    const struct calltree_settings tree = {
        .by = settings->by,
        .space = facts->space,
        .fold_helpers = settings->by != CALLTREE_BY_MODULE,
    };
    int r = calltree_build(sources, &tree, &row->tree);
    if (r < 0)
        return r;
    calltree_sort(&row->tree, facts->tree);
    assert(calltree_difference(&row->tree.nodes[0], facts->tree) == diff_difference(row));
    return 0;
}

static int row_explain(struct diff_row *row, const struct diff_settings *settings) {
    row->explained = metric_facts[settings->metric].has_tree && diff_is_common(row) &&
                     row->before.region->has_rows && row->after.region->has_rows;
    if (!row->explained || row->status == DIFF_SAME)
        return 0;
    int r = diff_sites_find(row, settings->metric);
    return r < 0 ? r : tree_build(row, settings);
}

/* Changes, then what may be noise, then what has no other side. */
static int place_of(const struct diff_row *row) {
    bool is_noise = row->status < DIFF_ADDED && !diff_is_change(row);
    return is_noise ? (int)DIFF_ADDED * 2 - 1 : (int)row->status * 2;
}

static int compare_rows(const void *a, const void *b) {
    const struct diff_row *left = a;
    const struct diff_row *right = b;
    if (place_of(left) != place_of(right))
        return place_of(left) < place_of(right) ? -1 : 1;
    int order = run_compare_benchmark(left->benchmark, right->benchmark);
    return order != 0 ? order : strcmp(left->region, right->region);
}

static int row_next(struct comparing *c, size_t *b, size_t *a, struct diff_row *ret_row) {
    const struct measurement *old = c->before.items;
    const struct measurement *new = c->after.items;
    int order = *b == c->before.count  ? 1
                : *a == c->after.count ? -1
                                       : measurement_compare_row(&old[*b], &new[*a]);
    const struct measurement *named = order <= 0 ? &old[*b] : &new[*a];
    *ret_row = (struct diff_row){
        .benchmark = named->run,
        .region = named->region->name,
        .only_region = (order > 0 || old[*b].only_region) && (order < 0 || new[*a].only_region),
    };
    if (order <= 0)
        ret_row->before = value_take(c, &c->before, b);
    if (order >= 0)
        ret_row->after = value_take(c, &c->after, a);
    ret_row->status = status_of(ret_row);
    ret_row->ratio = ratio_of(ret_row);
    certainty_find(ret_row, c->settings->metric);
    return row_explain(ret_row, c->settings);
}

static int rows_fill(struct comparing *c, struct diff *diff) {
    size_t count = c->before.count + c->after.count;
    size_t b = 0;
    size_t a = 0;
    diff->rows = calloc(count + 1, sizeof(*diff->rows));
    diff->samples = calloc(count + 1, sizeof(*diff->samples));
    if (!diff->rows || !diff->samples)
        return -ENOMEM;
    c->samples = diff->samples;
    while (b < c->before.count || a < c->after.count) {
        struct diff_row *row = &diff->rows[diff->row_count++];
        int r = row_next(c, &b, &a, row);
        if (r < 0)
            return r;
        diff->common_count += row->before.run && row->after.run;
    }
    qsort(diff->rows, diff->row_count, sizeof(*diff->rows), compare_rows);
    return 0;
}

int diff_compare_by(const struct run *before, size_t before_count, const struct run *after,
                    size_t after_count, const struct diff_settings *settings,
                    struct diff *ret_diff) {
    struct comparing c = {
        .settings = settings,
        .before = VECTOR_OF(struct measurement),
        .after = VECTOR_OF(struct measurement),
    };
    struct diff diff = {.metric = settings->metric};
    int r = measurements_list(before, before_count, settings->metric, settings->with_process,
                              &c.before);
    if (r == 0)
        r = measurements_list(after, after_count, settings->metric, settings->with_process,
                              &c.after);
    if (r == 0)
        r = rows_fill(&c, &diff);
    vector_finish(&c.before);
    vector_finish(&c.after);
    if (r < 0)
        diff_finish(&diff);
    else
        *ret_diff = diff;
    return r;
}

int diff_compare(const struct run *before, size_t before_count, const struct run *after,
                 size_t after_count, bool with_process, struct diff *ret_diff) {
    const struct diff_settings settings = {.with_process = with_process};
    return diff_compare_by(before, before_count, after, after_count, &settings, ret_diff);
}

bool diff_is_common(const struct diff_row *row) {
    return row->before.run && row->after.run && row->before.known && row->after.known;
}

int64_t diff_difference(const struct diff_row *row) {
    return (int64_t)((uint64_t)row->after.value - (uint64_t)row->before.value);
}

bool diff_is_change(const struct diff_row *row) {
    return (row->status == DIFF_WORSE || row->status == DIFF_BETTER) &&
           (row->certainty == DIFF_EXACT || row->certainty == DIFF_SURE);
}

bool diff_mappings_changed(const struct diff_row *row) {
    return row->before.run && row->after.run && row->before.map_anon != row->after.map_anon;
}

void diff_finish(struct diff *diff) {
    for (size_t i = 0; diff->rows && i < diff->row_count; i++) {
        free(diff->rows[i].sites);
        free(diff->rows[i].vague_before);
        free(diff->rows[i].vague_after);
        calltree_finish(&diff->rows[i].tree);
    }
    free(diff->rows);
    free(diff->samples);
    *diff = (struct diff){0};
}
