/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exact_sum.h: the sum of any number of doubles, rounded once.
 *
 * A fixed-point number that is wide enough for every double, in limbs of 32 bits that hold 64,
 * so that carries can wait: the sum depends on neither order nor number of what is added.
 *
 *     limb     67 ............................. 1       0
 *     bits   carries | 2^1023 ........... 2^-1042 | 2^-1043 .. 2^-1074
 */
#pragma once

#include "attributes.h"

#include <stdint.h>

#define EXACT_SUM_LIMBS 68

struct exact_sum {
    int64_t limbs[EXACT_SUM_LIMBS];
    uint32_t waiting; /* additions since carries were last taken on */
};

/* All zero is the sum of nothing. @value is finite. */
void exact_sum_add(struct exact_sum *sum, double value) _nonnull_;

/* To the nearest double, ties to even; infinite beyond the largest. */
double exact_sum_value(const struct exact_sum *sum) _nonnull_;
