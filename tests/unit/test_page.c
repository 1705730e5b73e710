/* SPDX-License-Identifier: BSD-3-Clause */
/* What a page says in words, its data, its digests, and what it does with hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "context.h"
#include "flame_svg.h"
#include "headline.h"
#include "markup.h"
#include "page.h"
#include "refused_alloc.h"
#include "run_builder.h"
#include "run_data.h"
#include "sha256.h"
#include "tree_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAKE(run, format, ...)                                                                 \
    run_build(run, "votable.parse", format, (const struct run_work[]){__VA_ARGS__},            \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              "parse")

/* The digests that FIPS 180-4's examples have, in base64. */
static void test_digests_are_those_of_the_standard(void **state) {
    static const struct {
        const char *text;
        const char *digest;
    } cases[] = {
        {"", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="},
    };
    char digest[SHA256_BASE64_BYTES];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(sha256_base64(digest, cases[i].text, strlen(cases[i].text)),
                            cases[i].digest);
    char *many = calloc(1, 1000001);
    memset(many, 'a', 1000000);
    assert_string_equal(sha256_base64(digest, many, 1000000),
                        "zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
    free(many);
}

static void test_markup_is_escaped_and_fit_for_xml(void **state) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    markup_text(stream, "<a href=\"x\">'&' \xef\xbf\xbe \xc3\xa9");
    fclose(stream);
    assert_string_equal(text, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39; ? \xc3\xa9");
    free(text);
}

static void test_names_are_kept_once_cleaned_and_cut_between_letters(void **state) {
    struct names names;
    uint32_t first, second, third;
    assert_int_equal(names_init(&names), 0);
    assert_int_equal(names_number(&names, "main", &first), 0);
    assert_int_equal(names_number(&names, "a\nb", &second), 0);
    assert_int_equal(names_number(&names, "main", &third), 0);
    assert_int_equal(first, third);
    assert_string_equal(((const char **)names.texts.items)[second], "a?b");
    assert_int_equal(names_number(&names, "", &third), 0);
    assert_int_equal(third, 0);

    /* One letter of two bytes lies across the limit. */
    char *letters = calloc(1, NAMES_TEXT_MAX + 100);
    letters[0] = 'x';
    for (size_t i = 1; i < NAMES_TEXT_MAX + 50; i += 2)
        memcpy(letters + i, "\xc3\xa9", 2);
    assert_int_equal(names_number(&names, letters, &second), 0);
    const char *kept = ((const char **)names.texts.items)[second];
    assert_int_equal(strlen(kept), NAMES_TEXT_MAX - 1 + 3);
    assert_string_equal(kept + NAMES_TEXT_MAX - 3, "\xc3\xa9...");
    free(letters);
    for (unsigned i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof(text), "f%u", i);
        assert_int_equal(names_number(&names, text, &second), 0);
    }
    assert_int_equal(names_number(&names, "f77", &third), 0);
    assert_string_equal(((const char **)names.texts.items)[third], "f77");
    names_finish(&names);
}

static void test_packages_of_python_are_modules_of_their_own(void **state) {
    static const struct {
        const char *file, *module;
    } packages[] = {
        {"/usr/lib/python3/dist-packages/numpy/core/numeric.py", "[python] numpy"},
        {"/home/me/env/lib/python3.11/site-packages/six.py", "[python] six"},
        {"/usr/lib/python3.11/json/decoder.py", "[python] standard library"},
        {"<frozen importlib._bootstrap>", "[python] standard library"},
        {"/home/me/src/table.py", "[python]"},
        {"<string>", "[python]"},
        {"", "[python]"},
    };
    struct profile_module modules[] = {{.path = "/usr/bin/python3"},
                                       {.path = PROFILE_CODE_PATH, .is_code = true}};
    const struct profile profile = {.modules = modules, .module_count = 2};
    struct context context;
    uint32_t number;
    assert_int_equal(context_init(&context, stdout), 0);
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        const struct profile_frame frame = {.module = 1, .file = packages[i].file};
        assert_int_equal(context_module_of(&context, &profile, &frame, &number), 0);
        assert_string_equal(((const char **)context.modules.texts.items)[number],
                            packages[i].module);
    }
    const struct profile_frame frame = {.module = 0, .file = "/src/ceval.c"};
    assert_int_equal(context_module_of(&context, &profile, &frame, &number), 0);
    assert_string_equal(((const char **)context.modules.texts.items)[number],
                        "/usr/bin/python3");
    context_finish(&context);
}

