/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_sum.c: Kulisch's long accumulator. Three additions a value, a carry now and then. */
#include "exact_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define FRACTION_BITS 52
#define LOWEST        1074 /* the last limb's last bit is 2^-1074 */
#define WAITING_MAX   (UINT32_C(1) << 30)

__extension__ typedef unsigned __int128 uint128;

/* Bring all limbs but the last, which has the sign, into [0, 2^32). */
static void carry_on(struct exact_sum *sum) {
    int64_t carry = 0;
    for (int i = 0; i < EXACT_SUM_LIMBS - 1; i++) {
        int64_t limb = sum->limbs[i] + carry;
        sum->limbs[i] = limb & 0xffffffff;
        carry = limb >> 32;
    }
    sum->limbs[EXACT_SUM_LIMBS - 1] += carry;
    sum->waiting = 0;
}

void exact_sum_add(struct exact_sum *sum, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    unsigned exponent = bits >> FRACTION_BITS & 0x7ff;
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    if (exponent > 0) {
        fraction |= UINT64_C(1) << FRACTION_BITS;
        exponent--;
    }
    uint128 shifted = (uint128)fraction << (exponent & 31);
    int64_t *limbs = sum->limbs + exponent / 32;
    int64_t sign = bits >> 63 != 0 ? -1 : 1;
    limbs[0] += sign * (int64_t)(uint32_t)shifted;
    limbs[1] += sign * (int64_t)(uint32_t)(shifted >> 32);
    limbs[2] += sign * (int64_t)(uint32_t)(shifted >> 64);
    if (++sum->waiting == WAITING_MAX)
        carry_on(sum);
}

/* The highest limb of a number that is not negative, or -1 when all are zero. */
static int highest_limb(const struct exact_sum *sum) {
    int highest = EXACT_SUM_LIMBS - 1;
    while (highest >= 0 && sum->limbs[highest] == 0)
        highest--;
    return highest;
}

double exact_sum_value(const struct exact_sum *sum) {
    struct exact_sum left = *sum;
    carry_on(&left);
    bool negative = left.limbs[EXACT_SUM_LIMBS - 1] < 0;
    if (negative) {
        for (int i = 0; i < EXACT_SUM_LIMBS; i++)
            left.limbs[i] = -left.limbs[i];
        carry_on(&left);
    }
    int highest = highest_limb(&left);
    if (highest < 0)
        return 0;

    /* Three limbs have at least 65 bits; what is below them only breaks ties. */
    uint128 top = 0;
    bool below = false;
    for (int i = highest; i > highest - 3; i--)
        top = top << 32 | (uint128)(i >= 0 ? (uint64_t)left.limbs[i] : 0);
    for (int i = highest - 3; i >= 0; i--)
        below = below || left.limbs[i] != 0;
    int length = 128 - __builtin_clzll((uint64_t)(top >> 64));
    int cut = length - (FRACTION_BITS + 1);
    uint64_t mantissa = (uint64_t)(top >> cut);
    uint128 rest = top & (((uint128)1 << cut) - 1);
    uint128 half = (uint128)1 << (cut - 1);
    if (rest > half || (rest == half && (below || (mantissa & 1) != 0)))
        mantissa++;
    double value = ldexp((double)mantissa, 32 * (highest - 2) + cut - LOWEST);
    return negative ? -value : value;
}
