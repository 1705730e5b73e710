/* SPDX-License-Identifier: BSD-3-Clause */
/* Long CDATA sections are split, wherever the pieces end, and nothing else is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cdata_splitter.h"

#include <stdbool.h>
#include <string.h>

#define ROOM 4096

/* Copy @text in pieces of @step through buffers of @room. Returns the length of the result. */
static size_t split(const char *text, size_t step, size_t room, char *out) {
    struct cdata_splitter splitter = {0};
    size_t length = strlen(text);
    size_t written = 0;
    for (size_t at = 0; at < length;) {
        size_t piece = length - at < step ? length - at : step;
        size_t taken;
        written +=
            cdata_splitter_copy(&splitter, text + at, piece, out + written, room, &taken);
        assert_true(taken > 0);
        at += taken;
        assert_true(written + room < ROOM);
    }
    out[written] = '\0';
    return written;
}

static void test_what_is_no_long_section_is_left_as_it_is(void **state) {
    static const char *const texts[] = {
        "<a>short <![CDATA[ text ]]> </a>",
        "<!-- <![CDATA[ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-->",
        "<? <![CDATA[ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx?>",
        "<<![CDAT[<!-<a><<b/>",
    };
    char out[ROOM];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t step = 1; step < 40; step++) {
            assert_int_equal(split(texts[i], step, 64, out), strlen(texts[i]));
            assert_string_equal(out, texts[i]);
        }
    }
}

/* What a reader of XML would get of the sections. */
static void join_sections(const char *document, char *text) {
    const char *open;
    while ((open = strstr(document, "<![CDATA[")) != NULL) {
        const char *close = strstr(open, "]]>");
        assert_non_null(close);
        memcpy(text, open + 9, (size_t)(close - open - 9));
        text += close - open - 9;
        document = close + 3;
    }
    *text = '\0';
}

static void test_a_long_section_keeps_its_text(void **state) {
    char document[1200] = "<a><![CDATA[";
    char wanted[1200];
    char out[ROOM];
    char text[ROOM];
    /* Brackets, line ends and characters of several bytes at every distance from a border. */
    while (strlen(document) < 1100)
        strcat(document, "x]]y] ]>\r\n\303\251\342\202\254");
    strcat(document, "]]></a>");
    join_sections(document, wanted);
    for (size_t step = 1; step < 300; step += 7) {
        size_t length = split(document, step, 100, out);
        assert_true(length > strlen(document));
        join_sections(out, text);
        assert_string_equal(text, wanted);
        assert_string_equal(out + length - 4, "</a>");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_long_section_is_left_as_it_is),
        cmocka_unit_test(test_a_long_section_keeps_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