static void test_modules_have_colors_of_their_own_that_stay(void **state) {
    struct context context, other;
    uint32_t a, b, again;
    assert_int_equal(context_init(&context, stdout), 0);
    assert_int_equal(context_module(&context, "/usr/bin/python3", &a), 0);
    assert_int_equal(context_module(&context, "/usr/lib/libxml2.so.2", &b), 0);
    assert_int_not_equal(context_hue(&context, a), context_hue(&context, b));
    assert_int_equal(context_init(&other, stdout), 0);
    assert_int_equal(context_module(&other, "/opt/bin/python3", &again), 0);
    assert_int_equal(context_hue(&other, again), context_hue(&context, a));
    for (unsigned i = 0; i < 40; i++) {
        char path[16];
        snprintf(path, sizeof(path), "/lib%u.so", i);
        assert_int_equal(context_module(&context, path, &b), 0);
        assert_in_range(context_hue(&context, b), 0, 359);
    }
    context_finish(&context);
    context_finish(&other);
}

/* Words */

struct compared {
    struct run before;
    struct run after;
    struct diff diff;
    struct headline headline;
};

static void compared_open(struct compared *compared) {
    assert_int_equal(
        diff_compare(&compared->before, 1, &compared->after, 1, false, &compared->diff), 0);
    assert_int_equal(headline_make(&compared->diff, true, &compared->headline), 0);
}

static void compared_close(struct compared *compared) {
    headline_finish(&compared->headline);
    diff_finish(&compared->diff);
    run_finish(&compared->before);
    run_finish(&compared->after);
}

static void test_growth_is_named_with_its_place_and_is_worth_a_look(void **state) {
    struct compared compared;
    MAKE(&compared.before, "binary", {"main/keep", 1048576});
    MAKE(&compared.after, "binary", {"main/keep", 1048576}, {"main/grow@grow.c:7", 1048576});
    compared_open(&compared);
    const struct headline *headline = &compared.headline;
    assert_int_equal(headline->tone, HEADLINE_WORSE);
    assert_string_equal(headline->verdict, "Worth a look");
    assert_string_equal(headline->title,
                        "votable.parse(format=binary) needs 1.00 MiB more memory at its peak");
    assert_string_equal(headline->lead,
                        "It was 1.00 MiB and is 2.00 MiB, 2 times as much. The largest part of "
                        "it, 1.00 MiB more, is at grow (src/grow.c:7), which is new.");
    assert_non_null(strstr(headline->advice, "limits that votreport gate has"));
    compared_close(&compared);
}

static void test_growth_below_the_limits_is_no_reason_to_worry(void **state) {
    struct compared compared;
    MAKE(&compared.before, "binary", {"main/keep", 1048576});
    MAKE(&compared.after, "binary", {"main/keep", 1048577});
    compared_open(&compared);
    assert_int_equal(compared.headline.tone, HEADLINE_PLAIN);
    assert_string_equal(compared.headline.verdict, "Slightly more");
    assert_non_null(strstr(compared.headline.title, "1 B more"));
    assert_non_null(strstr(compared.headline.advice, "No reason to worry"));
    compared_close(&compared);
}

