/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff.c: list what each side measured, sort both, walk them together.
 *
 * The call sites of a changed row are merged the same way. Their differences add up to the
 * row's own, because on each side they add up to its peak_added (profile_check() saw to it).
 */
#include "diff.h"

#include "vector.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One run's answer for one region: the raw material of a row. */
struct measurement {
    const struct run *run;
    const struct profile_region *region;
    size_t instance_count;
    int64_t peak_added;
    int64_t map_anon; /* of whatever instance added most of it, likewise combined */
    int64_t combined;
    bool only_region;
};

static int64_t peak_added(const struct profile_region *region) {
    return profile_peak_added(&region->totals[TRACE_HEAP]);
}

static int64_t map_anon_added(const struct profile_region *region) {
    return profile_peak_added(&region->totals[TRACE_MAP_ANON]);
}

static int64_t combined_added(const struct profile_region *region) {
    return (int64_t)((uint64_t)region->combined_peak_bytes -
                     (uint64_t)region->combined_start_bytes);
}

static bool has_marked_regions(const struct profile *profile) {
    return profile->region_count > 1;
}

/* Put the worst instance of each region name of @run into @list. */
static int measurements_add(const struct run *run, bool with_process, struct vector *list) {
    const struct profile *profile = &run->profile;
    size_t own = list->count;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        if (i == 0 && has_marked_regions(profile) && !with_process)
            continue;
        struct measurement *known = list->items;
        size_t at = own;
        while (at < list->count && strcmp(known[at].region->name, region->name) != 0)
            at++;
        struct measurement *m = at < list->count ? &known[at] : vector_add(list);
        if (!m)
            return -ENOMEM;
        bool is_first = m->instance_count++ == 0;
        if (is_first || map_anon_added(region) > m->map_anon)
            m->map_anon = map_anon_added(region);
        if (is_first || combined_added(region) > m->combined)
            m->combined = combined_added(region);
        if (m->region && peak_added(region) <= m->peak_added)
            continue;
        m->run = run;
        m->region = region;
        m->peak_added = peak_added(region);
    }
    struct measurement *added = list->items;
    for (size_t i = own; i < list->count; i++)
        added[i].only_region = list->count - own == 1;
    return 0;
}

/* What belongs to one row: benchmark and region; the regions of a benchmark stay together. */
static int compare_row(const struct measurement *a, const struct measurement *b) {
    int order = run_compare_benchmark(a->run, b->run);
    return order != 0 ? order : strcmp(a->region->name, b->region->name);
}

static int compare_measurements(const void *a, const void *b) {
    const struct measurement *left = a;
    const struct measurement *right = b;
    int order = compare_row(left, right);
    if (order != 0)
        return order;
    if (left->peak_added != right->peak_added)
        return left->peak_added < right->peak_added ? -1 : 1;
    return left->run->id < right->run->id ? -1 : left->run->id > right->run->id;
}

