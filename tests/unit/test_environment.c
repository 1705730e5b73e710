/* SPDX-License-Identifier: BSD-3-Clause */
/* LD_PRELOAD with a library taken out of it, as programs started later find it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "environment.h"

#include <stdio.h>
#include <string.h>

#define LIBRARY "/usr/lib/votrace/libvotrace.so"

static void test_only_the_librarys_entries_go(void **state) {
    static const struct {
        const char *before;
        const char *after; /* NULL: the variable is gone */
    } cases[] = {
        {LIBRARY, NULL},
        {"libvotrace.so", NULL},
        {"/elsewhere/libvotrace.so:" LIBRARY, NULL},
        {LIBRARY ":libother.so", "libother.so"},
        {"libother.so:" LIBRARY, "libother.so"},
        {"libother.so " LIBRARY " /lib/third.so", "libother.so /lib/third.so"},
        {"libother.so:" LIBRARY ":/lib/third.so", "libother.so:/lib/third.so"},
        {"::" LIBRARY "::", NULL},
        {"mylibvotrace.so", "mylibvotrace.so"},
        {"libvotrace.so.1:/libvotrace.so/x", "libvotrace.so.1:/libvotrace.so/x"},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char first[] = "FIRST=1", last[] = "LAST=" LIBRARY, preload[256];
        snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", cases[i].before);
        char *environment[] = {first, preload, last, NULL};
        environment_drop_preload(environment, LIBRARY);
        assert_ptr_equal(environment[0], first);
        assert_string_equal(last, "LAST=" LIBRARY);
        if (cases[i].after == NULL) {
            assert_ptr_equal(environment[1], last);
            assert_null(environment[2]);
        } else {
            assert_string_equal(environment[1], preload);
            assert_string_equal(preload + strlen("LD_PRELOAD="), cases[i].after);
            assert_ptr_equal(environment[2], last);
        }
    }
}

static void test_without_the_variable_nothing_changes(void **state) {
    char first[] = "LD_PRELOADED=" LIBRARY;
    char *environment[] = {first, NULL};
    char *none[] = {NULL};
    environment_drop_preload(environment, LIBRARY);
    assert_string_equal(environment[0], "LD_PRELOADED=" LIBRARY);
    assert_null(environment[1]);
    environment_drop_preload(none, LIBRARY);
    environment_drop_preload(NULL, LIBRARY);
    assert_null(none[0]);
}

static void test_a_variable_that_is_there_twice_is_treated_twice(void **state) {
    char first[] = "LD_PRELOAD=" LIBRARY, second[] = "LD_PRELOAD=x.so:" LIBRARY;
    char *environment[] = {first, second, NULL};
    environment_drop_preload(environment, LIBRARY);
    assert_string_equal(environment[0], "LD_PRELOAD=x.so");
    assert_null(environment[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_librarys_entries_go),
        cmocka_unit_test(test_without_the_variable_nothing_changes),
        cmocka_unit_test(test_a_variable_that_is_there_twice_is_treated_twice),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
