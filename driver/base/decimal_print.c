/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_print.c: writes numbers.
 *
 * Giulietti, "The Schubfach way to render doubles", 2020: the shortest decimal in the interval
 * that rounds to the value, by three products with a 128-bit power of ten. Digits are made two
 * at a time; what is copied is of fixed length, and more than is kept: DECIMAL_TEXT_BYTES has
 * room for it.
 */
#include "decimal.h"

#include "decimal_round.h"

#include <string.h>

#define REAL_DIGITS 17 /* that a double can have at most */

/* "00" "01" ... "99". */
// clang-format off
#define TEN(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
static const char pairs[] = TEN("0") TEN("1") TEN("2") TEN("3") TEN("4")
                            TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");
#undef TEN
#define E(zeros) UINT64_C(1##zeros)
static const uint64_t powers[20] = {
    0, E(0), E(00), E(000), E(0000), E(00000), E(000000), E(0000000), E(00000000),
    E(000000000), E(0000000000), E(00000000000), E(000000000000), E(0000000000000),
    E(00000000000000), E(000000000000000), E(0000000000000000), E(00000000000000000),
    E(000000000000000000), E(0000000000000000000),
};
#undef E
// clang-format on

/*
 * All digits of an integer at the end of so many bytes, and as many behind it: copies from the
 * first digit are then of a fixed length, which costs no call.
 */
#define DIGITS_BYTES 24
struct digits {
    char text[2 * DIGITS_BYTES];
};

/* Eight digits, zeros in front as they come. */
static inline void put_eight(char *text, uint64_t value) {
    uint32_t high = (uint32_t)value / 10000;
    uint32_t low = (uint32_t)value % 10000;
    memcpy(text, pairs + 2 * (high / 100), 2);
    memcpy(text + 2, pairs + 2 * (high % 100), 2);
    memcpy(text + 4, pairs + 2 * (low / 100), 2);
    memcpy(text + 6, pairs + 2 * (low % 100), 2);
}

/* Returns where the first digit is; 0 has one. */
static inline const char *put_digits(struct digits *digits, uint64_t value,
                                     size_t *ret_length) {
    /* 1233 / 4096 is a little more than log10(2). */
    size_t length = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    length += value >= powers[length];
    put_eight(digits->text + 16, value % 100000000);
    if (length > 8) {
        uint64_t rest = value / 100000000;
        put_eight(digits->text + 8, rest % 100000000);
        put_eight(digits->text, rest / 100000000);
    }
    *ret_length = length;
    return digits->text + DIGITS_BYTES - length;
}

static inline size_t print_unsigned(char *text, uint64_t value) {
    struct digits digits;
    size_t length;
    const char *first = put_digits(&digits, value, &length);
    memcpy(text, first, DIGITS_BYTES);
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
    uint64_t below = (uint64_t)(((decimal_uint128)power.low * value) >> 64);
    decimal_uint128 sum = (decimal_uint128)power.high * value + below;
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
    int h = exponent2 + decimal_floor_log2(-k) + 1;
    struct decimal_power power = decimal_power_of_ten(-k);
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
static size_t print_digits(char *text, uint64_t value, int exponent) {
    struct digits digits;
    size_t kept;
    const char *all = put_digits(&digits, value, &kept);
    while (all[kept - 1] == '0') {
        kept--;
        exponent++;
    }
    int length = (int)kept;
    int point = length + exponent; /* digits before the point */
    char *c = text;
    if (exponent >= 0 && point <= REAL_DIGITS) {
        memcpy(c, all, REAL_DIGITS);
        memset(c + length, '0', (size_t)exponent);
        return (size_t)point;
    }
    if (point > 0 && point <= REAL_DIGITS) {
        memcpy(c, all, REAL_DIGITS);
        c[point] = '.';
        memcpy(c + point + 1, all + point, REAL_DIGITS);
        return (size_t)length + 1;
    }
    if (point <= 0 && point > -5) {
        memcpy(c, "0.0000", 6);
        memcpy(c + 2 - point, all, REAL_DIGITS);
        return (size_t)(2 - point + length);
    }
    *c++ = all[0];
    if (length > 1) {
        *c++ = '.';
        memcpy(c, all + 1, REAL_DIGITS);
        c += length - 1;
    }
    *c++ = 'e';
    c += decimal_print_integer(c, point - 1);
    return (size_t)(c - text);
}

static size_t print_bits(const struct decimal_format format, char *text, uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << format.fraction_bits) - 1);
    int binary = (int)(bits >> format.fraction_bits) & format.infinity;
    bool negative = bits >> format.fraction_bits > (uint64_t)format.infinity;
    char *c = text;
    if (binary == format.infinity) {
        memcpy(text, fraction != 0 ? "NaN" : negative ? "-Inf" : "+Inf", 4);
        return fraction != 0 ? 3 : 4;
    }
    if (negative)
        *c++ = '-';
    if (binary == 0 && fraction == 0) {
        *c++ = '0';
        return (size_t)(c - text);
    }
    uint64_t hidden = UINT64_C(1) << format.fraction_bits;
    int exponent10;
    uint64_t digits =
        binary == 0
            ? shortest_digits(fraction, 1 - format.bias - format.fraction_bits, false,
                              &exponent10)
            : shortest_digits(hidden | fraction, binary - format.bias - format.fraction_bits,
                              fraction == 0 && binary > 1, &exponent10);
    c += print_digits(c, digits, exponent10);
    return (size_t)(c - text);
}

size_t decimal_print_double(char ret_text[DECIMAL_TEXT_BYTES], double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return print_bits(DECIMAL_DOUBLE, ret_text, bits);
}

size_t decimal_print_float(char ret_text[DECIMAL_TEXT_BYTES], float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return print_bits(DECIMAL_FLOAT, ret_text, bits);
}
