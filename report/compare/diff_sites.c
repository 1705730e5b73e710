/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff_sites.c: the call sites of both sides of a row, walked together, then joined.
 *
 * Their differences add up to the row's own, because on each side they add up to its value
 * (profile_check() saw to it), and joining two never changes the sum.
 */
#include "diff_sites.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t callsite_value(const struct callsite *site, enum calltree_metric metric) {
    const int64_t values[CALLTREE_METRICS] = {
        [CALLTREE_PEAK_ADDED] = site->peak.bytes - site->start.bytes,
        [CALLTREE_NET] = site->end.bytes - site->start.bytes,
        [CALLTREE_LIVE_END] = site->end.bytes,
        [CALLTREE_TOTAL] = site->allocated.bytes,
        [CALLTREE_COUNT] = site->allocated.blocks,
        [CALLTREE_PEAK_BLOCKS] = site->peak.blocks,
    };
    return values[metric];
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
                          enum calltree_metric metric, struct diff_site *sites) {
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
            site.before_bytes = callsite_value(&site.site, metric);
        }
        if (site.in_after) {
            site.site = after->items[a++];
            site.after_bytes = callsite_value(&site.site, metric);
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
 * new: what no whole stack matched is matched by the telling frame, and then, as files get
 * other names, by the function's name, when neither side has another of that name.
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

/* To the byte, whatever was merged and joined on the way. */
static void sites_assert(const struct diff_row *row) {
    uint64_t sum = 0;
    for (size_t i = 0; i < row->site_count; i++)
        sum += (uint64_t)row->sites[i].after_bytes - (uint64_t)row->sites[i].before_bytes;
    assert(sum == (uint64_t)row->after.value - (uint64_t)row->before.value);
    (void)sum;
}

int diff_sites_find(struct diff_row *row, enum metric metric) {
    const struct metric_facts *facts = &metric_facts[metric];
    const struct profile *old = &row->before.run->profile;
    const struct profile *new = &row->after.run->profile;
    struct callsite_list before = {0};
    struct callsite_list after = {0};
    int r = callsite_vague_modules(old, new, &row->vague_before);
    if (r == 0)
        r = callsite_vague_modules(new, old, &row->vague_after);
    if (r == 0)
        r = callsite_collect_comparable(old, row->vague_before, row->before.region,
                                        facts->space, &before);
    if (r == 0)
        r = callsite_collect_comparable(new, row->vague_after, row->after.region, facts->space,
                                        &after);
    if (r == 0) {
        row->sites = calloc(before.count + after.count + 1, sizeof(*row->sites));
        r = row->sites ? 0 : -ENOMEM;
    }
    if (r == 0) {
        row->site_count = sites_merge(&before, &after, facts->tree, row->sites);
        for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++)
            row->site_count =
                sites_join(row->sites, row->site_count, &joins[i], &before, &after);
        qsort(row->sites, row->site_count, sizeof(*row->sites), compare_sites);
        sites_assert(row);
    }
    free(before.items);
    free(after.items);
    return r;
}
