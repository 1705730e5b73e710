/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_powers.h: powers of ten as 128-bit fractions, for decimal*.c alone.
 *
 * Entry k holds floor(10^k * 2^(127 - e)) with e = floor(log2(10^k)): the first 128 binary
 * digits of 10^k, cut off. 10^0 .. 10^55 are exact. tests/unit/test_decimal.c computes every
 * entry again with long division.
 */
#pragma once

#include <stdint.h>

#define DECIMAL_POWER_MIN (-342)
#define DECIMAL_POWER_MAX 324
#define DECIMAL_POWERS    (DECIMAL_POWER_MAX - DECIMAL_POWER_MIN + 1)

struct decimal_power {
    uint64_t high;
    uint64_t low;
};

extern const struct decimal_power decimal_powers[DECIMAL_POWERS];
