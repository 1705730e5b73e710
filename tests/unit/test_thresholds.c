/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of limits: what it says, and every way to write it wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "glob.h"
#include "thresholds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_lines_become_rules_in_their_order(void **state) {
    static const char text[] = "# our limits\n"
                               "\n"
                               "  limit *\tpeak_added ratio 1.02 added 64KiB # trailing\r\n"
                               "limit \"a b(c=\\\"d\\\\\\\")\" time added 1.5 ms\n";
    static const char good[] =
        "# our limits\n"
        "\n"
        "  limit *\tpeak_added ratio 1.02 added 64KiB # trailing\r\n"
        "limit \"a b(c=\\\"d\\\\\\\")\" time added 1.5ms\n"
        "drift * count added 7\n"
        "limit x rss off\n"
        "allow imp?rt combined until 2028-02-29 because \"leap # day\" added \"2 MiB\"";
    struct thresholds thresholds;
    struct fault fault = {0};
    uint64_t lineno;
    assert_int_equal(thresholds_parse(text, strlen(text), &thresholds, &lineno, &fault),
                     -EINVAL);
    assert_int_equal(lineno, 4);
    assert_int_equal(thresholds_parse(good, strlen(good), &thresholds, &lineno, &fault), 0);
    assert_int_equal(thresholds.count, 5);
    const struct thresholds_rule *rule = thresholds.rules;
    assert_string_equal(rule[0].pattern, "*");
    assert_int_equal(rule[0].max_added, 65536);
    assert_true(rule[0].max_ratio > 1.019 && rule[0].max_ratio < 1.021);
    assert_int_equal(rule[0].lineno, 3);
    assert_string_equal(rule[1].pattern, "a b(c=\"d\\\")");
    assert_int_equal(rule[1].metric, METRIC_TIME);
    assert_int_equal(rule[1].max_added, 1500000);
    assert_int_equal(rule[2].kind, THRESHOLDS_DRIFT);
    assert_int_equal(rule[2].max_added, 7);
    assert_true(rule[3].off);
    assert_int_equal(rule[4].kind, THRESHOLDS_ALLOW);
    assert_string_equal(rule[4].reason, "leap # day");
    assert_string_equal(rule[4].until, "2028-02-29");
    assert_int_equal(rule[4].max_added, 2 << 20);
    thresholds_finish(&thresholds);
}

static void test_every_mistake_is_told_with_its_line(void **state) {
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"permit * peak_added off", "begins with limit, drift or allow, not 'permit'"},
        {"limit", "which benchmark, and which metric?"},
        {"limit *", "which benchmark, and which metric?"},
        {"limit * heap off", "a metric is peak_added"},
        {"limit * peak_added", "how much?"},
        {"limit * peak_added ratio", "a value is missing after 'ratio'"},
        {"limit * peak_added ratio 0.9", "a ratio is a number from 1, not '0.9'"},
        {"limit * peak_added ratio inf", "a ratio is a number from 1"},
        {"limit * peak_added ratio nan", "a ratio is a number from 1"},
        {"limit * peak_added ratio 0x2", "a ratio is a number from 1"},
        {"limit * peak_added ratio 1e3", "a ratio is a number from 1"},
        {"limit * peak_added ratio 1.0 ratio 2", "'ratio' stands twice"},
        {"limit * peak_added added lots", "what peak_added may add is a size like 64KiB"},
        {"limit * peak_added added -1", "a size like 64KiB"},
        {"limit * count added 1KiB", "what count may add is a whole number"},
        {"limit * count added 99999999999999999999", "a whole number"},
        {"limit * time added 5", "what time may add is a time like 5ms"},
        {"limit * time added 5e3s", "a time like 5ms"},
        {"limit * time added 99999999999999999999s", "a time like 5ms"},
        {"limit * peak_added until 2027-01-01", "'until' is not known here"},
        {"limit * peak_added off off", "'off' is not known here"},
        {"allow * peak_added off", "'off' is not known here"},
        {"allow * peak_added added 1", "'until' is missing"},
        {"allow * peak_added added 1 until 2027-01-01", "'because' is missing"},
        {"allow * peak_added ratio 2 until 2027-01-01 because x", "'ratio' is not known here"},
        {"allow * peak_added added 1 until 2027-02-29 because x", "a day is written like"},
        {"allow * peak_added added 1 until 2027-13-01 because x", "a day is written like"},
        {"allow * peak_added added 1 until 2027-1-1 because x", "a day is written like"},
        {"allow * peak_added added 1 until 2027-01-+1 because x", "a day is written like"},
        {"allow * peak_added added 1 until tomorrow because x", "a day is written like"},
        {"allow * peak_added added 1 until 2027-01-01 because \"  \"",
         "reason of an allowance"},
        {"allow * peak_added added 1 until 2027-01-01 because a new cache of things",
         "too many words"},
        {"allow * peak_added added 1 until 2027-01-01 because two words",
         "'words' is not known here"},
        {"limit \"* peak_added off", "a quote is not closed"},
        {"limit \"*\"x peak_added off", "follows a quote without a blank"},
        {"limit a\"b peak_added off", "a quote stands inside a word"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256] = "limit * peak_added off\n\n";
        struct thresholds thresholds = {.count = 77};
        struct fault fault = {0};
        uint64_t lineno;
        strcat(text, cases[i].line);
        assert_int_equal(thresholds_parse(text, strlen(text), &thresholds, &lineno, &fault),
                         -EINVAL);
        assert_int_equal(lineno, 3);
        if (!strstr(fault.text, cases[i].words))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].line, fault.text,
                     cases[i].words);
        assert_int_equal(thresholds.count, 77);
    }
}

