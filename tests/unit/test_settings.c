/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOTRACE_* variables, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "settings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *variable;
    const char *value;
    unsigned ignored;
    enum trace_stacks stacks;
    unsigned depth_frames;
} cases[] = {
    {"VOTRACE_STACKS", "none", 0, TRACE_STACKS_NONE, 64},
    {"VOTRACE_STACKS", "region", 0, TRACE_STACKS_REGION, 64},
    {"VOTRACE_STACKS", "all", 0, TRACE_STACKS_ALL, 64},
    {"VOTRACE_STACKS", "", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_STACKS", "ALL", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_STACKS", "all ", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_STACKS", "2", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "1", 0, TRACE_STACKS_REGION, 1},
    {"VOTRACE_DEPTH", "256", 0, TRACE_STACKS_REGION, 256},
    {"VOTRACE_DEPTH", "0032", 0, TRACE_STACKS_REGION, 32},
    {"VOTRACE_DEPTH", "", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "0", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "257", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "-1", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "+8", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "8x", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", " 8", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "4294967297", 1, TRACE_STACKS_REGION, 64},
    {"VOTRACE_DEPTH", "99999999999999999999999", 1, TRACE_STACKS_REGION, 64},
};

static void clear(void) {
    unsetenv("VOTRACE_OUTPUT");
    unsetenv("VOTRACE_STACKS");
    unsetenv("VOTRACE_DEPTH");
    unsetenv("VOTRACE_CHILDREN");
    unsetenv("VOTRACE_SIGNAL");
    unsetenv("VOTRACE_REGION");
}

static void test_defaults_hold_without_variables(void **state) {
    struct settings settings;
    clear();
    settings_read(&settings);
    assert_string_equal(settings.output, "votrace.%e.%p.vtr");
    assert_int_equal(settings.stacks, TRACE_STACKS_REGION);
    assert_int_equal(settings.depth_frames, 64);
    assert_int_equal(settings.children, CHILDREN_EXEC);
    assert_int_equal(settings.signal, 0);
    assert_string_equal(settings.region, "process");
    assert_true(settings.summary);
    assert_int_equal(settings.ignored, 0);
}

static void test_the_line_at_exit_can_be_left_out(void **state) {
    struct settings settings;
    clear();
    setenv("VOTRACE_SUMMARY", "no", 1);
    settings_read(&settings);
    assert_false(settings.summary);
    assert_int_equal(settings.ignored, 0);
    setenv("VOTRACE_SUMMARY", "never", 1);
    settings_read(&settings);
    assert_true(settings.summary);
    assert_int_equal(settings.ignored, 1);
    unsetenv("VOTRACE_SUMMARY");
}

static void test_each_value_is_taken_or_counted_as_ignored(void **state) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings settings;
        clear();
        setenv(cases[i].variable, cases[i].value, 1);
        settings_read(&settings);
        assert_int_equal(settings.ignored, cases[i].ignored);
        assert_int_equal(settings.stacks, cases[i].stacks);
        assert_int_equal(settings.depth_frames, cases[i].depth_frames);
    }
    clear();
}

static void test_output_is_taken_unless_empty_or_longer_than_a_path(void **state) {
    static char longest[PATH_MAX];
    static char too_long[PATH_MAX + 1];
    struct settings settings;
    memset(longest, 'x', sizeof(longest) - 1);
    memset(too_long, 'x', sizeof(too_long) - 1);
    clear();

    setenv("VOTRACE_OUTPUT", "/some where/%p", 1);
    settings_read(&settings);
    assert_string_equal(settings.output, "/some where/%p");

    setenv("VOTRACE_OUTPUT", longest, 1);
    settings_read(&settings);
    assert_string_equal(settings.output, longest);
    assert_int_equal(settings.ignored, 0);

    setenv("VOTRACE_OUTPUT", too_long, 1);
    settings_read(&settings);
    assert_string_equal(settings.output, "votrace.%e.%p.vtr");
    assert_int_equal(settings.ignored, 1);

    setenv("VOTRACE_OUTPUT", "", 1);
    settings_read(&settings);
    assert_string_equal(settings.output, "votrace.%e.%p.vtr");
    assert_int_equal(settings.ignored, 1);
    clear();
}

