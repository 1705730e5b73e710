/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of any origin: as JSON, and for a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json.h"
#include "utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *compact(void (*write)(struct json *json)) {
    char *text = NULL;
    size_t size;
    struct json json = {.stream = open_memstream(&text, &size), .compact = true};
    assert_non_null(json.stream);
    write(&json);
    fclose(json.stream);
    return text;
}

static void write_everything(struct json *json) {
    json_begin(json, NULL, '{');
    json_int(json, "least", INT64_MIN);
    json_int(json, "most", INT64_MAX);
    json_bool(json, "yes", true);
    json_null(json, "none");
    json_ratio(json, "half", 0.5);
    json_ratio(json, "infinite", (double)INFINITY);
    json_begin(json, "list", '[');
    json_text(json, NULL, "a\"b\\c\n\t\x01\x7f");
    json_text(json, NULL, "caf\xc3\xa9 \xff\xc3 \xed\xa0\x80");
    json_end(json, ']');
    json_begin(json, "empty", '{');
    json_end(json, '}');
    json_end(json, '}');
}

static void test_json_is_exact_and_escaped(void **state) {
    char *text = compact(write_everything);
    assert_string_equal(
        text, "{\"least\":-9223372036854775808,\"most\":9223372036854775807,\"yes\":true,"
              "\"none\":null,\"half\":0.5000,\"infinite\":null,"
              "\"list\":[\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f\","
              "\"caf\xc3\xa9 \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"],\"empty\":{}}");
    free(text);
}

/* RFC 8259 allows them as they are; HTML's rules for <script> and old JavaScript do not. */
static void test_json_in_html_cannot_end_its_element(void **state) {
    char *text = NULL;
    size_t size;
    struct json json = {
        .stream = open_memstream(&text, &size), .compact = true, .in_html = true};
    json_begin(&json, NULL, '{');
    json_text(&json, "<key>", "</script><!-- &amp; \xe2\x80\xa8\xe2\x80\xa9");
    json_end(&json, '}');
    fclose(json.stream);
    assert_string_equal(text, "{\"\\u003ckey\\u003e\":\"\\u003c/script\\u003e\\u003c!-- "
                              "\\u0026amp; \\u2028\\u2029\"}");
    free(text);
}

static void test_clean_lets_nothing_through_that_moves_a_terminal(void **state) {
    static const struct {
        const char *dirty;
        const char *clean;
    } cases[] = {
        {"plain", "plain"},
        {"caf\xc3\xa9 \xe6\x97\xa5", "caf\xc3\xa9 \xe6\x97\xa5"},
        {"\033[31mred\a\b\r\n", "?[31mred????"},
        {"\xc2\x9b"
         "31m",
         "?31m"}, /* C1 control sequence introducer */
        {"a\xe2\x80\xae"
         "b",
         "a?b"},                           /* right-to-left override */
        {"\xc0\xaf\xf5\x80\xff", "?????"}, /* overlong, out of range, never valid */
        {"\xe6\x97", "??"},                /* cut off */
        {"\xed\xa0\x80", "???"},           /* surrogate */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        strcpy(text, cases[i].dirty);
        utf8_clean(text);
        assert_string_equal(text, cases[i].clean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_is_exact_and_escaped),
        cmocka_unit_test(test_json_in_html_cannot_end_its_element),
        cmocka_unit_test(test_clean_lets_nothing_through_that_moves_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
