/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal.c: between decimal text and binary numbers.
 *
 * Reading: up to 19 digits make an integer, which is multiplied by a 128-bit power of ten
 * (Lemire, "Number Parsing at a Gigabyte per Second", 2021). The product decides the rounding
 * in all but a few cases; those, subnormal numbers and doubtful longer texts go to strtod.
 * Writing: Giulietti, "The Schubfach way to render doubles", 2020: the shortest decimal in the
 * interval that rounds to the value, by three such products.
 */
#include "decimal.h"

#include "decimal_powers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 uint128;

/* An IEEE format: fraction bits, exponent bias, the exponent of infinity, and between which
 * powers of ten a product can lie exactly between two values. */
struct format {
    int fraction_bits;
    int bias;
    int infinity;
    int tie_min;
    int tie_max;
};

static const struct format format_double = {52, 1023, 0x7ff, -4, 23};
static const struct format format_float = {23, 127, 0xff, -17, 10};

static struct decimal_power power_of_ten(int exponent) {
    return decimal_powers[exponent - DECIMAL_POWER_MIN];
}

/* floor(log2(10^exponent)), exact for every power in the table. */
static int floor_log2_of_power(int exponent) {
    return (exponent * 1741647) >> 19;
}

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

/* A decimal text taken apart: digits * 10^exponent, @more when digits were left out. */
struct number {
    bool negative;
    uint64_t digits;
    int64_t exponent;
    bool more;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/*
 * Eight digits at once, when there are so many: pairs, then fours, then all are put together by
 * multiplications that add the neighbour to each (Lemire, "Quickly parsing eight digits", 2018).
 */
static bool read_eight_digits(const char *text, uint64_t *ret_value) {
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
static bool read_eight_digits(const char *text, uint64_t *ret_value) {
    return false;
}
#endif

/*
 * Digits from *c on: 19 are kept, leading zeros not counted; those behind the point lower the
 * exponent. Returns how many there were.
 */
static inline size_t scan_digits(const char **c, const char *end, bool fraction, int *kept,
                                 struct number *number) {
    const char *at = *c;
    uint64_t digits = number->digits;
    uint64_t eight;
    int count = *kept;
    while (end - at >= 8 && count <= 19 - 8 && (digits != 0 || *at != '0') &&
           read_eight_digits(at, &eight)) {
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

static int scan_number(const char *text, const char *end, struct number *ret_number) {
    struct number number = {0};
    const char *c = text;
    int kept = 0;
    if (c < end && (*c == '-' || *c == '+'))
        number.negative = *c++ == '-';
    size_t seen = scan_digits(&c, end, false, &kept, &number);
    if (c < end && *c == '.') {
        c++;
        seen += scan_digits(&c, end, true, &kept, &number);
    }
    if (seen == 0)
        return -EINVAL;
    if (c < end && (*c == 'e' || *c == 'E')) {
        c++;
        bool minus = c < end && *c == '-';
        if (c < end && (*c == '-' || *c == '+'))
            c++;
        if (c == end)
            return -EINVAL;
        int64_t exponent = 0;
        for (; c < end && (unsigned char)(*c - '0') <= 9; c++)
            if (exponent < 1000000000)
                exponent = exponent * 10 + (*c - '0');
        number.exponent += minus ? -exponent : exponent;
    }
    if (c != end)
        return -EINVAL;
    *ret_number = number;
    return 0;
}

/* The bits of digits * 10^exponent, without the sign. False when the product cannot tell. */
static bool round_product(const struct format *format, uint64_t digits, int64_t exponent,
                          uint64_t *ret_bits) {
    if (digits == 0 || exponent < -400) {
        *ret_bits = 0;
        return digits == 0;
    }
    if (exponent > 308 || exponent < DECIMAL_POWER_MIN)
        return false;

    int zeros = __builtin_clzll(digits);
    uint64_t normal = digits << zeros;
    struct decimal_power power = power_of_ten((int)exponent);
    /* 5^-27 and larger fractions are rounded up, so that exact quotients come out exact. */
    if (exponent < 0 && exponent >= -27 && ++power.low == 0)
        power.high++;
    uint128 product = (uint128)normal * power.high;
    uint64_t high = (uint64_t)(product >> 64);
    uint64_t low = (uint64_t)product;
    uint64_t mask = UINT64_MAX >> (format->fraction_bits + 3);
    if ((high & mask) == mask) {
        uint64_t second = (uint64_t)(((uint128)normal * power.low) >> 64);
        low += second;
        if (low < second)
            high++;
        if (low == UINT64_MAX && (exponent < -27 || exponent > 55))
            return false;
    }

    int upper = (int)(high >> 63);
    int shift = upper + 64 - format->fraction_bits - 3;
    uint64_t mantissa = high >> shift;
    int binary = floor_log2_of_power((int)exponent) + 63 + upper - zeros + format->bias;
    if (binary <= 0)
        return false;
    if (low <= 1 && exponent >= format->tie_min && exponent <= format->tie_max &&
        (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (format->fraction_bits + 1) != 0) {
        mantissa >>= 1;
        binary++;
    }
    if (binary >= format->infinity) {
        *ret_bits = (uint64_t)format->infinity << format->fraction_bits;
        return true;
    }
    uint64_t fraction = mantissa & ((UINT64_C(1) << format->fraction_bits) - 1);
    *ret_bits = (uint64_t)binary << format->fraction_bits | fraction;
    return true;
}

/* Both neighbours of a text cut to 19 digits must agree. */
static bool round_number(const struct format *format, const struct number *number,
                         uint64_t *ret_bits) {
    uint64_t bits;
    if (!round_product(format, number->digits, number->exponent, &bits))
        return false;
    if (number->more) {
        uint64_t next;
        if (!round_product(format, number->digits + 1, number->exponent, &next) || next != bits)
            return false;
    }
    *ret_bits = bits;
    return true;
}

/* NaN and the infinities: bits without the sign. */
static int parse_special(const struct format *format, const char *text, const char *end,
                         bool *ret_negative, uint64_t *ret_bits) {
    const char *c = text;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    size_t length = (size_t)(end - c);
    uint64_t bits = (uint64_t)format->infinity << format->fraction_bits;
    if (length == 3 && strncasecmp(c, "nan", 3) == 0)
        bits |= UINT64_C(1) << (format->fraction_bits - 1);
    else if (!(length == 3 && strncasecmp(c, "inf", 3) == 0) &&
             !(length == 8 && strncasecmp(c, "infinity", 8) == 0))
        return -EINVAL;
    *ret_negative = negative;
    *ret_bits = bits;
    return 0;
}

int decimal_parse_double(const char *text, const char *end, double *ret_value) {
    struct number number;
    uint64_t bits;
    if (scan_number(text, end, &number) < 0) {
        int r = parse_special(&format_double, text, end, &number.negative, &bits);
        if (r < 0)
            return r;
    } else if (!round_number(&format_double, &number, &bits)) {
        *ret_value = strtod(text, NULL);
        return 0;
    }
    bits |= (uint64_t)number.negative << 63;
    memcpy(ret_value, &bits, sizeof(bits));
    return 0;
}

int decimal_parse_float(const char *text, const char *end, float *ret_value) {
    struct number number;
    uint64_t bits;
    if (scan_number(text, end, &number) < 0) {
        int r = parse_special(&format_float, text, end, &number.negative, &bits);
        if (r < 0)
            return r;
    } else if (!round_number(&format_float, &number, &bits)) {
        *ret_value = strtof(text, NULL);
        return 0;
    }
    uint32_t narrow = (uint32_t)bits | (uint32_t)number.negative << 31;
    memcpy(ret_value, &narrow, sizeof(narrow));
    return 0;
}

static size_t print_unsigned(char *text, uint64_t value) {
    char digits[20];
    size_t length = 0;
    do {
        digits[length++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < length; i++)
        text[i] = digits[length - 1 - i];
    return length;
}

size_t decimal_print_integer(char ret_text[DECIMAL_TEXT_BYTES], int64_t value) {
    if (value >= 0)
        return print_unsigned(ret_text, (uint64_t)value);
    ret_text[0] = '-';
    return 1 + print_unsigned(ret_text + 1, 0 - (uint64_t)value);
}

/* floor(power * value / 2^128), with the last bit set when something was cut off. */
static uint64_t multiply_to_odd(struct decimal_power power, uint64_t value) {
    uint64_t below = (uint64_t)(((uint128)power.low * value) >> 64);
    uint128 sum = (uint128)power.high * value + below;
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/*
 * The shortest digits * 10^exponent that rounds to significand * 2^exponent2. @narrow: the
 * value is a power of two, its lower neighbour only half as far away.
 */
static uint64_t shortest_digits(uint64_t significand, int exponent2, bool narrow,
                                int *ret_exponent) {
    uint64_t odd = significand & 1;
    int k = (exponent2 * 1262611 - (narrow ? 524031 : 0)) >> 22;
    int h = exponent2 + floor_log2_of_power(-k) + 1;
    struct decimal_power power = power_of_ten(-k);
    if ((-k < 0 || -k > 55) && ++power.low == 0)
        power.high++;

    uint64_t middle = multiply_to_odd(power, (4 * significand) << h);
    uint64_t lower = multiply_to_odd(power, (4 * significand - 2 + narrow) << h) + odd;
    uint64_t upper = multiply_to_odd(power, (4 * significand + 2) << h) - odd;

    uint64_t digits = middle / 4;
    if (digits >= 10) {
        uint64_t fewer = digits / 10;
        bool down = lower <= 40 * fewer;
        bool up = 40 * fewer + 40 <= upper;
        if (down != up) {
            *ret_exponent = k + 1;
            return fewer + up;
        }
    }
    *ret_exponent = k;
    bool down = lower <= 4 * digits;
    bool up = 4 * digits + 4 <= upper;
    if (down != up)
        return digits + up;
    uint64_t half = 4 * digits + 2;
    return digits + (middle > half || (middle == half && (digits & 1) != 0));
}

/* Lay out digits * 10^exponent: plain between 1e-5 and 1e17, otherwise with an exponent. */
static size_t print_digits(char *text, uint64_t digits, int exponent) {
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    char all[20];
    int length = (int)print_unsigned(all, digits);
    int point = length + exponent; /* digits before the point */
    char *c = text;
    if (exponent >= 0 && point <= 17) {
        memcpy(c, all, (size_t)length);
        memset(c + length, '0', (size_t)exponent);
        return (size_t)point;
    }
    if (point > 0 && point <= 17) {
        memcpy(c, all, (size_t)point);
        c[point] = '.';
        memcpy(c + point + 1, all + point, (size_t)(length - point));
        return (size_t)length + 1;
    }
    if (point <= 0 && point > -5) {
        memcpy(c, "0.0000", 6);
        memcpy(c + 2 - point, all, (size_t)length);
        return (size_t)(2 - point + length);
    }
    *c++ = all[0];
    if (length > 1) {
        *c++ = '.';
        memcpy(c, all + 1, (size_t)length - 1);
        c += length - 1;
    }
    *c++ = 'e';
    c += decimal_print_integer(c, point - 1);
    return (size_t)(c - text);
}

static size_t print_bits(const struct format *format, char *text, uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << format->fraction_bits) - 1);
    int binary = (int)(bits >> format->fraction_bits) & format->infinity;
    bool negative = bits >> format->fraction_bits > (uint64_t)format->infinity;
    char *c = text;
    if (binary == format->infinity) {
        memcpy(text, fraction != 0 ? "NaN" : negative ? "-Inf" : "+Inf", 4);
        return fraction != 0 ? 3 : 4;
    }
    if (negative)
        *c++ = '-';
    if (binary == 0 && fraction == 0) {
        *c++ = '0';
        return (size_t)(c - text);
    }
    uint64_t hidden = UINT64_C(1) << format->fraction_bits;
    int exponent10;
    uint64_t digits =
        binary == 0
            ? shortest_digits(fraction, 1 - format->bias - format->fraction_bits, false,
                              &exponent10)
            : shortest_digits(hidden | fraction, binary - format->bias - format->fraction_bits,
                              fraction == 0 && binary > 1, &exponent10);
    c += print_digits(c, digits, exponent10);
    return (size_t)(c - text);
}

size_t decimal_print_double(char ret_text[DECIMAL_TEXT_BYTES], double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return print_bits(&format_double, ret_text, bits);
}

size_t decimal_print_float(char ret_text[DECIMAL_TEXT_BYTES], float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return print_bits(&format_float, ret_text, bits);
}
