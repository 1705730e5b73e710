/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of numbers in text are those that strtod reads, to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decimal.h"
#include "decimal_many.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX 200
#define TEXT_BYTES  (NUMBERS_MAX * 64)

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

/* A finite double with any exponent, subnormal ones too. */
static double any_double(uint64_t *state) {
    uint64_t bits;
    do
        bits = next_random(state);
    while ((bits >> 52 & 0x7ff) == 0x7ff);
    return double_of(bits);
}

/* As somebody might write a number. */
static int print_number(char *text, size_t size, uint64_t *state) {
    double unit = (double)(next_random(state) >> 11) * 0x1p-53;
    double scale[] = {1e-4, 1e-2, 1, 360, 1e5, 1e9};
    double value =
        unit * scale[next_random(state) % 6] * (next_random(state) % 2 != 0 ? 1 : -1);
    unsigned long long digits = next_random(state);
    switch (next_random(state) % 9) {
    case 0:
        return snprintf(text, size, "%.17g", any_double(state));
    case 1:
        return snprintf(text, size, "%.*f", (int)(digits % 21), value);
    case 2:
        return snprintf(text, size, "%.*e", (int)(digits % 18), any_double(state));
    case 3:
        return snprintf(text, size, "%lld", (long long)digits >> digits % 64);
    case 4:
        /* Half way between two doubles, or next to it. */
        return snprintf(text, size, "%llu.%d", (1ULL << 53) + (digits >> 12) / 2 * 2 + 1,
                        (int)(digits % 2));
    case 5:
        return snprintf(text, size, "%llu.%llu", digits >> 40, digits);
    case 6:
        return snprintf(text, size, "0.%0*llu", (int)(digits % 25), digits >> 6);
    default:
        return snprintf(text, size, "%.17g", value);
    }
}

/* All of the text, what is not easily read by the other function, as cell_text.c does. */
static size_t read_all(const char *text, const char *end, double *to, size_t *easy) {
    size_t count = 0;
    while (text < end) {
        size_t read = decimal_parse_doubles(text, end, (unsigned char *)(to + count),
                                            NUMBERS_MAX - count, &text);
        count += read;
        *easy += read;
        if (text == end || count == NUMBERS_MAX)
            break;
        const char *behind = text + strcspn(text, " \t\r\n<");
        assert_int_equal(decimal_parse_double(text, behind, &to[count++]), 0);
        text = behind + strspn(behind, " \t\r\n");
    }
    return count;
}

static void test_arrays_are_read_as_strtod_reads_them(void **state) {
    static const char *const blanks[] = {" ", " ", " ", " ", "  ", "\n", "\r\n\t", "        "};
    uint64_t random = 88172645463325252;
    size_t easy = 0;
    size_t all = 0;
    for (int round = 0; round < 4000; round++) {
        size_t wanted = 1 + next_random(&random) % NUMBERS_MAX;
        double values[NUMBERS_MAX];
        double read[NUMBERS_MAX];
        char *text = malloc(TEXT_BYTES);
        assert_non_null(text);
        size_t length = 0;
        for (size_t i = 0; i < wanted; i++) {
            char number[64];
            int bytes = print_number(number, sizeof(number), &random);
            assert_true(bytes > 0 && bytes < (int)sizeof(number));
            values[i] = strtod(number, NULL);
            length +=
                (size_t)sprintf(text + length, "%s%s", i > 0 ? blanks[random % 8] : "", number);
        }
        text[length] = '<';
        text = realloc(text, length + 1); /* nothing behind it may be read */
        assert_non_null(text);
        assert_int_equal(read_all(text, text + length, read, &easy), wanted);
        assert_memory_equal(read, values, wanted * sizeof(values[0]));
        all += wanted;
        free(text);
    }
    /* Else this is about the other function. */
    assert_true(easy > all / 2);
}