static int measurements_list(const struct run *runs, size_t count, bool with_process,
                             struct vector *ret_list) {
    for (size_t i = 0; i < count; i++) {
        int r = measurements_add(&runs[i], with_process, ret_list);
        if (r < 0)
            return r;
    }
    if (ret_list->count > 0)
        qsort(ret_list->items, ret_list->count, sizeof(struct measurement),
              compare_measurements);
    return 0;
}

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
static struct diff_value value_take(const struct vector *list, size_t *at) {
    const struct measurement *all = list->items;
    const struct measurement *first = &all[*at];
    size_t repeats = 0;
    const struct run *unfit = NULL;
    while (*at < list->count && compare_row(first, &all[*at]) == 0) {
        if (!unfit && run_is_unfit(all[*at].run))
            unfit = all[*at].run;
        repeats++;
        ++*at;
    }
    const struct measurement *median = first + (repeats - 1) / 2;
    return (struct diff_value){
        .run = median->run,
        .region = median->region,
        .instance_count = median->instance_count,
        .repeats = repeats,
        .peak_added = median->peak_added,
        .least = first->peak_added,
        .most = first[repeats - 1].peak_added,
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
    if (row->after.peak_added == row->before.peak_added)
        return DIFF_SAME;
    return row->after.peak_added > row->before.peak_added ? DIFF_WORSE : DIFF_BETTER;
}

static double ratio_of(const struct diff_row *row) {
    if (!row->before.run || !row->after.run)
        return (double)NAN;
    if (row->before.peak_added == row->after.peak_added)
        return 1.0;
    return row->before.peak_added == 0
               ? (double)INFINITY
               : (double)row->after.peak_added / (double)row->before.peak_added;
}

static int64_t magnitude(const struct diff_site *site) {
    int64_t difference = site->after_bytes - site->before_bytes;
    return difference < 0 ? -difference : difference;
}

static int compare_sites(const void *a, const void *b) {
    int64_t left = magnitude(a);
    int64_t right = magnitude(b);
    if (left != right)
        return left > right ? -1 : 1;
    return callsite_compare(&((const struct diff_site *)a)->site,
                            &((const struct diff_site *)b)->site);
}

static size_t sites_merge(const struct callsite_list *before, const struct callsite_list *after,
                          struct diff_site *sites) {
    size_t b = 0;
    size_t a = 0;
    size_t count = 0;
    while (b < before->count || a < after->count) {
        int order = b == before->count  ? 1
                    : a == after->count ? -1
                                        : callsite_compare(&before->items[b], &after->items[a]);
        struct diff_site site = {.in_before = order <= 0, .in_after = order >= 0};
        if (site.in_before) {
            site.site = before->items[b++];
            site.before_bytes = site.site.peak.bytes - site.site.start.bytes;
        }
        if (site.in_after) {
            site.site = after->items[a++];
            site.after_bytes = site.site.peak.bytes - site.site.start.bytes;
        }
        if (site.before_bytes != site.after_bytes)
            sites[count++] = site;
    }
    return count;
}

static bool site_is_on_one_side(const struct diff_site *site) {
    return site->in_before != site->in_after;
}

/* Sites on one side only come first, by what joins them; of those the new ones. */
static int compare_one_sided(const struct diff_site *left, const struct diff_site *right,
                             int (*key)(const struct callsite *, const struct callsite *)) {
    if (site_is_on_one_side(left) != site_is_on_one_side(right))
        return site_is_on_one_side(left) ? -1 : 1;
    int order = key(&left->site, &right->site);
    if (order == 0)
        order = right->in_after - left->in_after;
    return order != 0 ? order : compare_sites(left, right);
}

static int compare_by_telling(const void *a, const void *b) {
    return compare_one_sided(a, b, callsite_compare_telling);
}

static int compare_by_function(const void *a, const void *b) {
    return compare_one_sided(a, b, callsite_compare_function);
}

/* Has @list one function of the name of @site's, and not several in different files? */
static bool function_is_unique(const struct callsite_list *list, const struct callsite *site) {
    const struct callsite *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (callsite_compare_function(&list->items[i], site) != 0)
            continue;
        if (first && callsite_compare_telling(first, &list->items[i]) != 0)
            return false;
        first = &list->items[i];
    }
    return first && first->node != 0 &&
           callsite_frame(first->profile, first->node)->function[0] != '\0';
}

/*
 * A function that is reached another way than before is one that moved, not one gone and one
 * new: what no whole stack matched is matched by the telling frame, and then, as files get other
 * names, by the function's name, when neither side has another of that name.
 */
struct join {
    int (*order)(const void *, const void *);
    int (*key)(const struct callsite *, const struct callsite *);
    bool must_be_unique;
};

static const struct join joins[] = {
    {compare_by_telling, callsite_compare_telling, false},
    {compare_by_function, callsite_compare_function, true},
};

/* What [begin, end) is as one site. */
static struct diff_site site_of_group(const struct diff_site *begin,
                                      const struct diff_site *end) {
    struct diff_site joined = *begin;
    for (const struct diff_site *site = begin + 1; site < end; site++) {
        joined.in_before |= site->in_before;
        joined.in_after |= site->in_after;
        joined.before_bytes += site->before_bytes;
        joined.after_bytes += site->after_bytes;
    }
    return joined;
}

static size_t sites_join(struct diff_site *sites, size_t count, const struct join *join,
                         const struct callsite_list *before,
                         const struct callsite_list *after) {
    size_t kept = 0;
    qsort(sites, count, sizeof(*sites), join->order);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && site_is_on_one_side(&sites[i]) &&
               site_is_on_one_side(&sites[end]) &&
               join->key(&sites[i].site, &sites[end].site) == 0)
            end++;
        struct diff_site joined = site_of_group(&sites[i], &sites[end]);
        bool joins_sides = end > i + 1 && joined.in_before && joined.in_after;
        if (joins_sides && join->must_be_unique)
            joins_sides = function_is_unique(before, &joined.site) &&
                          function_is_unique(after, &joined.site);
        if (joins_sides) {
            if (joined.before_bytes != joined.after_bytes)
                sites[kept++] = joined;
            i = end;
        }
        while (i < end)
            sites[kept++] = sites[i++];
    }
    return kept;
}

