/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gate makes of differences: limits, baselines, allowances, unlike runs; and its reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate.h"
#include "render_gate.h"
#include "repository.h"
#include "run_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAKE(run, ...)                                                                         \
    run_build(run, "votable.parse", "binary", (const struct run_work[]){__VA_ARGS__},          \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              "parse")

/* One gate over hand-made runs; @baseline may be NULL. */
struct trial {
    struct gate_comparison comparisons[2 * METRICS];
    size_t count;
    struct gate gate;
};

static void compare(struct trial *trial, const struct run *before, size_t before_count,
                    const struct run *after, size_t after_count,
                    const struct gate_limits *limits, bool with_baseline) {
    for (enum metric metric = 0; metric < METRICS; metric++) {
        const struct diff_settings settings = {.metric = metric};
        struct gate_comparison *comparison = &trial->comparisons[trial->count];
        if (!gate_wants(limits, metric))
            continue;
        assert_int_equal(diff_compare_by(before, before_count, after, after_count, &settings,
                                         &comparison->diff),
                         0);
        comparison->with_baseline = with_baseline;
        trial->count++;
    }
}

static struct trial try_sets(const struct run *before, size_t before_count,
                             const struct run *after, size_t after_count,
                             const struct run *baseline, const struct gate_limits *limits) {
    struct trial trial = {0};
    compare(&trial, before, before_count, after, after_count, limits, false);
    if (baseline)
        compare(&trial, baseline, 1, after, after_count, limits, true);
    assert_int_equal(gate_judge(trial.comparisons, trial.count, limits, &trial.gate), 0);
    return trial;
}

static struct trial try_runs(const struct run *before, const struct run *after,
                             const struct run *baseline, const struct gate_limits *limits) {
    return try_sets(before, 1, after, 1, baseline, limits);
}

static void trial_finish(struct trial *trial) {
    gate_finish(&trial->gate);
    for (size_t i = 0; i < trial->count; i++)
        diff_finish(&trial->comparisons[i].diff);
}

static enum gate_verdict verdict_of(const struct run *before, const struct run *after,
                                    const struct gate_limits *limits) {
    struct trial trial = try_runs(before, after, NULL, limits);
    enum gate_verdict verdict = trial.gate.verdict;
    trial_finish(&trial);
    return verdict;
}

/* The reason of the first finding that did not pass. */
static void assert_reason(const struct trial *trial, const char *words) {
    for (size_t i = 0; i < trial->gate.finding_count; i++) {
        const struct gate_finding *finding = &trial->gate.findings[i];
        if (finding->verdict == GATE_PASS)
            continue;
        assert_non_null(finding->reason);
        if (!strstr(finding->reason, words))
            fail_msg("\"%s\" does not say \"%s\"", finding->reason, words);
        return;
    }
    fail_msg("everything passed");
}

static struct thresholds rules(const char *text) {
    struct thresholds thresholds;
    struct fault fault = {0};
    uint64_t lineno;
    if (thresholds_parse(text, strlen(text), &thresholds, &lineno, &fault) < 0)
        fail_msg("line %d: %s", (int)lineno, fault.text);
    return thresholds;
}

static void test_gate_fails_beyond_ratio_and_floor_together(void **state) {
    static const struct {
        uint64_t before, after;
        double ratio;
        int64_t floor;
        enum gate_verdict verdict;
    } cases[] = {
        {1000, 1000, 1.0, 0, GATE_PASS},
        {1000, 1001, 1.0, 0, GATE_REGRESSION},
        {1000, 500, 1.0, 0, GATE_PASS},
        {1000, 1250, 1.25, 0, GATE_PASS}, /* a ratio that doubles have exactly */
        {1000, 1251, 1.25, 0, GATE_REGRESSION},
        {1000, 1050, 1.05, 0, GATE_PASS},
        {1000, 1051, 1.05, 0, GATE_REGRESSION},
        {1000, 1051, 1.05, 51, GATE_PASS},
        {1000, 1052, 1.05, 51, GATE_REGRESSION},
        {1000, 9000, 1.05, 65536, GATE_PASS},
        {10000000, 10100000, 1.05, 65536, GATE_PASS},
        {10000000, 20000000, 1.05, 65536, GATE_REGRESSION},
        {0, 65536, 1.05, 65536, GATE_PASS},
        {0, 65537, 1.05, 65536, GATE_REGRESSION},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run before, after;
        const struct gate_limits limits = {.max_ratio = cases[i].ratio,
                                           .max_added_bytes = cases[i].floor};
        MAKE(&before, {"main/a", cases[i].before});
        MAKE(&after, {"main/a", cases[i].after});
        assert_int_equal(verdict_of(&before, &after, &limits), cases[i].verdict);
        run_finish(&before);
        run_finish(&after);
    }
}