/* Repeated, so that some stand where 32 bytes around them can be looked at. */
static void test_every_shape_of_a_number_stands_anywhere(void **state) {
    static const char *const shapes[] = {
        "0",
        "-0",
        "-0.0",
        "0.0",
        "1.",
        ".5",
        "-.5",
        "+1.5",
        "-1.5",
        "1.5e3",
        "1.5E+3",
        "-1.5e-3",
        "1.5e-300",
        "1.5e308",
        "1.5e309",
        "1.5e-400",
        "1e5",
        "4.9e-324",
        "2.4703282292062327208e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "0.1",
        "0.10000000000000001",
        "123456789012345678.5",
        "1234567890123456789.5",
        "12345678901234567890.5",
        "9007199254740993.0",
        "9007199254740992.5",
        "9007199254740993.5",
        "0.500000000000000166",
        "0.00011418238741045528",
        "0.000000000000000000001",
        "0.0000000000000000000000000000001",
        "00000000000000000000000000001.5",
        "1.0000000000000000000000000000",
        "0.00000000000000000012345678901",
        "0.99999999999999999999999999999",
        "8.5899345920000000000000000001",
        "0.12345678901234567890",
        "1.5e0000000000000000000001",
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (size_t others = 0; others < 8; others++) {
            char text[512] = "";
            double read[NUMBERS_MAX];
            size_t easy = 0;
            for (size_t j = 0; j < 5; j++) {
                strcat(text, shapes[i]);
                for (size_t k = 0; k < others; k++)
                    strcat(text, " 7.25");
                strcat(text, j < 4 ? " " : "");
            }
            size_t length = strlen(text);
            assert_int_equal(read_all(text, text + length, read, &easy), 5 * (1 + others));
            for (size_t j = 0; j < 5 * (1 + others); j++) {
                double wanted = j % (1 + others) == 0 ? strtod(shapes[i], NULL) : 7.25;
                assert_memory_equal(&read[j], &wanted, sizeof(wanted));
            }
        }
}

/* What is no number stops the reading there, with all before it read. */
static void test_reading_stops_at_what_is_no_number(void **state) {
    static const char *const wrong[] = {
        "x",   "1.5x", "1.5.5", "1e",      "1.5e", "1.5e+", "-",  "--1.5", "1,5",   "0x1p3",
        "NaN", "Inf",  "+-1.5", "1.5e5.5", "1.5<", ".",     "-.", "e5",    "1.5e-x"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        for (size_t before = 0; before < 20; before++) {
            char text[512] = "";
            double read[NUMBERS_MAX];
            const char *next;
            for (size_t k = 0; k < before; k++)
                strcat(text, "12.125 ");
            size_t at = strlen(text);
            strcat(text, wrong[i]);
            for (size_t k = 0; k < 20 - before; k++)
                strcat(text, " 12.125");
            assert_int_equal(decimal_parse_doubles(text, text + strlen(text),
                                                   (unsigned char *)read, NUMBERS_MAX, &next),
                             before);
            assert_int_equal(next - text, at);
            for (size_t k = 0; k < before; k++)
                assert_true(read[k] == 12.125);
        }
}

static void test_no_more_are_read_than_were_asked_for(void **state) {
    static const char text[] = "1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5 11.5 12.5 13.5 14.5 "
                               "15.5 16.5 17.5 18.5 19.5 20.5 21.5 22.5";
    for (size_t most = 0; most <= 22; most++) {
        double *read = malloc(most * sizeof(*read) + 1);
        const char *next;
        assert_non_null(read);
        assert_int_equal(decimal_parse_doubles(text, text + sizeof(text) - 1,
                                               (unsigned char *)read, most, &next),
                         most);
        if (most < 22)
            assert_true(strtod(next, NULL) == (double)most + 1.5);
        else
            assert_ptr_equal(next, text + sizeof(text) - 1);
        for (size_t i = 0; i < most; i++)
            assert_true(read[i] == (double)i + 1.5);
        free(read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_are_read_as_strtod_reads_them),
        cmocka_unit_test(test_every_shape_of_a_number_stands_anywhere),
        cmocka_unit_test(test_reading_stops_at_what_is_no_number),
        cmocka_unit_test(test_no_more_are_read_than_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
