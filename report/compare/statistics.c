/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.c: ranks, counts of rank sums, and draws from a generator of fixed seed.
 *
 * Ranks are doubled, so that the mean rank of tied values is a whole number.
 */
#include "statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 2000

static int compare_values(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

void statistics_sort(int64_t *values, size_t count) {
    if (count > 1)
        qsort(values, count, sizeof(*values), compare_values);
}

int64_t statistics_median(const struct statistics_sample *sample) {
    return sample->values[(sample->count - 1) / 2];
}

double statistics_u(const struct statistics_sample *a, const struct statistics_sample *b) {
    double twice = 0;
    size_t below = 0;
    size_t not_above = 0;
    for (size_t i = 0; i < a->count; i++) {
        while (below < b->count && b->values[below] < a->values[i])
            below++;
        while (not_above < b->count && b->values[not_above] <= a->values[i])
            not_above++;
        twice += (double)(below + not_above);
    }
    return twice / 2;
}

/* Doubled ranks of both samples together, ascending; @ret_ties is the sum of t^3 - t. */
static void ranks_of(const struct statistics_sample *a, const struct statistics_sample *b,
                     uint32_t *ranks, double *ret_ties) {
    size_t i = 0;
    size_t j = 0;
    size_t done = 0;
    *ret_ties = 0;
    while (i < a->count || j < b->count) {
        bool from_b = i == a->count || (j < b->count && b->values[j] < a->values[i]);
        int64_t value = from_b ? b->values[j] : a->values[i];
        size_t first = done;
        for (; i < a->count && a->values[i] == value; i++)
            done++;
        for (; j < b->count && b->values[j] == value; j++)
            done++;
        for (size_t k = first; k < done; k++)
            ranks[k] = (uint32_t)(first + done + 1); /* twice the mean of first + 1 ... done */
        double tied = (double)(done - first);
        *ret_ties += tied * tied * tied - tied;
    }
}

/*
 * Of all ways to choose @chosen of the @count ranks, the share whose sum is at least @distance
 * from @mean. ways[k][s]: how many choices of k ranks have the sum s; each rank in turn. They
 * stay below 2^53, so that the doubles are exact.
 */
static double share_of_sums(const uint32_t *ranks, size_t count, size_t chosen, uint32_t mean,
                            uint32_t distance) {
    size_t sums = 1;
    for (size_t i = 0; i < count; i++)
        sums += ranks[i];
    double *ways = calloc((chosen + 1) * sums, sizeof(*ways));
    if (!ways)
        return 1;
    ways[0] = 1;
    size_t reached = 0;
    for (size_t i = 0; i < count; i++) {
        reached += ranks[i];
        for (size_t k = i + 1 < chosen ? i + 1 : chosen; k > 0; k--)
            for (size_t s = reached; s >= ranks[i]; s--)
                ways[k * sums + s] += ways[(k - 1) * sums + s - ranks[i]];
    }
    double all = 0;
    double far = 0;
    for (size_t s = 0; s < sums; s++) {
        double here = ways[chosen * sums + s];
        all += here;
        if ((s > mean ? s - mean : mean - s) >= distance)
            far += here;
    }
    free(ways);
    return far / all;
}

static double p_exact(const struct statistics_sample *a, const struct statistics_sample *b) {
    uint32_t ranks[STATISTICS_EXACT_MAX];
    double ties;
    ranks_of(a, b, ranks, &ties);
    size_t count = a->count + b->count;
    uint32_t mean = (uint32_t)(a->count * (count + 1)); /* of doubled rank sums */
    double apart = 2 * (statistics_u(a, b) - (double)a->count * (double)b->count / 2);
    return share_of_sums(ranks, count, a->count, mean, (uint32_t)lround(fabs(apart)));
}

static double p_normal(const struct statistics_sample *a, const struct statistics_sample *b) {
    double left = (double)a->count;
    double right = (double)b->count;
    double all = left + right;
    double ties;
    uint32_t *ranks = calloc(a->count + b->count, sizeof(*ranks));
    if (!ranks)
        return 1;
    ranks_of(a, b, ranks, &ties);
    free(ranks);
    double variance = left * right / 12 * (all + 1 - ties / (all * (all - 1)));
    double apart = fabs(statistics_u(a, b) - left * right / 2) - 0.5;
    if (variance <= 0 || apart <= 0)
        return 1;
    return erfc(apart / sqrt(2 * variance));
}

double statistics_p(const struct statistics_sample *a, const struct statistics_sample *b) {
    return a->count + b->count <= STATISTICS_EXACT_MAX ? p_exact(a, b) : p_normal(a, b);
}

/* SplitMix64, public domain, Sebastiano Vigna 2015. */
static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/*
 * The median of as many draws as there are values. Values are in order, so that counting how
 * often each was drawn is enough; @counts has room for them.
 */
static int64_t median_of_draws(const struct statistics_sample *sample, uint64_t *state,
                               uint32_t *counts) {
    memset(counts, 0, sample->count * sizeof(*counts));
    for (size_t i = 0; i < sample->count; i++)
        counts[random_next(state) % sample->count]++;
    size_t wanted = (sample->count - 1) / 2;
    size_t at = 0;
    for (size_t seen = counts[0]; seen <= wanted; seen += counts[at])
        at++;
    return sample->values[at];
}

void statistics_interval(const struct statistics_sample *a, const struct statistics_sample *b,
                         int64_t *ret_low, int64_t *ret_high) {
    size_t most = a->count > b->count ? a->count : b->count;
    uint32_t *counts = calloc(most, sizeof(*counts));
    int64_t *draws = calloc(DRAWS, sizeof(*draws));
    uint64_t state = 0x766f7472; /* any: that it is fixed makes two reports agree */
    *ret_low = INT64_MIN;
    *ret_high = INT64_MAX;
    for (size_t i = 0; counts && draws && i < DRAWS; i++) {
        int64_t from = median_of_draws(a, &state, counts);
        draws[i] = median_of_draws(b, &state, counts) - from;
    }
    if (counts && draws) {
        statistics_sort(draws, DRAWS);
        *ret_low = draws[DRAWS / 40];
        *ret_high = draws[DRAWS - 1 - DRAWS / 40];
    }
    free(counts);
    free(draws);
}

/* The most unlikely outcome has one way of C(2n, n), and so has its mirror image. */
size_t statistics_least_repeats(void) {
    double p = 1; /* of n = 1: 2 of 2 */
    size_t n = 1;
    for (; p >= STATISTICS_ALPHA; n++)
        p *= (double)(n + 1) / (double)(2 * (2 * n + 1));
    return n;
}

size_t statistics_need(const struct statistics_sample *a, const struct statistics_sample *b) {
    static const double z = 1.959964 + 0.841621; /* of 1 - alpha / 2, and of the power */
    double pairs = (double)a->count * (double)b->count;
    double lead = statistics_u(a, b) / pairs - 0.5;
    if (lead == 0)
        return 0;
    /* Noether's N for two samples of one size is 2 n: (z / lead)^2 / (12 * 1/4). */
    double need = ceil(z * z / (lead * lead) / 6);
    double least = (double)statistics_least_repeats();
    if (need > STATISTICS_NEED_MAX)
        return 0;
    return (size_t)(need < least ? least : need);
}

struct ranked {
    int64_t value;
    size_t at;
};

static int compare_ranked(const void *a, const void *b) {
    return compare_values(&((const struct ranked *)a)->value,
                          &((const struct ranked *)b)->value);
}

/* The doubled rank of each of @values, in their order. */
static double *ranks_in_order(const int64_t *values, size_t count) {
    struct ranked *sorted = calloc(count, sizeof(*sorted));
    double *ranks = calloc(count, sizeof(*ranks));
    if (!sorted || !ranks) {
        free(sorted);
        free(ranks);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){values[i], i};
    qsort(sorted, count, sizeof(*sorted), compare_ranked);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && sorted[end].value == sorted[i].value)
            end++;
        for (size_t k = i; k < end; k++)
            ranks[sorted[k].at] = (double)(i + end + 1);
        i = end;
    }
    free(sorted);
    return ranks;
}

size_t statistics_change_point(const int64_t *values, size_t count, double *ret_p) {
    double *ranks = count < 2 ? NULL : ranks_in_order(values, count);
    if (!ranks)
        return 0;
    double n = (double)count;
    double sum = 0;
    double most = -1;
    size_t at = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        sum += ranks[i];
        double apart = fabs(sum - (double)(i + 1) * (n + 1)); /* Pettitt's |U| at i */
        if (apart > most) {
            most = apart;
            at = i + 1;
        }
    }
    free(ranks);
    double p = 2 * exp(-6 * most * most / (n * n * n + n * n));
    *ret_p = p > 1 ? 1 : p;
    return at;
}