static void test_gate_sees_memory_that_moves_from_malloc_to_mmap(void **state) {
    static const struct {
        uint64_t heap, mapped;
        bool heap_grew;
        enum gate_verdict verdict;
    } cases[] = {
        {0, 1000, false, GATE_PASS},         {400, 700, false, GATE_PASS},
        {400, 701, false, GATE_REGRESSION},  {0, 1101, false, GATE_REGRESSION},
        {1000, 0, false, GATE_PASS},         {1000, 100, false, GATE_PASS},
        {1000, 101, false, GATE_REGRESSION}, {1101, 5, true, GATE_REGRESSION},
    };
    const struct gate_limits limits = {.max_ratio = 1.1};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run before, after;
        MAKE(&before, {"main/a", 1000});
        MAKE(&after, {"main/a", cases[i].heap}, {"map:main/a", cases[i].mapped});
        struct trial trial = try_runs(&before, &after, NULL, &limits);
        assert_int_equal(trial.gate.verdict, cases[i].verdict);
        bool by_combined = cases[i].verdict == GATE_REGRESSION && !cases[i].heap_grew;
        assert_int_equal(trial.gate.finding_count, by_combined ? 2 : 1);
        if (by_combined)
            assert_reason(&trial, "heap and anonymous mappings together grew");
        trial_finish(&trial);
        run_finish(&before);
        run_finish(&after);
    }
}

static void test_gate_does_not_answer_for_unfit_runs_unless_told(void **state) {
    struct run before, after;
    struct gate_limits limits = {.max_ratio = 1.05};
    MAKE(&before, {"main/a", 10});
    MAKE(&after, {"main/a", 10});
    after.profile.gaps[PROFILE_EVENTS_LOST] = 1;
    struct trial trial = try_runs(&before, &after, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_UNANSWERED);
    assert_reason(&trial, "the recorder missed something");
    assert_ptr_equal(trial.gate.findings[0].unfit, &after);
    trial_finish(&trial);
    limits.allow_incomplete = true;
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    limits.allow_incomplete = false;
    after.profile.gaps[PROFILE_EVENTS_LOST] = 0;
    after.status = 1;
    trial = try_runs(&before, &after, NULL, &limits);
    assert_reason(&trial, "the program failed");
    trial_finish(&trial);
    run_finish(&before);
    run_finish(&after);
}

static void test_gate_needs_what_the_base_has_and_takes_what_is_new(void **state) {
    struct run two[2];
    struct gate_limits limits = {.max_ratio = 1.05};
    static const struct run_work work = {"main/a", 10};
    run_build(&two[0], "b", "binary", &work, 1, "parse");
    run_build(&two[1], "b", "text", &work, 1, "parse");
    struct trial trial = try_sets(two, 1, two, 2, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_PASS);
    trial_finish(&trial);
    trial = try_sets(two, 2, two, 1, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_UNANSWERED);
    trial_finish(&trial);
    limits.allow_missing = true;
    trial = try_sets(two, 2, two, 1, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_PASS);
    trial_finish(&trial);
    trial = try_sets(&two[0], 1, &two[1], 1, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_UNANSWERED);
    assert_false(trial.gate.has_common);
    trial_finish(&trial);
    run_finish(&two[0]);
    run_finish(&two[1]);
}

static void test_many_small_steps_are_found_in_the_baseline(void **state) {
    struct run baseline, before, after;
    const struct gate_limits limits = {.max_ratio = 1.05};
    MAKE(&baseline, {"main/a", 1000});
    MAKE(&before, {"main/a", 1040});
    MAKE(&after, {"main/a", 1080});
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    struct trial trial = try_runs(&before, &after, &baseline, &limits);
    assert_int_equal(trial.gate.verdict, GATE_REGRESSION);
    assert_int_equal(trial.gate.counts[GATE_REGRESSION], 1);
    assert_reason(&trial, "grew since the baseline");
    trial_finish(&trial);
    struct thresholds drift = rules("drift * peak_added ratio 1.08\n");
    struct gate_limits wider = limits;
    wider.thresholds = &drift;
    trial = try_runs(&before, &after, &baseline, &wider);
    assert_int_equal(trial.gate.counts[GATE_REGRESSION], 1); /* heap and mappings together */
    assert_int_equal(trial.gate.findings[trial.gate.finding_count - 1].metric, METRIC_COMBINED);
    trial_finish(&trial);
    thresholds_finish(&drift);
    run_finish(&baseline);
    run_finish(&before);
    run_finish(&after);
}

