/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes that people read and type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sizes.h"

#include <errno.h>

static void test_format_keeps_three_digits_and_never_shows_1000_of_a_unit(void **state) {
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {-1, "-1 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {10240, "10.0 KiB"},
        {102400, "100 KiB"},
        {1023 * 1024, "1.00 MiB"},
        {81159094, "77.4 MiB"},
        {-(INT64_C(3) << 30), "-3.00 GiB"},
        {INT64_MAX, "8.00 EiB"},
        {INT64_MIN, "-8.00 EiB"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[SIZES_TEXT_BYTES];
        assert_string_equal(sizes_format(text, cases[i].bytes), cases[i].text);
    }
}

static void test_group_separates_thousands(void **state) {
    char text[SIZES_TEXT_BYTES];
    assert_string_equal(sizes_group(text, 0), "0");
    assert_string_equal(sizes_group(text, 999), "999");
    assert_string_equal(sizes_group(text, 1000), "1,000");
    assert_string_equal(sizes_group(text, -1234567), "-1,234,567");
    assert_string_equal(sizes_group(text, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void test_parse_reads_both_kinds_of_units(void **state) {
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"0", 0},
        {"1000", 1000},
        {"64KiB", 65536},
        {"64 kib", 65536},
        {"64k", 65536},
        {"64kB", 64000},
        {"1.5 MiB", 1572864},
        {"0.5G", INT64_C(1) << 29},
        {"9223372036854775807", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t bytes = -1;
        assert_int_equal(sizes_parse(cases[i].text, &bytes), 0);
        assert_true(bytes == cases[i].bytes);
    }
}

static void test_parse_refuses_what_is_no_size_and_writes_nothing(void **state) {
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"", -EINVAL},     {"KiB", -EINVAL},        {"-1", -EINVAL},
        {"1.", -EINVAL},   {"1 x", -EINVAL},        {"1KiBs", -EINVAL},
        {"0x10", -EINVAL}, {" 1", -EINVAL},         {"9223372036854775808", -ERANGE},
        {"8EiB", -EINVAL}, {"8388608TiB", -ERANGE}, {"99999999999999999999", -ERANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t bytes = 42;
        assert_int_equal(sizes_parse(cases[i].text, &bytes), cases[i].error);
        assert_true(bytes == 42);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_keeps_three_digits_and_never_shows_1000_of_a_unit),
        cmocka_unit_test(test_group_separates_thousands),
        cmocka_unit_test(test_parse_reads_both_kinds_of_units),
        cmocka_unit_test(test_parse_refuses_what_is_no_size_and_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
