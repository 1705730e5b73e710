/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ functions, from their symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "demangle.h"

#include <stdlib.h>
#include <string.h>

static void test_a_function_keeps_its_own_name_alone(void **state) {
    static const struct {
        const char *symbol;
        const char *name;
    } names[] = {
        {"_ZN3app6Reader4loadEi", "app::Reader::load"},
        {"_Z4loadIiET_S0_", "load<int>"}, /* int load<int>(int) */
        {"_ZN3app4loadISt6vectorIiSaIiEEEET_RKNS_4NameE",
         "app::load<std::vector<int, std::allocator<int> > >"}, /* returns a vector */
        {"_ZNK3app6Reader4sizeEv", "app::Reader::size"},        /* ... size() const */
        {"_ZN12_GLOBAL__N_14loadEi", "(anonymous namespace)::load"},
        {"_Znwm", "operator new"},
        {"_Znam", "operator new[]"},
        {"_ZN3app6ReaderclEi", "app::Reader::operator()"},
        {"_ZlsRSoRK4Name", "operator<<"},
        {"_ZN3app6ReadercviEv", "app::Reader::operator int"},
        {"_ZN3app6ReaderC1Ev", "app::Reader::Reader"},
        {"_ZN3app6ReaderD0Ev", "app::Reader::~Reader"},
        {"_ZZN3app4loadEiENKUliE_clEi", "app::load(int)::{lambda(int)#1}::operator()"},
        {"_ZTVN3app6ReaderE", "vtable for app::Reader"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *name = demangle(names[i].symbol);
        assert_non_null(name);
        assert_string_equal(name, names[i].name);
        free(name);
    }
}

static void test_what_is_no_name_of_cxx_is_left_alone(void **state) {
    assert_null(demangle("main"));
    assert_null(demangle(""));
    assert_null(demangle("_Z"));
    assert_null(demangle("_ZN3app6Reader"));
    assert_null(demangle("_Zzz\xff<script>"));
}

static void test_a_name_of_a_hundred_kilobytes_stays_as_it_is(void **state) {
    static char symbol[100032] = "_Z100000";
    size_t begin = strlen(symbol);
    memset(symbol + begin, 'x', 100000);
    symbol[begin + 100000] = 'v';
    assert_null(demangle(symbol));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_keeps_its_own_name_alone),
        cmocka_unit_test(test_what_is_no_name_of_cxx_is_left_alone),
        cmocka_unit_test(test_a_name_of_a_hundred_kilobytes_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