static void test_hostile_sizes_are_refused(void **state) {
    struct thresholds thresholds;
    struct fault fault = {0};
    uint64_t lineno;
    size_t size = THRESHOLDS_FILE_MAX + 1;
    char *text = malloc(size + 1);
    memset(text, '#', size);
    assert_int_equal(thresholds_parse(text, size, &thresholds, &lineno, &fault), -E2BIG);
    assert_int_equal(lineno, 0);
    assert_int_equal(thresholds_parse(text, 5000, &thresholds, &lineno, &fault), -EINVAL);
    assert_non_null(strstr(fault.text, "longer than 4096 bytes"));
    assert_int_equal(thresholds_parse("a\0b", 3, &thresholds, &lineno, &fault), -EINVAL);
    assert_non_null(strstr(fault.text, "NUL"));
    static const char rule[] = "limit * rss off\n";
    for (size_t i = 0; i <= THRESHOLDS_RULES_MAX; i++)
        memcpy(text + i * strlen(rule), rule, strlen(rule));
    size = (THRESHOLDS_RULES_MAX + 1) * strlen(rule);
    assert_int_equal(thresholds_parse(text, size, &thresholds, &lineno, &fault), -E2BIG);
    assert_int_equal(lineno, THRESHOLDS_RULES_MAX + 1);
    free(text);
}

static void test_a_file_that_is_not_there_is_told(void **state) {
    struct thresholds thresholds;
    struct fault fault = {0};
    uint64_t lineno;
    assert_int_equal(thresholds_read("/no/such/file", &thresholds, &lineno, &fault), -ENOENT);
    assert_non_null(strstr(fault.text, "cannot be read"));
    assert_int_equal(thresholds_read("/", &thresholds, &lineno, &fault), -EISDIR);
    /* A device without an end is read as far as a file may be long. */
    assert_int_equal(thresholds_read("/dev/zero", &thresholds, &lineno, &fault), -E2BIG);
}

static void test_stars_are_any_text_and_nothing_else_is_special(void **state) {
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},          {"", "a", false},     {"*", "", true},
        {"*", "anything", true}, {"a*c", "abc", true}, {"a*c", "ac", true},
        {"a*c", "ab", false},    {"a?c", "abc", true}, {"a?c", "ac", false},
        {"*b*", "abc", true},    {"*b", "abab", true}, {"a*b*c", "aXbYbZc", true},
        {"a**b", "ab", true},    {"[ab]", "a", false}, {"[ab]", "[ab]", true},
        {"\\*", "\\x", true},    {"*ab", "aab", true}, {"*aab", "aaab", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (glob_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("%s %s", cases[i].pattern, cases[i].text);
}

/* A thousand stars over text that never matches: a step for each pair of characters at most. */
static void test_no_pattern_takes_for_ever(void **state) {
    char pattern[4001];
    char text[4001];
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(pattern + i, "*a", 2);
    strcpy(pattern + 3998, "*b");
    memset(text, 'a', 4000);
    text[4000] = '\0';
    assert_false(glob_matches(pattern, text));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_become_rules_in_their_order),
        cmocka_unit_test(test_every_mistake_is_told_with_its_line),
        cmocka_unit_test(test_hostile_sizes_are_refused),
        cmocka_unit_test(test_a_file_that_is_not_there_is_told),
        cmocka_unit_test(test_stars_are_any_text_and_nothing_else_is_special),
        cmocka_unit_test(test_no_pattern_takes_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