static void test_gate_refuses_unlike_runs_unless_told(void **state) {
    struct run before, after;
    struct gate_limits limits = {.max_ratio = 1.05};
    MAKE(&before, {"main/a", 10});
    MAKE(&after, {"main/a", 10});
    before.origin.allocator = "glibc";
    after.origin.allocator = "libjemalloc.so.2";
    struct trial trial = try_runs(&before, &after, NULL, &limits);
    assert_int_equal(trial.gate.verdict, GATE_UNANSWERED);
    assert_reason(&trial, "another allocator: glibc before, libjemalloc.so.2 after");
    trial_finish(&trial);
    limits.allow_unlike = true;
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    limits.allow_unlike = false;
    after.origin.allocator = ""; /* not known is not different */
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    before.origin.libc = "glibc 2.36 (Debian GLIBC 2.36-9+deb12u9)";
    after.origin.libc = "glibc 2.36 (Debian GLIBC 2.36-9+deb12u10)";
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    after.origin.libc = "glibc 2.41 (Debian)";
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_UNANSWERED);
    after.origin.libc = before.origin.libc;
    before.origin.cpu_model = "one"; /* bytes asked for are the same on any processor */
    after.origin.cpu_model = "another";
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_PASS);
    struct thresholds timed = rules("limit * time ratio 100 added 100s\n");
    limits.thresholds = &timed;
    trial = try_runs(&before, &after, NULL, &limits);
    assert_reason(&trial, "another processor: one before, another after");
    trial_finish(&trial);
    thresholds_finish(&timed);
    after.machine = "other";
    limits.thresholds = NULL;
    assert_int_equal(verdict_of(&before, &after, &limits), GATE_UNANSWERED);
    run_finish(&before);
    run_finish(&after);
}

static void test_the_last_line_that_matches_sets_the_limits(void **state) {
    struct run before, after;
    static const struct {
        const char *text;
        enum gate_verdict verdict;
    } cases[] = {
        {"", GATE_REGRESSION},
        {"limit * peak_added ratio 2\nlimit * combined off\n", GATE_PASS},
        {"limit * peak_added ratio 2\nlimit * combined ratio 2\n", GATE_PASS},
        {"limit * peak_added off\nlimit * combined off\n", GATE_PASS},
        {"limit votable.parse peak_added off\nlimit votable.* combined off\n", GATE_PASS},
        {"limit other peak_added off\nlimit other combined off\n", GATE_REGRESSION},
        {"limit \"votable.parse(format=binary)\" peak_added off\n"
         "limit votable.parse:parse combined off\n",
         GATE_PASS},
        {"limit * peak_added off\nlimit * combined off\nlimit *parse peak_added ratio 1.1\n",
         GATE_REGRESSION},
        {"limit * peak_added ratio 2\nlimit * combined off\nlimit * total ratio 1.1\n",
         GATE_REGRESSION},
        {"limit * peak_added ratio 2\nlimit * combined off\nlimit * count added 0\n",
         GATE_PASS},
        {"limit * peak_added added 500\nlimit * combined added 500B\n", GATE_PASS},
        {"limit * peak_added added 499\nlimit * combined added 500\n", GATE_REGRESSION},
    };
    MAKE(&before, {"main/a", 1000});
    MAKE(&after, {"main/a", 1500});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct thresholds thresholds = rules(cases[i].text);
        const struct gate_limits limits = {.max_ratio = 1.05, .thresholds = &thresholds};
        if (verdict_of(&before, &after, &limits) != cases[i].verdict)
            fail_msg("%s", cases[i].text);
        thresholds_finish(&thresholds);
    }
    run_finish(&before);
    run_finish(&after);
}

