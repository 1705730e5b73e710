/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_round.h: the two IEEE formats, and digits * 10^exponent in one of them, inside
 * decimal*.c.
 *
 * Inlined with the format as a constant: a reader of numbers does little else.
 */
#pragma once

#include "decimal_powers.h"

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 decimal_uint128;

/* Whatever the compiler thinks of its size. */
#define DECIMAL_INLINE static inline __attribute__((always_inline))

/* An IEEE format: fraction bits, exponent bias, the exponent of infinity, and between which
 * powers of ten a product can lie exactly between two values. */
struct decimal_format {
    int fraction_bits;
    int bias;
    int infinity;
    int tie_min;
    int tie_max;
};

#define DECIMAL_DOUBLE ((struct decimal_format){52, 1023, 0x7ff, -4, 23})
#define DECIMAL_FLOAT  ((struct decimal_format){23, 127, 0xff, -17, 10})

static inline struct decimal_power decimal_power_of_ten(int exponent) {
    return decimal_powers[exponent - DECIMAL_POWER_MIN];
}

/* floor(log2(10^exponent)), exact for every power in the table. */
static inline int decimal_floor_log2(int exponent) {
    return (exponent * 1741647) >> 19;
}

/* The bits of digits * 10^exponent, without the sign. False when the product cannot tell. */
DECIMAL_INLINE bool decimal_round(const struct decimal_format format, uint64_t digits,
                                  int64_t exponent, uint64_t *ret_bits) {
    if (digits == 0 || exponent < -400) {
        *ret_bits = 0;
        return digits == 0;
    }
    if (exponent > 308 || exponent < DECIMAL_POWER_MIN)
        return false;

    int zeros = __builtin_clzll(digits);
    uint64_t normal = digits << zeros;
    struct decimal_power power = decimal_power_of_ten((int)exponent);
    /* 5^-27 and larger fractions are rounded up, so that exact quotients come out exact. */
    if (exponent < 0 && exponent >= -27 && ++power.low == 0)
        power.high++;
    decimal_uint128 product = (decimal_uint128)normal * power.high;
    uint64_t high = (uint64_t)(product >> 64);
    uint64_t low = (uint64_t)product;
    uint64_t mask = UINT64_MAX >> (format.fraction_bits + 3);
    if ((high & mask) == mask) {
        uint64_t second = (uint64_t)(((decimal_uint128)normal * power.low) >> 64);
        low += second;
        if (low < second)
            high++;
        if (low == UINT64_MAX && (exponent < -27 || exponent > 55))
            return false;
    }

    int upper = (int)(high >> 63);
    int shift = upper + 64 - format.fraction_bits - 3;
    uint64_t mantissa = high >> shift;
    int binary = decimal_floor_log2((int)exponent) + 63 + upper - zeros + format.bias;
    if (binary <= 0)
        return false;
    if (low <= 1 && exponent >= format.tie_min && exponent <= format.tie_max &&
        (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (format.fraction_bits + 1) != 0) {
        mantissa >>= 1;
        binary++;
    }
    if (binary >= format.infinity) {
        *ret_bits = (uint64_t)format.infinity << format.fraction_bits;
        return true;
    }
    uint64_t fraction = mantissa & ((UINT64_C(1) << format.fraction_bits) - 1);
    *ret_bits = (uint64_t)binary << format.fraction_bits | fraction;
    return true;
}