static void test_savings_are_better_and_equal_bytes_no_change(void **state) {
    struct compared compared;
    MAKE(&compared.before, "binary", {"main/keep", 4096}, {"main/waste", 4096});
    MAKE(&compared.after, "binary", {"main/keep", 4096});
    compared_open(&compared);
    assert_int_equal(compared.headline.tone, HEADLINE_BETTER);
    assert_non_null(strstr(compared.headline.title, "4.00 KiB less"));
    assert_non_null(strstr(compared.headline.lead, "50\u00a0% less"));
    assert_non_null(strstr(compared.headline.lead, "holds nothing any more"));
    compared_close(&compared);
    MAKE(&compared.before, "binary", {"main/keep", 4096});
    MAKE(&compared.after, "binary", {"main/keep", 4096});
    compared_open(&compared);
    assert_string_equal(compared.headline.verdict, "No change");
    assert_non_null(strstr(compared.headline.title, "the same, to the byte"));
    compared_close(&compared);
}

static void test_a_run_that_missed_something_is_said_first(void **state) {
    struct compared compared;
    MAKE(&compared.before, "binary", {"main/keep", 4096});
    MAKE(&compared.after, "binary", {"main/keep", 1});
    compared.after.profile.gaps[PROFILE_EVENTS_LOST] = 3;
    compared_open(&compared);
    assert_string_equal(compared.headline.verdict, "Take with care");
    assert_non_null(strstr(compared.headline.advice, "(after)"));
    assert_non_null(strstr(compared.headline.advice, "3 "));
    compared_close(&compared);
}

static void test_nothing_in_common_is_said(void **state) {
    struct compared compared;
    MAKE(&compared.before, "binary", {"main/keep", 4096});
    MAKE(&compared.after, "text", {"main/keep", 1});
    compared_open(&compared);
    assert_string_equal(compared.headline.verdict, "Nothing to compare");
    assert_string_equal(compared.headline.title, "The two have no benchmark in common");
    assert_non_null(strstr(compared.headline.lead, "1 is new. 1 is not there any more."));
    compared_close(&compared);
}

static void test_a_difference_that_may_be_chance_is_no_news(void **state) {
    static const uint64_t bytes[2][3] = {{100000, 900000, 500000}, {110000, 910000, 520000}};
    struct run runs[2][3];
    struct diff diff;
    struct headline headline;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 3; i++)
            MAKE(&runs[side][i], "binary", {"main/keep", bytes[side][i]});
    assert_int_equal(diff_compare(runs[0], 3, runs[1], 3, false, &diff), 0);
    assert_int_equal(headline_make(&diff, true, &headline), 0);
    assert_string_equal(headline.verdict, "Within noise");
    assert_int_equal(headline.tone, HEADLINE_PLAIN);
    assert_string_equal(headline.title, "Nothing changed beyond what repeats differ by");
    assert_non_null(strstr(headline.advice, "may be chance"));
    assert_non_null(strstr(headline.advice, "the median counts"));
    headline_finish(&headline);
    diff_finish(&diff);
    for (size_t i = 0; i < 6; i++)
        run_finish(&runs[i / 3][i % 3]);
}

static void test_one_side_says_what_it_needs_and_who_holds_most(void **state) {
    struct run run;
    struct diff diff;
    struct headline headline;
    MAKE(&run, "binary", {"main/big", 3072}, {"main/small", 1024});
    assert_int_equal(diff_compare(NULL, 0, &run, 1, false, &diff), 0);
    assert_int_equal(headline_make(&diff, false, &headline), 0);
    assert_string_equal(headline.title,
                        "votable.parse(format=binary) needs 4.00 KiB at its peak");
    assert_string_equal(headline.lead,
                        "At its peak it had 4.00 KiB on top of the 500 B that was live when it "
                        "began. The largest part of it, 3.00 KiB (75\u00a0%), is held by big "
                        "(src/reader.c:2). When it ended, 4.00 KiB more were live than when it "
                        "began.");
    assert_string_equal(headline.verdict, "Measured exactly");
    headline_finish(&headline);
    diff_finish(&diff);
    run_finish(&run);
}

/* Data */

/* The tree of @row with @nodes_most nodes, as JSON. */
static char *tree_text(const struct diff_row *row, size_t nodes_most) {
    struct context context;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(context_init(&context, stream), 0);
    json_begin(&context.json, NULL, '{');
    assert_int_equal(tree_data_write(&context, "tree", row, nodes_most), 0);
    json_end(&context.json, '}');
    context_finish(&context);
    fclose(stream);
    return text;
}

