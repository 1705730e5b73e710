/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.h: what repeats of a measurement that varies can say, and what they cannot.
 *
 * A time, a resident size, the peak of a program with several threads come out otherwise each
 * time. Nothing is assumed of how they scatter: ranks are compared, and intervals come from
 * drawing the samples themselves again. All results are the same for the same input.
 *
 *   Mann, Whitney 1947: On a test of whether one of two random variables is stochastically
 *     larger than the other
 *   Streitberg, Roehmel 1986: Exact distributions for permutation and rank tests (the counts of
 *     rank sums, with ties)
 *   Noether 1987: Sample size determination for some common nonparametric tests
 *   Efron, Tibshirani 1993: An introduction to the bootstrap, chapter 13 (percentiles)
 *   Pettitt 1979: A non-parametric approach to the change-point problem
 */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdint.h>

#define STATISTICS_ALPHA     0.05 /* a difference by chance is taken for one this often */
#define STATISTICS_POWER     0.80 /* one that is there is to be seen this often */
#define STATISTICS_EXACT_MAX 50   /* samples of both sides: beyond, the normal distribution */
#define STATISTICS_NEED_MAX  1000 /* repeats that anybody would be asked for */

/* @count > 0 values, ascending. */
struct statistics_sample {
    const int64_t *values;
    size_t count;
};

/* Sort @values in place. */
void statistics_sort(int64_t *values, size_t count);

/* The lower median: a value that was measured, also when their number is even. */
int64_t statistics_median(const struct statistics_sample *sample) _nonnull_;

/* Mann and Whitney's U of @a: the pairs in which it is larger than @b, half for equal ones. */
double statistics_u(const struct statistics_sample *a,
                    const struct statistics_sample *b) _nonnull_;

/*
 * How likely are rank sums at least as far from their mean as this one, on either side, if both
 * samples are of one kind? Exact up to STATISTICS_EXACT_MAX values, ties counted as they are;
 * beyond, normal with corrections for ties and continuity. Returns 0 to 1; a negative errno
 * (-ENOMEM) is not possible: 1 is returned when there is no memory.
 */
double statistics_p(const struct statistics_sample *a,
                    const struct statistics_sample *b) _nonnull_;

/*
 * The interval in which the difference of the medians, that of @b - that of @a, lies 95 times
 * of 100.
 */
void statistics_interval(const struct statistics_sample *a, const struct statistics_sample *b,
                         int64_t *ret_low, int64_t *ret_high) _nonnull_;

/*
 * Fewest repeats on each side with which statistics_p() can fall below STATISTICS_ALPHA at all.
 */
size_t statistics_least_repeats(void);

/*
 * Repeats on each side that would probably tell a difference like that of @a and @b from
 * chance; 0 when even STATISTICS_NEED_MAX would not.
 */
size_t statistics_need(const struct statistics_sample *a,
                       const struct statistics_sample *b) _nonnull_;

/*
 * Where a series of @count values, in the order they were measured, changes most: the index of
 * the first value after the change. @ret_p is about how likely that is by chance.
 * Returns 0 (no change is possible) when @count < 2 or when there is no memory.
 */
size_t statistics_change_point(const int64_t *values, size_t count, double *ret_p) _nonnull_;
