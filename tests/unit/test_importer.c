/* SPDX-License-Identifier: BSD-3-Clause */
/* From a trace file to a printed diff, with memory refused at every single allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comparison.h"
#include "gate_input.h"
#include "importer.h"
#include "refused_alloc.h"
#include "render.h"
#include "render_gate.h"
#include "render_trend.h"
#include "store.h"
#include "store_trend.h"
#include "trace_builder.h"
#include "trend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_trace(const char *path, uint64_t bytes) {
    struct trace_builder b;
    size_t size;
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/victim", 0x1000, 0x9000, 0x1000);
    uint32_t node = trace_builder_node(&b, 0, 0x1100);
    uint32_t site = trace_builder_site(&b, node, TRACE_HEAP);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, site, bytes);
    trace_builder_end(&b, region);
    trace_builder_exit(&b);
    unsigned char *file = trace_builder_write(&b, &size);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(file, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    free(file);
}

struct place {
    char folder[64];
    char trace[96];
    char before[96];
    char after[96];
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof(*place));
    strcpy(place->folder, "/tmp/test_importer.XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    snprintf(place->trace, sizeof(place->trace), "%s/x.vtr", place->folder);
    snprintf(place->before, sizeof(place->before), "%s/a.db", place->folder);
    snprintf(place->after, sizeof(place->after), "%s/b.db", place->folder);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    unlink(place->trace);
    unlink(place->before);
    unlink(place->after);
    int r = rmdir(place->folder);
    free(place);
    return r;
}

static int import(const char *trace, const char *db, struct fault *fault) {
    struct run_param param = {"format", "binary"};
    struct importer_settings settings = {.params = &param, .param_count = 1};
    struct run run;
    struct run *pointer = &run;
    struct store *store;
    size_t changed;
    int r = importer_read(trace, &settings, &run, &changed, fault);
    if (r < 0)
        return r;
    r = store_open(db, STORE_WRITE, &store, fault);
    if (r == 0) {
        r = store_add(store, &pointer, 1, fault);
        store_close(store);
    }
    run_finish(&run);
    return r;
}

static int compare(const struct place *place, FILE *stream, struct fault *fault) {
    struct comparison_settings settings = {.with_process = true};
    struct comparison comparison;
    const char *path;
    int r = comparison_load(place->before, place->after, &settings, &comparison, &path, fault);
    if (r < 0)
        return r;
    struct term term = term_open(stream, TERM_NEVER, true);
    struct render_show show = {0};
    struct render_diff options = {.frames_max = 10};
    const struct run *run = &comparison.after.runs[0];
    r = render_diff_text(&term, &comparison.diff, &options);
    if (r == 0)
        r = render_diff_json(stream, &comparison.diff, &options);
    if (r == 0)
        r = render_diff_markdown(stream, &comparison.diff, &options);
    if (r == 0)
        r = render_diff_csv(stream, &comparison.diff);
    if (r == 0)
        r = render_show_text(&term, run, &show);
    if (r == 0)
        r = render_show_json(stream, run, &show);
    comparison_finish(&comparison);
    return r;
}

/* Everything that gate writes; 0 or -ENOMEM. */
static int judge_inputs(const struct gate_input *input, const struct gate_limits *limits,
                        FILE *stream) {
    static int (*const writes[])(FILE *, const struct gate *, const struct gate_limits *) = {
        render_gate_json, render_gate_markdown};
    struct term term = term_open(stream, TERM_NEVER, true);
    struct gate gate;
    int r = gate_judge(input->comparisons, input->count, limits, &gate);
    if (r < 0)
        return r;
    r = render_gate_text(&term, &gate, limits);
    for (size_t i = 0; r == 0 && i < 2; i++)
        r = writes[i](stream, &gate, limits);
    if (r == 0)
        r = render_gate_annotations(stream, &gate, "");
    if (r == 0)
        r = render_gate_junit(stream, &gate);
    gate_finish(&gate);
    return r;
}