static void test_growth_is_allowed_until_the_end_of_a_day(void **state) {
    struct run before, after;
    static const struct {
        const char *today, *added;
        enum gate_verdict verdict;
        const char *reason;
    } cases[] = {
        {"2027-03-30", "500", GATE_PASS, "allowed until 2027-03-31: a cache"},
        {"2027-03-31", "500", GATE_PASS, "allowed until 2027-03-31: a cache"},
        {"2027-04-01", "500", GATE_REGRESSION, "its allowance ended on 2027-03-31: a cache"},
        {"2027-03-30", "499", GATE_REGRESSION, NULL},
    };
    MAKE(&before, {"main/a", 1000});
    MAKE(&after, {"main/a", 1500});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "limit * combined off\nallow votable.* peak_added added %s until 2027-03-31 "
                 "because \"a cache\"\n",
                 cases[i].added);
        struct thresholds thresholds = rules(text);
        struct gate_limits limits = {.max_ratio = 1.05, .thresholds = &thresholds};
        strcpy(limits.today, cases[i].today);
        struct trial trial = try_runs(&before, &after, NULL, &limits);
        assert_int_equal(trial.gate.verdict, cases[i].verdict);
        if (cases[i].reason)
            assert_string_equal(trial.gate.findings[0].reason, cases[i].reason);
        else
            assert_null(trial.gate.findings[0].reason);
        trial_finish(&trial);
        thresholds_finish(&thresholds);
    }
    run_finish(&before);
    run_finish(&after);
}

/* Runs whose region added these bytes. */
static void sized(struct run *runs, const uint64_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        MAKE(&runs[i], {"main/a", bytes[i]});
        runs[i].id = (int64_t)i + 1;
    }
}

static enum gate_verdict verdict_of_sets(const uint64_t *before, size_t before_count,
                                         const uint64_t *after, size_t after_count) {
    struct run old[6], new[6];
    const struct gate_limits limits = {.max_ratio = 1.0};
    sized(old, before, before_count);
    sized(new, after, after_count);
    struct trial trial = try_sets(old, before_count, new, after_count, NULL, &limits);
    enum gate_verdict verdict = trial.gate.verdict;
    trial_finish(&trial);
    for (size_t i = 0; i < before_count; i++)
        run_finish(&old[i]);
    for (size_t i = 0; i < after_count; i++)
        run_finish(&new[i]);
    return verdict;
}

static void test_what_varies_fails_only_beyond_noise(void **state) {
    static const uint64_t low[] = {100, 101, 102, 103, 104};
    static const uint64_t mixed[] = {99, 101, 103, 104, 106};
    static const uint64_t high[] = {103, 104, 105, 106, 107};
    static const uint64_t two[] = {101, 103};
    static const uint64_t far[] = {200, 201};
    assert_int_equal(verdict_of_sets(low, 5, mixed, 5), GATE_PASS);
    assert_int_equal(verdict_of_sets(low, 5, high, 5), GATE_REGRESSION);
    assert_int_equal(verdict_of_sets(low, 2, two, 2), GATE_UNANSWERED);
    /* The least of those after is more than the most before: nothing else is needed. */
    assert_int_equal(verdict_of_sets(low, 2, far, 2), GATE_REGRESSION);
}

/* ---- reports ---- */

static char *written(int (*write)(FILE *stream, const struct gate *gate, const void *context),
                     const struct gate *gate, const void *context) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(write(stream, gate, context), 0);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(text);
    return text;
}

static int write_annotations(FILE *stream, const struct gate *gate, const void *root) {
    return render_gate_annotations(stream, gate, root);
}

static int write_junit(FILE *stream, const struct gate *gate, const void *context) {
    return render_gate_junit(stream, gate);
}

static int write_markdown(FILE *stream, const struct gate *gate, const void *limits) {
    return render_gate_markdown(stream, gate, limits);
}

static void assert_says(char *text, const char *words) {
    if (text && !strstr(text, words))
        fail_msg("%s\ndoes not say\n%s", text, words);
}

static void test_annotations_name_the_file_in_the_repository(void **state) {
    char root[] = "/tmp/test_gate.XXXXXX";
    char file[64], folder[64];
    struct run before, after;
    const struct gate_limits limits = {.max_ratio = 1.0};
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof(folder), "%s/lib", root);
    snprintf(file, sizeof(file), "%s/lib/a,b:c.c", root);
    mkdir(folder, 0755);
    FILE *source = fopen(file, "w");
    assert_non_null(source);
    fclose(source);
    run_build(&before, "x", "f", &(struct run_work){"main@m.c/a@w.c:7", 10}, 1, "p");
    run_build(&after, "x", "f", &(struct run_work){"main@m.c/a@w.c:7/strdup", 99}, 1, "p");
    struct profile_frame *frames = (struct profile_frame *)after.profile.frames;
    for (size_t i = 0; i < after.profile.frame_count; i++)
        if (strcmp(frames[i].function, "a") == 0)
            frames[i].file = "../../elsewhere/lib/a,b:c.c";
    struct trial trial = try_runs(&before, &after, NULL, &limits);
    char *text = written(write_annotations, &trial.gate, root);
    assert_says(text,
                "::error file=lib/a%2Cb%3Ac.c,line=7,title=memory grew%3A x%3Ap(format=f)::"
                "heap added at the peak: 99 B, before 10 B (+89 B, ratio 9.90)\n");
    free(text);
    text = written(write_annotations, &trial.gate, "");
    assert_says(text, "::error title=memory grew");
    free(text);
    trial_finish(&trial);
    unlink(file);
    rmdir(folder);
    rmdir(root);
    run_finish(&before);
    run_finish(&after);
}

