/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of regions that are benchmarks, and runs split by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parts.h"
#include "refused_alloc.h"
#include "trace_builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* parts_read() of a file with these bytes. */
static int read_bytes(const char *bytes, size_t size, struct parts *parts,
                      struct fault *fault) {
    char path[] = "/tmp/test_parts.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    *fault = (struct fault){0};
    int r = parts_read(path, parts, fault);
    unlink(path);
    return r;
}

static int read_text(const char *text, struct parts *parts, struct fault *fault) {
    return read_bytes(text, strlen(text), parts, fault);
}

/* A process with a region for each of @names, one after the other, of 10, 20, 30 bytes ... */
static struct run run_of(const char *const *names, size_t count) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    struct run run = {0};
    size_t size;
    trace_builder_init(&b);
    for (size_t i = 0; i < count; i++) {
        uint32_t region = trace_builder_begin(&b, names[i]);
        trace_builder_allocate(&b, TRACE_HEAP, 10 * (i + 1));
        trace_builder_end(&b, region);
    }
    trace_builder_exit(&b);
    unsigned char *bytes = trace_builder_write(&b, &size);
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), 0);
    free(bytes);
    assert_int_equal(profile_from_trace(trace, &run.profile, &fault), 0);
    trace_close(trace);
    assert_int_equal(run_describe(&run, "suite", NULL, 0), 0);
    return run;
}

static void runs_finish(struct vector *runs) {
    for (size_t i = 0; i < runs->count; i++)
        run_finish(&((struct run *)runs->items)[i]);
    vector_finish(runs);
}

static const char *const suite[] = {"a", "not listed", "b", "a", "c"};
#define SUITE_COUNT (sizeof(suite) / sizeof(suite[0]))

static void test_each_listed_region_is_a_run_by_its_benchmarks_name(void **state) {
    struct parts parts;
    struct fault fault;
    struct run whole = run_of(suite, SUITE_COUNT);
    struct vector runs = VECTOR_OF(struct run);
    /* Not in order, one that did not run, one twice, and no newline at the end. */
    assert_int_equal(read_text("c\ttest_c[x y]\nb\ttest_b\nnever\ttest_n\na\ttest_a\nb\ttest_b",
                               &parts, &fault),
                     0);
    assert_int_equal(parts_split(&parts, &whole, &runs), 0);
    const struct run *all = runs.items;
    static const struct {
        const char *region;
        const char *benchmark;
        int64_t bytes;
    } wanted[] = {{"b", "test_b", 30}, {"a", "test_a", 40}, {"c", "test_c[x y]", 50}};
    assert_int_equal(runs.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(all[i].benchmark, wanted[i].benchmark);
        assert_int_equal(all[i].profile.region_count, 2);
        const struct profile_region *region = &all[i].profile.regions[1];
        assert_string_equal(region->name, wanted[i].region);
        /* Of "a" the second time: it was repeated. */
        assert_int_equal(profile_peak_added(&region->totals[TRACE_HEAP]), wanted[i].bytes);
        assert_int_equal(strlen(all[i].uuid), RUN_UUID_BYTES - 1);
        assert_string_not_equal(all[i].uuid, all[(i + 1) % 3].uuid);
    }
    runs_finish(&runs);
    run_finish(&whole);
    parts_finish(&parts);
}

static void test_an_empty_list_has_no_parts(void **state) {
    struct parts parts;
    struct fault fault;
    struct run whole = run_of(suite, SUITE_COUNT);
    struct vector runs = VECTOR_OF(struct run);
    assert_int_equal(read_text("", &parts, &fault), 0);
    assert_int_equal(parts_split(&parts, &whole, &runs), 0);
    assert_int_equal(runs.count, 0);
    run_finish(&whole);
    parts_finish(&parts);
}

static void test_a_line_that_names_no_benchmark_is_refused_by_its_number(void **state) {
    static const struct {
        const char *text;
        const char *words;
    } lists[] = {
        {"a\tb\nno tab\n", "line 2 is not a region, a tab and a benchmark"},
        {"\tb\n", "line 1 is not"},
        {"a\t\n", "line 1 is not"},
        {"a\tb\n\n", "line 2 is not"},
        {"a\tone\nb\tone\na\ttwo\n", "region \"a\" is two benchmarks"},
    };
    struct parts parts;
    struct fault fault;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        assert_int_equal(read_text(lists[i].text, &parts, &fault), -EINVAL);
        assert_non_null(strstr(fault.text, lists[i].words));
    }
    static const char with_nul[] = "a\tb\0c\n";
    assert_int_equal(read_bytes(with_nul, sizeof(with_nul) - 1, &parts, &fault), -EINVAL);
    assert_non_null(strstr(fault.text, "line 1 is not"));
}

static void test_a_list_that_cannot_be_read_is_refused(void **state) {
    struct parts parts;
    struct fault fault = {0};
    assert_int_equal(parts_read("/nonexistent/list", &parts, &fault), -ENOENT);
    assert_string_equal(fault.text, strerror(ENOENT));
    assert_int_equal(parts_read("/", &parts, &fault), -EIO);
}

static int read_and_split(const char *path, const struct run *whole) {
    struct parts parts;
    struct fault fault = {0};
    struct vector runs = VECTOR_OF(struct run);
    int r = parts_read(path, &parts, &fault);
    if (r < 0)
        return r;
    r = parts_split(&parts, whole, &runs);
    runs_finish(&runs);
    parts_finish(&parts);
    return r;
}

static void test_memory_that_is_refused_is_said_and_nothing_is_lost(void **state) {
    struct run whole = run_of(suite, SUITE_COUNT);
    char path[] = "/tmp/test_parts.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a\tb\nc\td\n", 8), 8);
    close(fd);
    bool refused = true;
    for (size_t n = 1; refused; n++) {
        refused_alloc = (struct refused_alloc){.left = n};
        int r = read_and_split(path, &whole);
        refused = refused_alloc.happened;
        refused_alloc.left = 0;
        assert_int_equal(r, refused ? -ENOMEM : 0);
        assert_true(n < 200);
    }
    unlink(path);
    run_finish(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_listed_region_is_a_run_by_its_benchmarks_name),
        cmocka_unit_test(test_an_empty_list_has_no_parts),
        cmocka_unit_test(test_a_line_that_names_no_benchmark_is_refused_by_its_number),
        cmocka_unit_test(test_a_list_that_cannot_be_read_is_refused),
        cmocka_unit_test(test_memory_that_is_refused_is_said_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
