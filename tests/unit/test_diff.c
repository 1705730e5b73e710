/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of hand-made profiles, down to the call site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff.h"
#include "render.h"
#include "run_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAKE(run, format, ...)                                                                 \
    run_build(run, "votable.parse", format, (const struct run_work[]){__VA_ARGS__},            \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              "parse")

static int64_t sites_total(const struct diff_row *row) {
    int64_t sum = 0;
    for (size_t i = 0; i < row->site_count; i++)
        sum += row->sites[i].after_bytes - row->sites[i].before_bytes;
    return sum;
}

static const char *site_function(const struct diff_site *site) {
    return callsite_frame(site->site.profile, site->site.node)->function;
}

static void test_sites_add_up_to_the_difference_largest_first(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/buffer_append", 1000}, {"main/keep", 300});
    MAKE(&after, "binary", {"main/decode", 50}, {"main/keep", 310});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    assert_int_equal(diff.row_count, 1);
    const struct diff_row *row = &diff.rows[0];
    assert_int_equal(row->status, DIFF_BETTER);
    assert_int_equal(row->before.peak_added, 1300);
    assert_int_equal(row->after.peak_added, 360);
    assert_true(row->explained);
    assert_int_equal(row->site_count, 3);
    assert_int_equal(sites_total(row), 360 - 1300);
    assert_string_equal(site_function(&row->sites[0]), "buffer_append");
    assert_true(row->sites[0].in_before && !row->sites[0].in_after);
    assert_string_equal(site_function(&row->sites[1]), "decode");
    assert_true(!row->sites[1].in_before && row->sites[1].in_after);
    assert_int_equal(row->sites[2].after_bytes - row->sites[2].before_bytes, 10);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_moved_lines_and_other_addresses_make_no_difference(void **state) {
    struct run before, after;
    struct diff diff;
    /* The first work shifts addresses and line numbers of what follows it. */
    MAKE(&before, "binary", {"main/a", 10}, {"main/b", 20});
    MAKE(&after, "binary", {"main/other/deep", 1}, {"main/b", 20}, {"main/a.constprop.0", 10});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    assert_int_equal(diff.rows[0].site_count, 1);
    assert_string_equal(site_function(&diff.rows[0].sites[0]), "deep");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_function_reached_another_way_has_moved_and_is_not_new(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/end/grow", 100}, {"main/buffer", 40});
    MAKE(&after, "binary", {"main/text/grow", 70}, {"main/row/grow", 33});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    const struct diff_row *row = &diff.rows[0];
    assert_int_equal(row->site_count, 2);
    assert_string_equal(site_function(&row->sites[1]), "grow");
    assert_true(row->sites[1].in_before && row->sites[1].in_after);
    assert_int_equal(row->sites[1].before_bytes, 100);
    assert_int_equal(row->sites[1].after_bytes, 103);
    assert_int_equal(sites_total(row), 103 - 140);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

/* The file of all functions of that name, of every function when @function is NULL. */
static void name_file(struct run *run, const char *function, const char *file) {
    struct profile_frame *frames = (struct profile_frame *)run->profile.frames;
    for (size_t i = 0; i < run->profile.frame_count; i++)
        if (frames[i].function[0] != '\0' &&
            (!function || strcmp(frames[i].function, function) == 0))
            frames[i].file = file;
}

static void test_renamed_file_makes_no_site_gone_or_new(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/read/keep", 100}, {"main/grow", 40}, {"main/end/grow", 2});
    MAKE(&after, "binary", {"main/read/keep", 100}, {"main/grow", 50});
    name_file(&after, NULL, "/src/parser.c");
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    const struct diff_row *row = &diff.rows[0];
    assert_int_equal(row->site_count, 1);
    assert_string_equal(site_function(&row->sites[0]), "grow");
    assert_true(row->sites[0].in_before && row->sites[0].in_after);
    assert_int_equal(row->sites[0].before_bytes, 42);
    assert_int_equal(row->sites[0].after_bytes, 50);
    assert_string_equal(
        callsite_frame(row->sites[0].site.profile, row->sites[0].site.node)->file,
        "/src/parser.c");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_name_that_two_files_have_joins_nothing(void **state) {
    struct run before, after;
    struct diff diff;
    /* Without what compilers append, "grow.1" is another "grow". */
    MAKE(&before, "binary", {"main/grow", 40}, {"main/grow.1", 7});
    MAKE(&after, "binary", {"main/grow", 50}, {"main/grow.1", 7});
    name_file(&before, "grow.1", "/src/other.c");
    name_file(&after, "grow.1", "/src/other.c");
    name_file(&after, "grow", "/src/parser.c");
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    const struct diff_row *row = &diff.rows[0];
    assert_int_equal(row->site_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(row->sites[i].in_before != row->sites[i].in_after);
    assert_int_equal(sites_total(row), 10);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_nameless_sites_are_not_joined_by_their_missing_names(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/hid:", 40});
    MAKE(&after, "binary", {"main/x", 1}, {"lib:", 50});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    assert_int_equal(diff.rows[0].site_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(diff.rows[0].sites[i].in_before != diff.rows[0].sites[i].in_after);
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_recursion_is_one_frame_however_deep(void **state) {
    struct run before, after;
    struct diff diff;
    MAKE(&before, "binary", {"main/read/read/read/keep", 10});
    MAKE(&after, "binary", {"main/read/keep", 4}, {"main/read/read/keep", 6}, {"main/x", 1});
    assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
    assert_int_equal(diff.rows[0].site_count, 1);
    assert_string_equal(site_function(&diff.rows[0].sites[0]), "x");
    diff_finish(&diff);
    run_finish(&before);
    run_finish(&after);
}

static void test_telling_frame_is_the_programs_own(void **state) {
    struct run run;
    struct callsite_list list;
    MAKE(&run, "binary", {"main/collect/xrealloc", 10}, {"main/collect/lib:/lib:", 20},
         {"lib:/lib:", 5});
    const struct profile_region *region = &run.profile.regions[1];
    assert_int_equal(callsite_collect(&run.profile, region, TRACE_HEAP, &list), 0);
    bool saw_library = false;
    for (size_t i = 0; i < list.count; i++) {
        const struct callsite *site = &list.items[i];
        if (site->node == 0)
            continue; /* what was live before the region */
        const char *function = callsite_frame(&run.profile, site->node)->function;
        int64_t added = site->peak.bytes - site->start.bytes;
        saw_library |= function[0] == '\0' && added == 5;
        if (function[0] == '\0')
            continue;
        assert_string_equal(function, "collect");
        assert_int_equal(added, 30);
        assert_int_equal(site->site_count, 2);
        char *callers = render_callers(site, 80);
        assert_string_equal(callers, "via libxml2.so.2 < main");
        free(callers);
    }
    assert_true(saw_library);
    free(list.items);
    run_finish(&run);
}

static void test_what_python_called_goes_by_whose_source_is_known(void **state) {
    struct run run;
    struct callsite_list list;
    MAKE(&run, "binary", {"lib:/py:load@table.py/hid:", 10},
         {"lib:/py:load@table.py/hid:/xrealloc", 20}, {"lib:/py:load@table.py/ext:scan", 100},
         {"lib:/py:load@table.py/array_new@", 200},
         {"lib:/py:load@table.py/parse@x.c/hid:", 40},
         {"lib:/py:load@table.py/parse@x.c/array_new@/xrealloc", 400}, {"main/array_new@", 7});
    const struct profile_region *region = &run.profile.regions[1];
    assert_int_equal(callsite_collect(&run.profile, region, TRACE_HEAP, &list), 0);
    int64_t load = 0, parse = 0, native = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct callsite *site = &list.items[i];
        if (site->node == 0)
            continue;
        const char *function = callsite_frame(&run.profile, site->node)->function;
        int64_t added = site->peak.bytes - site->start.bytes;
        load += strcmp(function, "load") == 0 ? added : 0;
        parse += strcmp(function, "parse") == 0 ? added : 0;
        /* Without Python, a name is all that can be told. */
        native += strcmp(function, "array_new") == 0 ? added : 0;
    }
    assert_int_equal(load, 330);
    assert_int_equal(parse, 440);
    assert_int_equal(native, 7);
    free(list.items);
    run_finish(&run);
}

static void test_packages_of_python_are_told_apart(void **state) {
    struct run run;
    struct callsite_list list;
    MAKE(&run, "binary", {"main/py:<module>@json+__init__.py", 10},
         {"main/py:<module>@xml+__init__.py", 20}, {"main/py:load@old+table.py", 5},
         {"main/py:load@new+table.py", 6});
    const struct profile_region *region = &run.profile.regions[1];
    assert_int_equal(callsite_collect(&run.profile, region, TRACE_HEAP, &list), 0);
    size_t packages = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct callsite *site = &list.items[i];
        if (site->node == 0)
            continue;
        const struct profile_frame *frame = callsite_frame(&run.profile, site->node);
        bool is_package = strcmp(frame->function, "<module>") == 0;
        packages += is_package;
        assert_string_equal(callsite_file(&run.profile, frame), !is_package ? "table.py"
                                                                : site->allocated.bytes == 10
                                                                    ? "json/__init__.py"
                                                                    : "xml/__init__.py");
        if (!is_package)
            assert_int_equal(site->site_count, 2); /* a checkout in another folder */
    }
    assert_int_equal(packages, 2);
    free(list.items);
    run_finish(&run);
}

static void name_build(struct run *run, const char *build_id) {
    for (size_t i = 1; i < run->profile.module_count; i++)
        strcpy(run->profile.modules[i].build_id, build_id);
}

static void test_stripped_functions_are_told_apart_by_offset(void **state) {
    struct run run;
    struct callsite_list list;
    MAKE(&run, "binary", {"main/hid:", 1000}, {"main/hid:", 5000});
    const struct profile_region *region = &run.profile.regions[1];
    assert_int_equal(callsite_collect(&run.profile, region, TRACE_HEAP, &list), 0);
    int64_t sum = 0;
    size_t nameless = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].node == 0)
            continue;
        nameless++;
        sum += list.items[i].peak.bytes;
        assert_int_equal(list.items[i].site_count, 1);
    }
    assert_int_equal(nameless, 2);
    assert_int_equal(sum, 6000);
    free(list.items);
    run_finish(&run);
}

static void test_offsets_are_compared_within_one_build_only(void **state) {
    static const char *const build_ids[] = {"", "aa", "bb"};
    for (size_t i = 0; i < 3; i++) {
        struct run before, after;
        struct diff diff;
        MAKE(&before, "binary", {"main/hid:", 1000}, {"main/hid:", 5000});
        MAKE(&after, "binary", {"main/hid:", 5000}, {"main/hid:", 1001});
        name_build(&before, i == 0 ? "" : "aa");
        name_build(&after, build_ids[i]);
        assert_int_equal(diff_compare(&before, 1, &after, 1, false, &diff), 0);
        const struct diff_row *row = &diff.rows[0];
        bool same_build = i < 2;
        assert_int_equal(row->site_count, same_build ? 2 : 1);
        assert_int_equal(sites_total(row), 1);
        for (size_t s = 0; s < row->site_count; s++) {
            assert_true(row->sites[s].in_before && row->sites[s].in_after);
            char *name = render_telling(&row->sites[s].site);
            assert_int_equal(strcmp(name, "victim") == 0, !same_build);
            assert_int_equal(strncmp(name, "victim+0x", 9) == 0, same_build);
            free(name);
        }
        assert_int_equal(row->sites[0].after_bytes - row->sites[0].before_bytes,
                         same_build ? 4000 : 1);
        diff_finish(&diff);
        run_finish(&before);
        run_finish(&after);
    }
}

static void test_benchmarks_match_by_name_parameters_and_region(void **state) {
    struct run before[3], after[2];
    struct diff diff;
    MAKE(&before[0], "binary", {"main/a", 10});
    MAKE(&before[1], "text", {"main/a", 10});
    run_build(&before[2], "gone", "x", (const struct run_work[]){{"main/a", 1}}, 1, NULL);
    MAKE(&after[0], "text", {"main/a", 11});
    MAKE(&after[1], "new", {"main/a", 11});
    assert_int_equal(diff_compare(before, 3, after, 2, false, &diff), 0);
    assert_int_equal(diff.row_count, 4);
    assert_int_equal(diff.common_count, 1);
    assert_int_equal(diff.rows[0].status, DIFF_WORSE);
    assert_string_equal(diff.rows[0].benchmark->params[0].value, "text");
    assert_int_equal(diff.rows[1].status, DIFF_ADDED);
    assert_string_equal(diff.rows[1].benchmark->params[0].value, "new");
    assert_int_equal(diff.rows[2].status, DIFF_REMOVED);
    assert_string_equal(diff.rows[2].region, "process");
    assert_true(isnan(diff.rows[2].ratio));
    assert_int_equal(diff.rows[3].status, DIFF_REMOVED);
    char *name = render_row_name(&diff.rows[0]);
    assert_string_equal(name, "votable.parse(format=text)");
    free(name);
    diff_finish(&diff);
    for (size_t i = 0; i < 3; i++)
        run_finish(&before[i]);
    run_finish(&after[0]);
    run_finish(&after[1]);
}

static void test_process_is_compared_only_when_asked_for(void **state) {
    struct run run;
    struct diff diff;
    MAKE(&run, "binary", {"main/a", 10});
    assert_int_equal(diff_compare(&run, 1, &run, 1, true, &diff), 0);
    assert_int_equal(diff.row_count, 2);
    char *name = render_row_name(&diff.rows[1]);
    assert_string_equal(name, "votable.parse:process(format=binary)");
    free(name);
    diff_finish(&diff);
    run_finish(&run);
}

static void test_repeats_are_one_value_that_may_vary(void **state) {
    struct run before[3], after;
    struct diff diff;
    MAKE(&before[0], "binary", {"main/a", 30});
    MAKE(&before[1], "binary", {"main/a", 10});
    MAKE(&before[2], "binary", {"main/a", 20});
    MAKE(&after, "binary", {"main/a", 20});
    assert_int_equal(diff_compare(before, 3, &after, 1, false, &diff), 0);
    assert_int_equal(diff.row_count, 1);
    assert_int_equal(diff.rows[0].status, DIFF_SAME);
    assert_int_equal(diff.rows[0].before.repeats, 3);
    assert_int_equal(diff.rows[0].before.least, 10);
    assert_int_equal(diff.rows[0].before.most, 30);
    assert_ptr_equal(diff.rows[0].before.run, &before[2]);
    diff_finish(&diff);
    for (size_t i = 0; i < 3; i++)
        run_finish(&before[i]);
    run_finish(&after);
}

static void test_median_of_an_even_number_is_the_lower_one(void **state) {
    struct run before, after[4];
    struct diff diff;
    MAKE(&before, "binary", {"main/a", 20});
    MAKE(&after[0], "binary", {"main/a", 40});
    MAKE(&after[1], "binary", {"main/a", 20});
    MAKE(&after[2], "binary", {"main/a", 30});
    MAKE(&after[3], "binary", {"main/a", 10});
    assert_int_equal(diff_compare(&before, 1, after, 4, false, &diff), 0);
    assert_int_equal(diff.rows[0].after.repeats, 4);
    assert_int_equal(diff.rows[0].after.peak_added, 20);
    assert_ptr_equal(diff.rows[0].after.run, &after[1]);
    assert_int_equal(diff.rows[0].status, DIFF_SAME);
    diff_finish(&diff);
    assert_int_equal(diff_compare(&before, 1, after, 2, false, &diff), 0);
    assert_int_equal(diff.rows[0].after.peak_added, 20);
    diff_finish(&diff);
    run_finish(&before);
    for (size_t i = 0; i < 4; i++)
        run_finish(&after[i]);
}

static void test_mappings_have_a_median_of_their_own(void **state) {
    struct run before[4], after;
    struct diff diff;
    for (uint64_t i = 0; i < 4; i++)
        MAKE(&before[i], "binary", {"main/a", 10 * (i + 1)}, {"map:main/a", 4 - i});
    MAKE(&after, "binary", {"main/a", 20}, {"map:main/a", 2});
    assert_int_equal(diff_compare(before, 4, &after, 1, false, &diff), 0);
    assert_int_equal(diff.rows[0].before.peak_added, 20);
    assert_int_equal(diff.rows[0].before.map_anon, 2);
    assert_int_equal(diff.rows[0].before.combined, 23);
    assert_false(diff_mappings_changed(&diff.rows[0]));
    diff_finish(&diff);
    for (size_t i = 0; i < 4; i++)
        run_finish(&before[i]);
    run_finish(&after);
}

static void test_what_the_recorder_missed_is_said_with_its_numbers(void **state) {
    struct run run;
    MAKE(&run, "binary", {"main/a", 10});
    run.profile.gaps[PROFILE_FORKED_CHILDREN] = 1;
    run.profile.gaps[PROFILE_STACKS_MISSING] = 7; /* no sum is wrong for that */
    char *text = render_unfit(&run);
    assert_string_equal(text, "the recorder missed something: 1 forked child not measured");
    free(text);
    run.profile.gaps[PROFILE_EVENTS_LOST] = 2;
    run.profile.cut = true;
    text = render_unfit(&run);
    assert_string_equal(text, "the recorder missed something: 2 allocations or frees not "
                              "recorded, 1 forked child not measured, died inside one event, "
                              "which was completed");
    free(text);
    run_finish(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites_add_up_to_the_difference_largest_first),
        cmocka_unit_test(test_moved_lines_and_other_addresses_make_no_difference),
        cmocka_unit_test(test_function_reached_another_way_has_moved_and_is_not_new),
        cmocka_unit_test(test_renamed_file_makes_no_site_gone_or_new),
        cmocka_unit_test(test_name_that_two_files_have_joins_nothing),
        cmocka_unit_test(test_nameless_sites_are_not_joined_by_their_missing_names),
        cmocka_unit_test(test_recursion_is_one_frame_however_deep),
        cmocka_unit_test(test_telling_frame_is_the_programs_own),
        cmocka_unit_test(test_what_python_called_goes_by_whose_source_is_known),
        cmocka_unit_test(test_packages_of_python_are_told_apart),
        cmocka_unit_test(test_stripped_functions_are_told_apart_by_offset),
        cmocka_unit_test(test_offsets_are_compared_within_one_build_only),
        cmocka_unit_test(test_benchmarks_match_by_name_parameters_and_region),
        cmocka_unit_test(test_process_is_compared_only_when_asked_for),
        cmocka_unit_test(test_repeats_are_one_value_that_may_vary),
        cmocka_unit_test(test_median_of_an_even_number_is_the_lower_one),
        cmocka_unit_test(test_mappings_have_a_median_of_their_own),
        cmocka_unit_test(test_what_the_recorder_missed_is_said_with_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