/* A benchmark's name that would break out of each format if it could. */
#define HOSTILE                                                                                \
    "%0A::error::x\n::set-output name=y::\r<b>&\"'`|@you \x1b[31m\xff\xef\xbf\xbe]]>"

static struct trial hostile_trial(struct run *before, struct run *after,
                                  const struct gate_limits *limits) {
    static const struct run_work small = {"main/a`b", 10};
    static const struct run_work large = {"main/a`b|<x>", 99};
    run_build(before, HOSTILE, "``` <!--", &small, 1, "p");
    run_build(after, HOSTILE, "``` <!--", &large, 1, "p");
    return try_runs(before, after, NULL, limits);
}

static void test_hostile_names_stay_inside_their_annotation(void **state) {
    struct run before, after;
    const struct gate_limits limits = {.max_ratio = 1.0};
    struct trial trial = hostile_trial(&before, &after, &limits);
    char *text = written(write_annotations, &trial.gate, "");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\x1b'));
    assert_int_equal(strncmp(text, "::error title=memory grew%3A %250A%3A%3Aerror", 45), 0);
    free(text);
    trial_finish(&trial);
    run_finish(&before);
    run_finish(&after);
}

static void test_hostile_names_stay_inside_their_attribute(void **state) {
    struct run before, after;
    const struct gate_limits limits = {.max_ratio = 1.0};
    struct trial trial = hostile_trial(&before, &after, &limits);
    char *text = written(write_junit, &trial.gate, NULL);
    assert_says(text, "&lt;b&gt;&amp;&quot;&#39;`|@you");
    assert_null(strstr(text, "<b>"));
    assert_null(strstr(text, "]]>"));
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xff"));
    assert_null(strstr(text, "\xef\xbf\xbe"));
    assert_says(text, "tests=\"1\" failures=\"1\" errors=\"0\"");
    free(text);
    trial_finish(&trial);
    run_finish(&before);
    run_finish(&after);
}

static void test_hostile_names_mean_nothing_in_markdown(void **state) {
    struct run before, after;
    const struct gate_limits limits = {.max_ratio = 1.0};
    struct trial trial = hostile_trial(&before, &after, &limits);
    char *text = written(write_markdown, &trial.gate, &limits);
    const char *block = strstr(text, "\n````text\n"); /* longer than the fence in the name */
    assert_non_null(block);
    assert_true(strstr(text, "<b>") > block); /* inside it nothing means anything */
    assert_says(text, "&#60;b&#62;&#38;&#34;&#39;&#96;&#124;&#64;you");
    assert_says(text, "\n````\n");
    free(text);
    trial_finish(&trial);
    run_finish(&before);
    run_finish(&after);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_fails_beyond_ratio_and_floor_together),
        cmocka_unit_test(test_gate_sees_memory_that_moves_from_malloc_to_mmap),
        cmocka_unit_test(test_gate_does_not_answer_for_unfit_runs_unless_told),
        cmocka_unit_test(test_gate_needs_what_the_base_has_and_takes_what_is_new),
        cmocka_unit_test(test_many_small_steps_are_found_in_the_baseline),
        cmocka_unit_test(test_gate_refuses_unlike_runs_unless_told),
        cmocka_unit_test(test_the_last_line_that_matches_sets_the_limits),
        cmocka_unit_test(test_growth_is_allowed_until_the_end_of_a_day),
        cmocka_unit_test(test_what_varies_fails_only_beyond_noise),
        cmocka_unit_test(test_annotations_name_the_file_in_the_repository),
        cmocka_unit_test(test_hostile_names_stay_inside_their_annotation),
        cmocka_unit_test(test_hostile_names_stay_inside_their_attribute),
        cmocka_unit_test(test_hostile_names_mean_nothing_in_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