static int row_explain(struct diff_row *row) {
    struct callsite_list before = {0};
    struct callsite_list after = {0};
    const struct profile *old = &row->before.run->profile;
    const struct profile *new = &row->after.run->profile;
    row->explained = row->before.region->has_rows && row->after.region->has_rows;
    if (!row->explained || row->status == DIFF_SAME)
        return 0;
    int r = callsite_vague_modules(old, new, &row->vague_before);
    if (r == 0)
        r = callsite_vague_modules(new, old, &row->vague_after);
    if (r == 0)
        r = callsite_collect_comparable(old, row->vague_before, row->before.region, TRACE_HEAP,
                                        &before);
    if (r == 0)
        r = callsite_collect_comparable(new, row->vague_after, row->after.region, TRACE_HEAP,
                                        &after);
    if (r == 0) {
        row->sites = calloc(before.count + after.count + 1, sizeof(*row->sites));
        r = row->sites ? 0 : -ENOMEM;
    }
    if (r == 0) {
        row->site_count = sites_merge(&before, &after, row->sites);
        for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++)
            row->site_count =
                sites_join(row->sites, row->site_count, &joins[i], &before, &after);
        qsort(row->sites, row->site_count, sizeof(*row->sites), compare_sites);
    }
    free(before.items);
    free(after.items);
    return r;
}

static int compare_rows(const void *a, const void *b) {
    const struct diff_row *left = a;
    const struct diff_row *right = b;
    if (left->status != right->status)
        return left->status < right->status ? -1 : 1;
    int order = run_compare_benchmark(left->benchmark, right->benchmark);
    return order != 0 ? order : strcmp(left->region, right->region);
}

static int row_next(const struct vector *before, size_t *b, const struct vector *after,
                    size_t *a, struct diff_row *ret_row) {
    const struct measurement *old = before->items;
    const struct measurement *new = after->items;
    int order = *b == before->count  ? 1
                : *a == after->count ? -1
                                     : compare_row(&old[*b], &new[*a]);
    const struct measurement *named = order <= 0 ? &old[*b] : &new[*a];
    struct diff_row row = {
        .benchmark = named->run,
        .region = named->region->name,
        .only_region = (order > 0 || old[*b].only_region) && (order < 0 || new[*a].only_region),
    };
    if (order <= 0)
        row.before = value_take(before, b);
    if (order >= 0)
        row.after = value_take(after, a);
    row.status = status_of(&row);
    row.ratio = ratio_of(&row);
    int r = order == 0 ? row_explain(&row) : 0;
    *ret_row = row;
    return r;
}

int diff_compare(const struct run *before, size_t before_count, const struct run *after,
                 size_t after_count, bool with_process, struct diff *ret_diff) {
    struct vector old = VECTOR_OF(struct measurement);
    struct vector new = VECTOR_OF(struct measurement);
    struct diff diff = {0};
    size_t b = 0;
    size_t a = 0;
    int r = measurements_list(before, before_count, with_process, &old);
    if (r == 0)
        r = measurements_list(after, after_count, with_process, &new);
    if (r == 0) {
        diff.rows = calloc(old.count + new.count + 1, sizeof(*diff.rows));
        r = diff.rows ? 0 : -ENOMEM;
    }
    while (r == 0 && (b < old.count || a < new.count)) {
        struct diff_row *row = &diff.rows[diff.row_count];
        r = row_next(&old, &b, &new, &a, row);
        diff.row_count++;
        diff.common_count += row->before.run && row->after.run;
    }
    vector_finish(&old);
    vector_finish(&new);
    if (r < 0) {
        diff_finish(&diff);
        return r;
    }
    qsort(diff.rows, diff.row_count, sizeof(*diff.rows), compare_rows);
    *ret_diff = diff;
    return 0;
}

bool diff_mappings_changed(const struct diff_row *row) {
    return row->before.run && row->after.run && row->before.map_anon != row->after.map_anon;
}

void diff_finish(struct diff *diff) {
    for (size_t i = 0; i < diff->row_count; i++) {
        free(diff->rows[i].sites);
        free(diff->rows[i].vague_before);
        free(diff->rows[i].vague_after);
    }
    free(diff->rows);
    *diff = (struct diff){0};
}
