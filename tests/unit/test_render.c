/* SPDX-License-Identifier: BSD-3-Clause */
/* What show prints of runs that no real program should have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REGIONS 100000

static const struct profile_node root[1];
static struct profile_module unknown_module[1] = {{.path = ""}};

static struct run run_of(const struct profile_region *regions, size_t count) {
    return (struct run){
        .id = 1,
        .repeat = 1,
        .benchmark = "parse",
        .host = "host",
        .kernel = "6.1",
        .machine = "x86_64",
        .origin = origin_unknown,
        .outcome = RUN_EXITED,
        .profile = {.program = "victim",
                    .exe = "",
                    .cwd = "",
                    .votrace_version = "0",
                    .modules = unknown_module,
                    .module_count = 1,
                    .nodes = root,
                    .node_count = 1,
                    .regions = regions,
                    .region_count = count},
    };
}

static struct profile_region region_of(const char *name, uint32_t instance, int64_t added) {
    struct profile_region region = {.name = name, .instance = instance};
    region.totals[TRACE_HEAP].peak_bytes = added;
    return region;
}

/* What show prints; free() it. */
static char *shown(const struct run *run, const char *region) {
    char *text = NULL;
    size_t size;
    struct render_show options = {.region = region};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    struct term term = term_open(stream, TERM_NEVER, true);
    assert_int_equal(render_show_text(&term, run, &options), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* Not with strstr(): a sanitizer measures all the rest of the text in each call. */
static size_t lines_with(const char *text, const char *word) {
    size_t count = 0;
    size_t length = strlen(word);
    for (const char *at = text; *at != '\0'; at++)
        count += *at == word[0] && strncmp(at, word, length) == 0;
    return count;
}

static void assert_fast(clock_t begin) {
    /* The square of 100,000 comparisons takes a minute. */
    assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
}

static void test_many_instances_of_one_region_are_shown_in_no_time(void **state) {
    (void)state;
    struct profile_region *regions = calloc(REGIONS, sizeof(*regions));
    assert_non_null(regions);
    regions[0] = region_of("process", 1, 5);
    for (uint32_t i = 1; i < REGIONS; i++)
        regions[i] = region_of("parse", i, i == 777 || i == 888 ? 100 : 50);
    struct run run = run_of(regions, REGIONS);
    clock_t begin = clock();
    char *text = shown(&run, NULL);
    assert_int_equal(lines_with(text, "parse #777 of 99999 "), 1);
    assert_int_equal(lines_with(text, "parse #"), 1);
    free(text);
    text = shown(&run, "parse");
    assert_int_equal(lines_with(text, "parse #"), REGIONS - 1);
    assert_fast(begin);
    free(text);
    free(regions);
}

static void test_many_regions_are_shown_in_no_time_and_as_they_began(void **state) {
    (void)state;
    static char names[REGIONS][8];
    struct profile_region *regions = calloc(REGIONS, sizeof(*regions));
    assert_non_null(regions);
    for (size_t i = 0; i < REGIONS; i++) {
        /* Each name twice, and not in the order of the alphabet. */
        snprintf(names[i], sizeof(names[i]), "r%05zu", REGIONS / 2 - 1 - i / 2);
        regions[i] = region_of(names[i], (uint32_t)(i % 2) + 1, 10 + (int64_t)(i % 2));
    }
    struct run run = run_of(regions, REGIONS);
    clock_t begin = clock();
    char *text = shown(&run, NULL);
    assert_fast(begin);
    assert_int_equal(lines_with(text, " #2 of 2 "), REGIONS / 2);
    const char *before = strstr(text, "\nr49999 ");
    const char *after = strstr(text, "\nr00000 ");
    assert_true(before && after && before < after);
    free(text);
    free(regions);
}

static void test_open_regions_are_marked_however_deep_and_the_process_is_not(void **state) {
    (void)state;
    struct profile_region regions[] = {
        region_of("process", 1, 90), region_of("outer", 1, 80), region_of("inner", 1, 70),
        region_of("done", 1, 60),    region_of("twice", 1, 50), region_of("twice", 2, 55),
    };
    for (size_t i = 0; i < 3; i++)
        regions[i].open = true;
    regions[2].parent = 1;
    regions[5].open = true;
    struct run run = run_of(regions, 6);
    char *text = shown(&run, NULL);
    assert_int_equal(lines_with(text, "process, open"), 0);
    assert_int_equal(lines_with(text, "outer, open"), 1);
    assert_int_equal(lines_with(text, "inner, open"), 1);
    assert_int_equal(lines_with(text, "done, open"), 0);
    assert_int_equal(lines_with(text, "twice #2 of 2, open"), 1);
    free(text);
}

static void test_list_and_show_say_in_words_what_is_missing(void **state) {
    (void)state;
    struct profile_region process = region_of("process", 1, 90);
    struct run run = run_of(&process, 1);
    run.profile.gaps[PROFILE_FORKED_CHILDREN] = 1;
    run.profile.gaps[PROFILE_EVENTS_LOST] = 2;
    run.profile.gaps[PROFILE_FILE_REFUSED] = 1; /* spoils no sum */
    char *text = shown(&run, NULL);
    assert_int_equal(lines_with(text, "2 allocations or frees not recorded, 1 time the trace "
                                      "file could not grow, 1 forked child not measured\n"),
                     1);
    free(text);

    struct run complete = run_of(&process, 1);
    struct store_entry entries[] = {{complete, "process", 0, 90}, {run, "process", 0, 90}};
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    struct term term = term_open(stream, TERM_NEVER, true);
    assert_int_equal(render_list_text(&term, entries, 2), 0);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(lines_with(text, "  parse\n"), 1);
    assert_int_equal(lines_with(text, "  2 allocations or frees not recorded, 1 forked child "
                                      "not measured\n"),
                     1);
    free(text);
}

/* A region with all that a recorder can know of one. */
static struct profile_region full_region(void) {
    static int64_t sizes[TRACE_SIZE_BUCKETS] = {[0] = 1, [5] = 40, [47] = 2};
    static const struct profile_point points[] = {
        {1000000000, 0}, {1500000000, 1000}, {2000000000, 400}};
    struct profile_region region = region_of("parse", 1, 1000);
    region.end_elapsed_ns = 2000000000;
    region.begin_elapsed_ns = 1000000000;
    region.totals[TRACE_HEAP].end.bytes = 400;
    region.peak_elapsed_ns = 1500000000;
    region.usable_is_known = true;
    region.usable_peak_bytes = 1250;
    region.usable_end_bytes = 500;
    region.sizes = sizes;
    region.points = points;
    region.points_count = 3;
    return region;
}

static char *shown_with(const struct run *run, const struct render_show *options, bool blocks) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    struct term term = term_open(stream, TERM_NEVER, true);
    term.blocks = blocks;
    assert_int_equal(render_show_text(&term, run, options), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void assert_says(const char *text, const char *words) {
    assert_non_null(text);
    if (!text || !strstr(text, words))
        fail_msg("it does not say \"%s\":\n%.4000s", words, text);
}

static void test_slack_and_sparkline_stand_under_the_headline(void **state) {
    const struct profile_region regions[] = {region_of("process", 1, 1000), full_region()};
    struct run run = run_of(regions, 2);
    const struct render_show options = {0};
    char *text = shown_with(&run, &options, true);
    assert_says(text, "parse: 1,000 added at its peak\n  slack: 250 of the 1,250 that the "
                      "allocator gave at the peak, 25.0 % of what was requested\n  \u2581");
    assert_says(text, "\u2588\u2588");
    assert_says(text, "  live heap over 1.000 s, from 0 to 1,000\n");
    assert_null(strstr(text, "seconds"));
    free(text);
    text = shown_with(&run, &options, false);
    assert_null(strstr(text, "live heap over"));
    for (const char *c = text; *c != '\0'; c++)
        assert_true((unsigned char)*c < 0x80);
    free(text);
}

static void test_sizes_and_points_are_shown_when_asked_for(void **state) {
    const struct profile_region regions[] = {region_of("process", 1, 1000), full_region()};
    struct run run = run_of(regions, 2);
    struct render_show options = {.sizes = true, .timeline = true};
    char *text = shown_with(&run, &options, false);
    assert_says(text, "   seconds   live\n  1.000000      0\n  1.500000  1,000  peak\n"
                      "  2.000000    400\n");
    assert_says(text, "\n                       0            1  #\n");
    assert_says(text, "\n                   16-31           40  "
                      "########################################\n");
    assert_says(text, "\n  70368744177664 or more            2  ##\n");
    free(text);
    options.region = "process";
    text = shown_with(&run, &options, false);
    assert_says(text, "(no timeline was kept)");
    assert_says(text, "(sizes were not counted)");
    free(text);
}

static void test_scope_parent_and_exec_are_said(void **state) {
    struct profile_region regions[] = {region_of("process", 1, 0), region_of("work", 1, 9)};
    regions[1].thread = 77;
    regions[1].totals[TRACE_HEAP].end.bytes = -500;
    struct run run = run_of(regions, 2);
    const struct render_show options = {0};
    run.outcome = RUN_UNKNOWN;
    run.profile.end = PROFILE_EXECED;
    run.profile.forked = true;
    run.profile.parent_pid = 4000;
    run.profile.inherited_freed = 3;
    run.parent_id = 12;
    char *text = shown_with(&run, &options, false);
    assert_says(text, "work, thread 77");
    assert_says(text, "-500");
    assert_says(text, "\nwork (thread 77): 9 added at its peak");
    assert_says(text, "parent     forked child of pid 4000 (run 12)");
    assert_says(text, "inherited  3 blocks of its parent were freed");
    assert_says(text, "ended      replaced by another program (exec)");
    assert_says(text, "complete   yes");
    free(text);
    run.outcome = RUN_EXITED;
    run.profile.gaps[PROFILE_MALLOC_ELSEWHERE] = 1;
    text = shown_with(&run, &options, false);
    assert_says(text, "exit status 0, after an exec");
    assert_says(text, "the program brings its own malloc: its allocations were not seen");
    assert_null(strstr(text, "1 the program"));
    free(text);
}

static void test_json_has_all_that_is_known(void **state) {
    const struct profile_region regions[] = {region_of("process", 1, 1000), full_region()};
    struct run run = run_of(regions, 2);
    const struct render_show options = {.region = "parse"};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(render_show_json(stream, &run, &options), 0);
    assert_int_equal(fclose(stream), 0);
    static const char *const words[] = {
        "\"thread\": null", "\"peak_ns\": 1500000000", "\"slack\": 250",
        "\"least\": 16",    "\"allocations\": 40",     "\"ns\": 1500000000",
        "\"parent\": null", "\"map_reserved\": {",     "\"malloc_elsewhere\": 0"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_says(text, words[i]);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_regions_are_marked_however_deep_and_the_process_is_not),
        cmocka_unit_test(test_list_and_show_say_in_words_what_is_missing),
        cmocka_unit_test(test_many_instances_of_one_region_are_shown_in_no_time),
        cmocka_unit_test(test_many_regions_are_shown_in_no_time_and_as_they_began),
        cmocka_unit_test(test_slack_and_sparkline_stand_under_the_headline),
        cmocka_unit_test(test_sizes_and_points_are_shown_when_asked_for),
        cmocka_unit_test(test_scope_parent_and_exec_are_said),
        cmocka_unit_test(test_json_has_all_that_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