/* The sum of the numbers of the first list under @key after @from. */
static int64_t list_sum(const char *from, const char *key) {
    const char *at = strstr(from, key);
    int64_t sum = 0;
    assert_non_null(at);
    at = strchr(at, '[');
    do {
        char *end;
        sum += strtoll(at + 1, &end, 10);
        at = end;
    } while (*at == ',');
    assert_int_equal(*at, ']');
    return sum;
}

static void test_a_cut_tree_has_the_sums_of_the_whole(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/a/b", 1000}, {"main/a/c", 5}, {"main/d", 70}, {"-", 3});
    MAKE(&after, "binary", {"main/a/b", 900}, {"main/e/f", 40}, {"main/g", 6}, {"main/h", 7});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    for (size_t most = 1; most < 14; most++) {
        char *text = tree_text(&diff.rows[0], most);
        const char *of_before = strstr(text, "\"before\"");
        const char *of_after = strstr(text, "\"after\"");
        assert_int_equal(list_sum(of_before, "\"peak\""), 1078);
        assert_int_equal(list_sum(of_after, "\"peak\""), 953);
        assert_int_equal(list_sum(of_before, "\"count\""), 4);
        assert_int_equal(list_sum(of_after, "\"total\""), 953);
        free(text);
    }
    char *whole = tree_text(&diff.rows[0], 100);
    assert_non_null(strstr(whole, "\"left_out\":0"));
    assert_null(strstr(whole, "-2"));
    free(whole);
    char *cut = tree_text(&diff.rows[0], 4);
    assert_null(strstr(cut, "\"left_out\":0"));
    free(cut);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_a_long_timeline_keeps_ends_lows_and_highs(void **state) {
    enum { COUNT = 1000 };
    struct profile_point points[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        points[i] = (struct profile_point){(int64_t)i * 10, 500 + (int64_t)(i * 7919 % 101)};
    points[333].live_bytes = 9999;
    points[777].live_bytes = 1;
    const struct profile_region region = {.points = points, .points_count = COUNT};
    char *text = NULL;
    size_t size;
    struct json json = {.stream = open_memstream(&text, &size), .compact = true};
    json_begin(&json, NULL, '{');
    run_data_write_timeline(&json, "timeline", &region);
    json_end(&json, '}');
    fclose(json.stream);

    const char *at = strchr(text, '[');
    int64_t ns = 0;
    int64_t live = 0;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    size_t count = 0;
    do {
        char *end;
        int64_t later = strtoll(at + 1, &end, 10);
        assert_true(later >= 0 && *end == ',');
        ns += later;
        live += strtoll(end + 1, &end, 10);
        at = end;
        least = live < least ? live : least;
        most = live > most ? live : most;
        count++;
    } while (*at == ',');
    assert_int_equal(least, 1);
    assert_int_equal(most, 9999);
    assert_int_equal(ns, points[COUNT - 1].elapsed_ns);
    assert_int_equal(live, points[COUNT - 1].live_bytes);
    assert_in_range(count, 100, 500);
    free(text);
}

/* Pages */

static char *page_text(const struct diff *diff, bool two_sides) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(page_write(stream, diff, two_sides), 0);
    fclose(stream);
    return text;
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

static void test_a_hostile_name_cannot_leave_its_place(void **state) {
    struct run run;
    struct diff diff;
    MAKE(&run, "</script><!--", {"main/<script>alert(1)<@x\xe2\x80\xa8y:1", 100});
    assert_int_equal(diff_compare(NULL, 0, &run, 1, false, &diff), 0);
    char *text = page_text(&diff, false);
    assert_int_equal(occurrences(text, "</script"), 2);
    assert_int_equal(occurrences(text, "<script"), 2);
    assert_null(strstr(text, "<!--"));
    assert_null(strstr(text, "\xe2\x80\xa8"));
    assert_non_null(strstr(text, "&lt;/script&gt;&lt;!--"));
    assert_non_null(strstr(text, "\\u003cscript\\u003ealert(1)"));
    free(text);
    diff_finish(&diff);
    run_finish(&run);
}

static void test_a_page_of_nothing_is_whole(void **state) {
    struct diff diff = {0};
    char *text = page_text(&diff, true);
    assert_non_null(strstr(text, "The two have no benchmark in common"));
    assert_non_null(strstr(text, "</html>"));
    assert_null(strstr(text, "@DATA@"));
    free(text);
}

static void test_a_picture_says_every_sum_and_closes_every_group(void **state) {
    struct run run;
    struct diff diff;
    char *text = NULL;
    size_t size;
    MAKE(&run, "binary", {"main/big", 3072}, {"main/small", 1024}, {"-", 50});
    assert_int_equal(diff_compare(NULL, 0, &run, 1, false, &diff), 0);
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(flame_svg_write(stream, &diff.rows[0], 800), 0);
    fclose(stream);
    assert_non_null(strstr(text, "<title>big: 3.00 KiB (3,072 bytes, 74.1 %)"));
    assert_non_null(strstr(text, "<title>parse: 4.05 KiB (4,146 bytes, 100.0 %)"));
    assert_int_equal(occurrences(text, "<g>"), occurrences(text, "</g>"));
    assert_int_equal(occurrences(text, "<g>"), 5);
    free(text);
    diff_finish(&diff);
    run_finish(&run);
}

static void test_no_memory_is_an_error_and_nothing_is_lost(void **state) {
    struct run before, after;
    struct diff diff;
    bool refused = true;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    MAKE(&before, "binary", {"main/a/b", 1000}, {"main/c", 70}, {"-", 3});
    MAKE(&after, "binary", {"main/a/b", 900}, {"main/d/e", 4000});
    assert_int_equal(diff_compare(&before, 1, &after, 1, true, &diff), 0);
    for (size_t n = 1; refused; n++) {
        refused_alloc = (struct refused_alloc){.left = n};
        int page = page_write(nowhere, &diff, true);
        int picture = page == 0 ? flame_svg_write(nowhere, &diff.rows[0], 1200) : 0;
        refused = refused_alloc.happened;
        refused_alloc = (struct refused_alloc){0};
        assert_true(page == 0 || (refused && page == -ENOMEM));
        assert_true(picture == 0 || (refused && picture == -ENOMEM));
    }
    fclose(nowhere);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests_are_those_of_the_standard),
        cmocka_unit_test(test_markup_is_escaped_and_fit_for_xml),
        cmocka_unit_test(test_names_are_kept_once_cleaned_and_cut_between_letters),
        cmocka_unit_test(test_packages_of_python_are_modules_of_their_own),
        cmocka_unit_test(test_modules_have_colors_of_their_own_that_stay),
        cmocka_unit_test(test_growth_is_named_with_its_place_and_is_worth_a_look),
        cmocka_unit_test(test_growth_below_the_limits_is_no_reason_to_worry),
        cmocka_unit_test(test_savings_are_better_and_equal_bytes_no_change),
        cmocka_unit_test(test_a_run_that_missed_something_is_said_first),
        cmocka_unit_test(test_nothing_in_common_is_said),
        cmocka_unit_test(test_a_difference_that_may_be_chance_is_no_news),
        cmocka_unit_test(test_one_side_says_what_it_needs_and_who_holds_most),
        cmocka_unit_test(test_a_cut_tree_has_the_sums_of_the_whole),
        cmocka_unit_test(test_a_long_timeline_keeps_ends_lows_and_highs),
        cmocka_unit_test(test_a_hostile_name_cannot_leave_its_place),
        cmocka_unit_test(test_a_page_of_nothing_is_whole),
        cmocka_unit_test(test_a_picture_says_every_sum_and_closes_every_group),
        cmocka_unit_test(test_no_memory_is_an_error_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
