/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an href leads, seen from a document; and that nothing leads to a network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "href.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_an_href_is_seen_from_the_document(void **state) {
    static const struct {
        const char *document;
        const char *href;
        const char *path;
    } cases[] = {
        {"t.vot", "data.bin", "data.bin"},
        {"a/b/t.vot", "data.bin", "a/b/data.bin"},
        {"a/b/t.vot", "../data.bin", "a/b/../data.bin"},
        {"/x/t.vot", "sub/data.bin.gz", "/x/sub/data.bin.gz"},
        {"a/t.vot", "/abs/data.bin", "/abs/data.bin"},
        {"a/t.vot", "file:///abs/data.bin", "/abs/data.bin"},
        {"a/t.vot", "FILE://localhost/abs/data.bin", "/abs/data.bin"},
        {"a/t.vot", "file:/abs/data.bin", "/abs/data.bin"},
        {"a/t.vot", "file:data.bin", "a/data.bin"},
        {"-", "data.bin", "data.bin"},
        {"a/t.vot", "with%20blank%2Fand%zz", "a/with blank/and%zz"},
        {"a/t.vot", "data.bin#part", "a/data.bin"},
        {"a/t.vot", "./1:2", "a/./1:2"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct problem problem = {0};
        char *path = NULL;
        assert_int_equal(href_resolve(cases[i].document, cases[i].href, strlen(cases[i].href),
                                      1, &path, &problem),
                         0);
        assert_string_equal(path, cases[i].path);
        free(path);
    }
}

static void test_nothing_leads_to_a_network_or_nowhere(void **state) {
    static const struct {
        const char *href;
        int code;
    } cases[] = {
        {"http://x.invalid/d", -ENOTSUP},
        {"HTTPS://x.invalid/d", -ENOTSUP},
        {"ftp://x.invalid/d", -ENOTSUP},
        {"//x.invalid/d", -ENOTSUP},
        {"file://x.invalid/d", -ENOTSUP},
        {"file://localhost", -ENOTSUP},
        {"data:,x", -ENOTSUP},
        {"httpg+x.y-z:d", -ENOTSUP},
        {"file:", -EBADMSG},
        {"#part", -EBADMSG},
        {"a%00b", -EBADMSG},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct problem problem = {0};
        char *path = NULL;
        assert_int_equal(
            href_resolve("a/t.vot", cases[i].href, strlen(cases[i].href), 3, &path, &problem),
            cases[i].code);
        assert_null(path);
        assert_int_equal(problem.lineno, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_href_is_seen_from_the_document),
        cmocka_unit_test(test_nothing_leads_to_a_network_or_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