static int judge(const struct place *place, FILE *stream, struct fault *fault) {
    static const char text[] = "limit * count ratio 1\nallow * peak_added added 1MiB until "
                               "2027-01-01 because \"a test\"\n";
    const struct comparison_settings settings = {0};
    const struct gate_stores stores = {place->before, place->after, place->before};
    struct gate_limits limits = {.max_ratio = 1, .today = "2026-11-30"};
    struct thresholds thresholds;
    struct gate_input input;
    const char *path;
    uint64_t lineno;
    int r = thresholds_parse(text, sizeof(text) - 1, &thresholds, &lineno, fault);
    if (r < 0)
        return r;
    limits.thresholds = &thresholds;
    r = gate_input_load(&stores, &settings, &limits, &input, &path, fault);
    if (r == 0) {
        r = judge_inputs(&input, &limits, stream);
        gate_input_finish(&input);
    }
    thresholds_finish(&thresholds);
    return r;
}

static int follow(const struct place *place, FILE *stream, struct fault *fault) {
    const struct render_trend options = {.benchmark = "victim", .region = "parse", .last = 5};
    struct arena arena = {0};
    struct store_trend_point *points;
    struct trend *trends;
    struct store *store;
    const char *region;
    size_t count;
    int r = store_open(place->before, STORE_READ, &store, fault);
    if (r < 0)
        return r;
    r = store_trend_region(store, "victim", &arena, &region, fault);
    if (r == 0)
        r = store_trend(store, "victim", region, NULL, STORE_TREND_PEAK_ADDED, &arena, &points,
                        &count, fault);
    store_close(store);
    if (r == 0)
        r = trend_make(points, count, METRIC_TIME, &arena, &trends, &count);
    if (r == 0) {
        struct term term = term_open(stream, TERM_NEVER, true);
        r = render_trend_text(&term, trends, count, &options);
        if (r == 0)
            r = render_trend_csv(stream, trends, count, &options);
    }
    arena_finish(&arena);
    return r;
}

static size_t run_count(const char *db) {
    struct store *store;
    struct fault fault;
    struct arena arena = {0};
    struct store_entry *entries;
    size_t count = 0;
    if (store_open(db, STORE_READ, &store, &fault) < 0)
        return 0;
    assert_int_equal(store_list(store, &arena, &entries, &count, &fault), 0);
    arena_finish(&arena);
    store_close(store);
    return count;
}

static void test_import_without_memory_fails_cleanly_and_stores_nothing(void **state) {
    const struct place *place = *state;
    int r = -1;
    size_t n = 0;
    write_trace(place->trace, 1000);
    while (r < 0) {
        struct fault fault = {0};
        refused_alloc = (struct refused_alloc){.left = ++n};
        r = import(place->trace, place->before, &fault);
        bool refused = refused_alloc.happened;
        refused_alloc.left = 0;
        assert_true(r == 0 || (refused && r == -ENOMEM));
        if (r < 0)
            assert_true(fault.text[0] != '\0' && run_count(place->before) == 0);
    }
    assert_true(n > 20);
    assert_int_equal(run_count(place->before), 1);
}

/* Refuse each allocation of @act in turn, until it has all it wants. */
static void assert_fails_cleanly(const struct place *place,
                                 int (*act)(const struct place *place, FILE *stream,
                                            struct fault *fault)) {
    struct fault fault = {0};
    write_trace(place->trace, 1000);
    assert_int_equal(import(place->trace, place->before, &fault), 0);
    write_trace(place->trace, 3000);
    assert_int_equal(import(place->trace, place->after, &fault), 0);
    FILE *sink = fopen("/dev/null", "w");
    assert_non_null(sink);
    size_t n = 0;
    size_t failures = 0;
    bool refused = true;
    while (refused) {
        refused_alloc = (struct refused_alloc){.left = ++n};
        int r = act(place, sink, &fault);
        refused = refused_alloc.happened;
        refused_alloc.left = 0;
        /* A name that found no memory may be a `?`; everything else has to be said. */
        if (r != 0 && !(refused && r == -ENOMEM))
            fail_msg("allocation %zu: %d %s", n, r, fault.text);
        failures += r < 0;
    }
    assert_true(failures > 10);
    fclose(sink);
}

static void test_diff_without_memory_fails_cleanly(void **state) {
    assert_fails_cleanly(*state, compare);
}

static void test_gate_without_memory_fails_cleanly(void **state) {
    assert_fails_cleanly(*state, judge);
}

static void test_trend_without_memory_fails_cleanly(void **state) {
    assert_fails_cleanly(*state, follow);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_import_without_memory_fails_cleanly_and_stores_nothing),
        TEST(test_diff_without_memory_fails_cleanly),
        TEST(test_gate_without_memory_fails_cleanly),
        TEST(test_trend_without_memory_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
