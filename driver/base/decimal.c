/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal.c: reads numbers, one at a time.
 *
 * Up to 19 digits make an integer, which is multiplied by a 128-bit power of ten (Lemire, "Number
 * Parsing at a Gigabyte per Second", 2021). The product decides the rounding in all but a few
 * cases; those, subnormal numbers and doubtful longer texts go to strtod.
 */
#include "decimal.h"

#include "decimal_round.h"
#include "decimal_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int decimal_parse_integer(const char *text, const char *end, int64_t low, int64_t high,
                          int64_t *ret_value) {
    const char *c = text;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    uint64_t base = 10;
    if (end - c > 2 && c[0] == '0' && c[1] == 'x') {
        base = 16;
        c += 2;
    }
    if (c == end)
        return -EINVAL;

    uint64_t magnitude = 0;
    bool overflow = false;
    for (; c < end; c++) {
        uint64_t digit = (uint64_t)(unsigned char)*c - '0';
        if (digit > 9) {
            digit = ((uint64_t)(unsigned char)*c | 0x20) - 'a';
            if (base != 16 || digit > 5)
                return -EINVAL;
            digit += 10;
        }
        overflow = overflow || __builtin_mul_overflow(magnitude, base, &magnitude) ||
                   __builtin_add_overflow(magnitude, digit, &magnitude);
    }
    uint64_t limit = negative ? UINT64_C(1) << 63 : (uint64_t)INT64_MAX;
    if (overflow || magnitude > limit)
        return -ERANGE;
    int64_t value = (int64_t)(negative ? 0 - magnitude : magnitude);
    if (value < low || value > high)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

/* NaN and the infinities: bits without the sign. */
static int parse_special(const struct decimal_format format, const char *text, const char *end,
                         bool *ret_negative, uint64_t *ret_bits) {
    const char *c = text;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    size_t length = (size_t)(end - c);
    uint64_t bits = (uint64_t)format.infinity << format.fraction_bits;
    if (length == 3 && strncasecmp(c, "nan", 3) == 0)
        bits |= UINT64_C(1) << (format.fraction_bits - 1);
    else if (!(length == 3 && strncasecmp(c, "inf", 3) == 0) &&
             !(length == 8 && strncasecmp(c, "infinity", 8) == 0))
        return -EINVAL;
    *ret_negative = negative;
    *ret_bits = bits;
    return 0;
}

int decimal_parse_double(const char *text, const char *end, double *ret_value) {
    struct decimal_number number;
    const char *next;
    uint64_t bits;
    if (!decimal_scan(text, end, &number, &next) || next != end) {
        int r = parse_special(DECIMAL_DOUBLE, text, end, &number.negative, &bits);
        if (r < 0)
            return r;
    } else if (!decimal_round_number(DECIMAL_DOUBLE, &number, &bits)) {
        *ret_value = strtod(text, NULL);
        return 0;
    }
    bits |= (uint64_t)number.negative << 63;
    memcpy(ret_value, &bits, sizeof(bits));
    return 0;
}

int decimal_parse_float(const char *text, const char *end, float *ret_value) {
    struct decimal_number number;
    const char *next;
    uint64_t bits;
    if (!decimal_scan(text, end, &number, &next) || next != end) {
        int r = parse_special(DECIMAL_FLOAT, text, end, &number.negative, &bits);
        if (r < 0)
            return r;
    } else if (!decimal_round_number(DECIMAL_FLOAT, &number, &bits)) {
        *ret_value = strtof(text, NULL);
        return 0;
    }
    uint32_t narrow = (uint32_t)bits | (uint32_t)number.negative << 31;
    memcpy(ret_value, &narrow, sizeof(narrow));
    return 0;
}
