/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in text, to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decimal.h"
#include "decimal_powers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200000

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717);
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool same_double(double a, double b) {
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool same_float(float a, float b) {
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Numbers of 40 digits of 32 bits, the least first: enough for 2^(127+1137). */
#define LIMBS 48

static void multiply(uint32_t number[LIMBS], uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)number[i] * factor;
        number[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_true(carry == 0);
}

static void divide(uint32_t number[LIMBS], uint32_t divisor) {
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | number[i];
        number[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

static struct decimal_power top_bits(const uint32_t number[LIMBS]) {
    int top = LIMBS * 32 - 1;
    while ((number[top / 32] >> top % 32 & 1) == 0)
        top--;
    struct decimal_power power = {0};
    for (int i = 0; i < 128; i++) {
        uint64_t bit = top - i >= 0 ? number[(top - i) / 32] >> (top - i) % 32 & 1 : 0;
        *(i < 64 ? &power.high : &power.low) |= bit << (63 - i % 64);
    }
    return power;
}

/* 10^k by multiplication; 10^-k as 2^1500 divided k times, cut each time: below 342 roundings
 * far behind the 128 bits that count. */
static void test_powers_of_ten_are_the_first_128_bits(void **state) {
    uint32_t number[LIMBS] = {1};
    for (int k = 0; k <= DECIMAL_POWER_MAX; k++) {
        struct decimal_power wanted = top_bits(number);
        struct decimal_power power = decimal_powers[k - DECIMAL_POWER_MIN];
        assert_true(power.high == wanted.high && power.low == wanted.low);
        multiply(number, 10);
    }
    memset(number, 0, sizeof(number));
    number[1500 / 32] = 1u << 1500 % 32;
    for (int k = -1; k >= DECIMAL_POWER_MIN; k--) {
        divide(number, 10);
        struct decimal_power wanted = top_bits(number);
        struct decimal_power power = decimal_powers[k - DECIMAL_POWER_MIN];
        assert_true(power.high == wanted.high && power.low == wanted.low);
    }
}

static void check_double(double value) {
    char text[DECIMAL_TEXT_BYTES + 1];
    size_t length = decimal_print_double(text, value);
    double back = 0;
    assert_true(length <= DECIMAL_TEXT_BYTES);
    text[length] = '\0';
    assert_true(same_double(strtod(text, NULL), value));
    assert_int_equal(decimal_parse_double(text, text + length, &back), 0);
    assert_true(same_double(back, value));
}

static void test_every_double_comes_back_as_it_was(void **state) {
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < ROUNDS; i++) {
        double value = double_of(next_random(&random));
        if (isfinite(value))
            check_double(value);
        check_double((double)(next_random(&random) >> 11) * 0x1p-53);
    }
    for (int exponent = -1074; exponent < 1024; exponent++) {
        uint64_t bits = exponent < -1022 ? UINT64_C(1) << (exponent + 1074)
                                         : (uint64_t)(exponent + 1023) << 52;
        check_double(double_of(bits));
        check_double(-double_of(bits - 1));
        check_double(double_of(bits + 1));
    }
}

static void test_every_float_comes_back_as_it_was(void **state) {
    uint64_t random = 42;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t bits = (uint32_t)next_random(&random);
        float value;
        float back = 0;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        char text[DECIMAL_TEXT_BYTES + 1];
        size_t length = decimal_print_float(text, value);
        text[length] = '\0';
        assert_true(same_float(strtof(text, NULL), value));
        assert_int_equal(decimal_parse_float(text, text + length, &back), 0);
        assert_true(same_float(back, value));
    }
}

static void test_no_shorter_text_would_do(void **state) {
    uint64_t random = 7;
    for (int i = 0; i < ROUNDS / 10; i++) {
        double value = fabs(double_of(next_random(&random)));
        if (!isfinite(value) || value == 0)
            continue;
        char text[DECIMAL_TEXT_BYTES + 1];
        size_t length = decimal_print_double(text, value);
        text[length] = '\0';
        int digits = 0;
        for (const char *c = text; *c != '\0' && *c != 'e'; c++)
            digits += *c >= '0' && *c <= '9';
        /* Zeros in front or at the end of a plain number are no digits of it. */
        char other[40];
        snprintf(other, sizeof(other), "%.*e", digits > 1 ? digits - 2 : 0, value);
        if (strchr(text, 'e') != NULL && digits > 1)
            assert_false(same_double(strtod(other, NULL), value));
    }
}

static void test_long_and_close_texts_round_as_strtod_does(void **state) {
    static const char *const texts[] = {
        "0.1",
        "1e22",
        "1e23",
        "9007199254740993",
        "9007199254740992.9999999999999999",
        "9007199254740993.00000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e400",
        "-1e-400",
        "0e999999999999",
        "123456789012345678901234567890",
        "1e-5",
        "000000000001",
        "0.000000000000000000000000000000000000000000000000000000000000000000000001e70",
        "8.5899345930000001e9",
        "16777217",
        "16777217.0000000001",
        "3.4028235677973366e38",
        "1.4012984643e-45",
        "0.7006492321624085e-45",
        ".5",
        "5.",
        "+5",
        "6929495644600919.5",
        "3.2378839133029012895883524125015321748630094e-290",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value = -1;
        float narrow = -1;
        const char *end = texts[i] + strlen(texts[i]);
        assert_int_equal(decimal_parse_double(texts[i], end, &value), 0);
        assert_true(same_double(value, strtod(texts[i], NULL)));
        assert_int_equal(decimal_parse_float(texts[i], end, &narrow), 0);
        assert_true(same_float(narrow, strtof(texts[i], NULL)));
    }
    uint64_t random = 3;
    for (int i = 0; i < ROUNDS; i++) {
        char text[64];
        double value = 0;
        float narrow = 0;
        int length = snprintf(text, sizeof(text), "%" PRIu64 "e%d", next_random(&random),
                              (int)(next_random(&random) % 660) - 350);
        assert_int_equal(decimal_parse_double(text, text + length, &value), 0);
        assert_true(same_double(value, strtod(text, NULL)));
        assert_int_equal(decimal_parse_float(text, text + length, &narrow), 0);
        assert_true(same_float(narrow, strtof(text, NULL)));
    }
}

static void test_numbers_are_laid_out_for_people(void **state) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {100, "100"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {0.1, "0.1"},
        {0.00001, "0.00001"},
        {0.000001, "1e-6"},
        {1.25e-7, "1.25e-7"},
        {1e300, "1e300"},
        {__builtin_inf(), "+Inf"},
        {-__builtin_inf(), "-Inf"},
        {__builtin_nan(""), "NaN"},
        {5e-324, "5e-324"},
        {123456.789, "123456.789"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[DECIMAL_TEXT_BYTES + 1];
        text[decimal_print_double(text, cases[i].value)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
    char text[DECIMAL_TEXT_BYTES + 1];
    text[decimal_print_float(text, 0.1f)] = '\0';
    assert_string_equal(text, "0.1");
    text[decimal_print_integer(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
    text[decimal_print_integer(text, 0)] = '\0';
    assert_string_equal(text, "0");
}

static void test_what_is_no_real_is_refused_and_writes_nothing(void **state) {
    static const char *const texts[] = {
        "",    ".",    "-",  "e5",    "1e",   "1e+", "1.2.3", "1 ",     " 1",  "0x10",
        "1,5", "nano", "in", "infin", "1e5x", "--1", "1e5.5", "nan(1)", "+-1", "1f"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value = 42;
        float narrow = 42;
        const char *end = texts[i] + strlen(texts[i]);
        assert_int_equal(decimal_parse_double(texts[i], end, &value), -EINVAL);
        assert_int_equal(decimal_parse_float(texts[i], end, &narrow), -EINVAL);
        assert_true(same_double(value, 42) && same_float(narrow, 42));
    }
}

static void test_special_reals_in_any_case(void **state) {
    static const char *const texts[] = {"Inf", "+inf", "INFINITY"};
    double value = 0;
    float narrow = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *end = texts[i] + strlen(texts[i]);
        assert_int_equal(decimal_parse_double(texts[i], end, &value), 0);
        assert_true(isinf(value) && value > 0);
    }
    assert_int_equal(decimal_parse_float("-Inf", &"-Inf"[4], &narrow), 0);
    assert_true(isinf(narrow) && narrow < 0);
    assert_int_equal(decimal_parse_double("nan", &"nan"[3], &value), 0);
    assert_true(isnan(value));
    assert_int_equal(decimal_parse_float("NaN", &"NaN"[3], &narrow), 0);
    assert_true(isnan(narrow));
}

static void test_integers(void **state) {
    static const struct {
        const char *text;
        int result;
        int64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"+5", 0, 5},
        {"007", 0, 7},
        {"0x1F", 0, 31},
        {"-0x10", 0, -16},
        {"0xffff", 0, 65535},
        {"65535", 0, 65535},
        {"-65535", 0, -65535},
        {"65536", -ERANGE, 0},
        {"-65536", -ERANGE, 0},
        {"99999999999999999999", -ERANGE, 0},
        {"0xfffffffffffffffff", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"-", -EINVAL, 0},
        {"0x", -EINVAL, 0},
        {"0X1F", -EINVAL, 0},
        {"1.", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1a", -EINVAL, 0},
        {"0xg", -EINVAL, 0},
        {"1@", -EINVAL, 0},
        {"--1", -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 42;
        int result = decimal_parse_integer(cases[i].text, cases[i].text + strlen(cases[i].text),
                                           -65535, 65535, &value);
        assert_int_equal(result, cases[i].result);
        assert_true(value == (result == 0 ? cases[i].value : 42));
    }
    int64_t value = 0;
    const char *least = "-9223372036854775808";
    assert_int_equal(
        decimal_parse_integer(least, least + strlen(least), INT64_MIN, INT64_MAX, &value), 0);
    assert_true(value == INT64_MIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_of_ten_are_the_first_128_bits),
        cmocka_unit_test(test_every_double_comes_back_as_it_was),
        cmocka_unit_test(test_every_float_comes_back_as_it_was),
        cmocka_unit_test(test_no_shorter_text_would_do),
        cmocka_unit_test(test_long_and_close_texts_round_as_strtod_does),
        cmocka_unit_test(test_numbers_are_laid_out_for_people),
        cmocka_unit_test(test_what_is_no_real_is_refused_and_writes_nothing),
        cmocka_unit_test(test_special_reals_in_any_case),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