static void test_a_kept_folder_does_not_change_with_the_programs(void **state) {
    static struct settings settings;
    char folder[] = "/tmp/votrace 100% XXXXXX";
    char wanted[PATH_MAX], here[PATH_MAX];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    clear();
    setenv("VOTRACE_OUTPUT", "a/%e.%p.vtr", 1);
    settings_read(&settings);
    settings_keep_folder(&settings);
    snprintf(wanted, sizeof(wanted), "/tmp/votrace 100%% %s/a/%%e.%%p.vtr",
             strrchr(folder, ' ') + 1);
    /* A percent sign of the folder's is no letter of the pattern's. */
    char *sign = strchr(wanted, '%');
    memmove(sign + 1, sign, strlen(sign) + 1);
    assert_string_equal(settings.output, wanted);
    settings_keep_folder(&settings);
    assert_string_equal(settings.output, wanted);

    memset(settings.output, 'x', PATH_MAX - 2);
    settings.output[PATH_MAX - 2] = '\0';
    settings_keep_folder(&settings);
    assert_int_equal(settings.output[0], 'x');
    assert_int_equal(chdir(here), 0);
    assert_int_equal(rmdir(folder), 0);
    clear();
}

static void test_children_are_a_word(void **state) {
    static const struct {
        const char *value;
        enum settings_children children;
        unsigned ignored;
    } words[] = {
        {"none", CHILDREN_NONE, 0},     {"exec", CHILDREN_EXEC, 0},
        {"follow", CHILDREN_FOLLOW, 0}, {"follow ", CHILDREN_EXEC, 1},
        {"", CHILDREN_EXEC, 1},         {"1", CHILDREN_EXEC, 1},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct settings settings;
        clear();
        setenv("VOTRACE_CHILDREN", words[i].value, 1);
        settings_read(&settings);
        assert_int_equal(settings.children, words[i].children);
        assert_int_equal(settings.ignored, words[i].ignored);
    }
    clear();
}

static void test_a_signal_has_a_name_or_a_number_and_can_be_caught(void **state) {
    static const struct {
        const char *value;
        int signal; /* 0: ignored */
    } values[] = {
        {"USR2", SIGUSR2}, {"SIGUSR2", SIGUSR2},
        {"12", 12},        {"HUP", SIGHUP},
        {"64", 64},        {"KILL", 0},
        {"SIGSEGV", 0},    {"9", 0},
        {"11", 0},         {"19", 0},
        {"33", 0},         {"65", 0},
        {"0", 0},          {"", 0},
        {"SIG", 0},        {"usr2", 0},
        {"SIGSIGUSR2", 0}, {"-12", 0},
        {"12x", 0},        {"4294967308", 0},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct settings settings;
        clear();
        setenv("VOTRACE_SIGNAL", values[i].value, 1);
        settings_read(&settings);
        assert_int_equal(settings.signal, values[i].signal);
        assert_int_equal(settings.ignored, values[i].signal == 0);
        assert_string_equal(settings.region, values[i].signal == 0 ? "process" : "signal");
    }
    clear();
}

static void test_the_region_names_what_the_signal_marks(void **state) {
    static const struct {
        const char *signal; /* NULL: not set */
        const char *value;
        const char *region;
        unsigned ignored;
    } cases_of_region[] = {
        {"USR1", "load", "load", 0},
        {"USR1", "process", "signal", 0},
        {"USR1", "", "signal", 1},
        {NULL, "process", "process", 0},
        {NULL, "load", "load", 1}, /* nothing would begin it */
        {"USR1", "012345678901234567890123456789012345678901234567890123456789012",
         "012345678901234567890123456789012345678901234567890123456789012", 0},
        {"USR1", "0123456789012345678901234567890123456789012345678901234567890123", "signal",
         1},
    };
    for (size_t i = 0; i < sizeof(cases_of_region) / sizeof(cases_of_region[0]); i++) {
        struct settings settings;
        clear();
        if (cases_of_region[i].signal != NULL)
            setenv("VOTRACE_SIGNAL", cases_of_region[i].signal, 1);
        setenv("VOTRACE_REGION", cases_of_region[i].value, 1);
        settings_read(&settings);
        assert_string_equal(settings.region, cases_of_region[i].region);
        assert_int_equal(settings.ignored, cases_of_region[i].ignored);
    }
    clear();
}

static void test_every_ignored_variable_counts(void **state) {
    struct settings settings;
    setenv("VOTRACE_OUTPUT", "", 1);
    setenv("VOTRACE_STACKS", "some", 1);
    setenv("VOTRACE_DEPTH", "deep", 1);
    settings_read(&settings);
    clear();
    assert_int_equal(settings.ignored, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_hold_without_variables),
        cmocka_unit_test(test_the_line_at_exit_can_be_left_out),
        cmocka_unit_test(test_each_value_is_taken_or_counted_as_ignored),
        cmocka_unit_test(test_output_is_taken_unless_empty_or_longer_than_a_path),
        cmocka_unit_test(test_a_kept_folder_does_not_change_with_the_programs),
        cmocka_unit_test(test_children_are_a_word),
        cmocka_unit_test(test_a_signal_has_a_name_or_a_number_and_can_be_caught),
        cmocka_unit_test(test_the_region_names_what_the_signal_marks),
        cmocka_unit_test(test_every_ignored_variable_counts),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
