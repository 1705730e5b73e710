/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_scan.h: a decimal text taken apart into an integer and a power of ten, inside
 * decimal*.c.
 */
#pragma once

#include "decimal_round.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* digits * 10^exponent, @more when digits were left out. */
struct decimal_number {
    bool negative;
    uint64_t digits;
    int64_t exponent;
    bool more;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/*
 * Eight digits at once, when there are so many: pairs, then fours, then all are put together by
 * multiplications that add the neighbour to each (Lemire, "Quickly parsing eight digits",
 * 2018).
 */
static inline bool decimal_scan_eight(const char *text, uint64_t *ret_value) {
    uint64_t eight;
    memcpy(&eight, text, sizeof(eight));
    const uint64_t high_nibbles = UINT64_C(0xf0f0f0f0f0f0f0f0);
    const uint64_t above_nine = (eight + UINT64_C(0x0606060606060606)) & high_nibbles;
    if (((eight & high_nibbles) | above_nine >> 4) != UINT64_C(0x3333333333333333))
        return false;
    eight = (eight & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    eight = (eight & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    *ret_value = (eight & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
    return true;
}
#else
static inline bool decimal_scan_eight(const char *text, uint64_t *ret_value) {
    return false;
}
#endif

/*
 * Digits from *c on: 19 are kept, leading zeros not counted; those behind the point lower the
 * exponent. Returns how many there were.
 */
static inline size_t decimal_scan_digits(const char **c, const char *end, bool fraction,
                                         int *kept, struct decimal_number *number) {
    const char *at = *c;
    uint64_t digits = number->digits;
    uint64_t eight;
    int count = *kept;
    while (end - at >= 8 && count <= 19 - 8 && (digits != 0 || *at != '0') &&
           decimal_scan_eight(at, &eight)) {
        digits = digits * 100000000 + eight;
        count += 8;
        at += 8;
    }
    for (; at < end && (unsigned char)(*at - '0') <= 9 && count < 19; at++) {
        digits = digits * 10 + (unsigned char)(*at - '0');
        count += digits != 0;
    }
    if (fraction)
        number->exponent -= at - *c;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++) {
        number->more = number->more || *at != '0';
        number->exponent += !fraction;
    }
    size_t seen = (size_t)(at - *c);
    number->digits = digits;
    *kept = count;
    *c = at;
    return seen;
}

/* What follows an 'e': false when it is no exponent. */
static inline bool decimal_scan_exponent(const char **c, const char *end,
                                         struct decimal_number *number) {
    const char *at = *c;
    bool minus = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *digits = at;
    int64_t exponent = 0;
    for (; at < end && (unsigned char)(*at - '0') <= 9; at++)
        if (exponent < 1000000000)
            exponent = exponent * 10 + (*at - '0');
    number->exponent += minus ? -exponent : exponent;
    *c = at;
    return at > digits;
}

/* The number that @text begins with, and what follows it. False when there is none. */
static inline bool decimal_scan(const char *text, const char *end,
                                struct decimal_number *ret_number, const char **ret_next) {
    struct decimal_number number = {0};
    const char *c = text;
    int kept = 0;
    if (c < end && (*c == '-' || *c == '+'))
        number.negative = *c++ == '-';
    size_t seen = decimal_scan_digits(&c, end, false, &kept, &number);
    if (c < end && *c == '.') {
        c++;
        seen += decimal_scan_digits(&c, end, true, &kept, &number);
    }
    if (seen == 0)
        return false;
    if (c < end && (*c == 'e' || *c == 'E')) {
        c++;
        if (!decimal_scan_exponent(&c, end, &number))
            return false;
    }
    *ret_number = number;
    *ret_next = c;
    return true;
}

/* Both neighbours of a text cut to 19 digits must agree. */
DECIMAL_INLINE bool decimal_round_number(const struct decimal_format format,
                                         const struct decimal_number *number,
                                         uint64_t *ret_bits) {
    uint64_t bits;
    if (!decimal_round(format, number->digits, number->exponent, &bits))
        return false;
    if (number->more) {
        uint64_t next;
        if (!decimal_round(format, number->digits + 1, number->exponent, &next) || next != bits)
            return false;
    }
    *ret_bits = bits;
    return true;
}
