/* SPDX-License-Identifier: BSD-3-Clause */
/* STORE@WHAT: which runs it means, in which order, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_builder.h"
#include "selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_selection.XXXXXX";
static char path[64];
static char named[64]; /* a store whose name has an @ */

struct planned {
    const char *name, *format, *uuid, *set, *commit, *branch;
};

/* Run 1, 2 ...; commit deadbeef2 begins like deadbeef1, and a benchmark is called like one. */
static const struct planned plan[] = {
    {"parse", "a", "aaaa1111", "s1", "deadbeef1", "main"},
    {"parse", "b", "aaaa2222", "s2", "deadbeef1", "main"},
    {"parse", "a", "bbbb3333", "s3", "deadbeef2", "work"},
    {"parse", "a", "bbbb4444", "s3", "deadbeef2", "work"},
    {"write", "a", "cccc5555", "s5", "12345678", "main"},
    {"cafe0", "a", "dddd6666", "s6", "cafe0123", "main"},
    {"parse", "a", "1234abcd", "s7", "", ""},
};

static void fill(const char *store_path) {
    struct store *store;
    struct fault fault = {0};
    assert_int_equal(store_open(store_path, STORE_WRITE, &store, &fault), 0);
    for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++) {
        struct run run;
        struct run *runs[] = {&run};
        run_build(&run, plan[i].name, plan[i].format, &(struct run_work){"main/a", 10}, 1,
                  "parse");
        run.profile.pid = 100 + (uint32_t)i; /* each a process of its own */
        strcpy(run.uuid, plan[i].uuid);
        strcpy(run.set_uuid, plan[i].set);
        run.repeat = 1;
        run.origin.commit = plan[i].commit;
        run.origin.branch = plan[i].branch;
        assert_int_equal(store_add(store, runs, 1, &fault), 0);
        run_finish(&run);
    }
    store_close(store);
}

static int setup(void **state) {
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/a.db", folder);
    snprintf(named, sizeof(named), "%s/a.db@parse", folder);
    fill(path);
    return 0;
}

static int teardown(void **state) {
    unlink(path);
    unlink(named);
    return rmdir(folder);
}

/* The ids that STORE@what means, in order: "1 2". */
static void assert_means(const char *what, const char *name, const char *ids) {
    char where[128];
    char text[128] = "";
    struct selection selection;
    struct fault fault = {0};
    snprintf(where, sizeof(where), "%s%s", path, what);
    if (selection_load_from(where, name, &selection, &fault) < 0)
        fail_msg("%s: %s", what, fault.text);
    for (size_t i = 0; i < selection.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i > 0 ? " " : "",
                 (int)selection.runs[i].id);
    assert_string_equal(text, ids);
    selection_finish(&selection);
}

static void assert_refused(const char *what, int error, const char *words) {
    char where[128];
    struct selection selection;
    struct fault fault = {0};
    snprintf(where, sizeof(where), "%s%s", path, what);
    assert_int_equal(selection_load_from(where, NULL, &selection, &fault), error);
    if (!strstr(fault.text, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", what, fault.text, words);
}

static void test_a_store_alone_means_the_newest_of_every_benchmark(void **state) {
    assert_means("", NULL, "6 7 2 5");
    assert_means("", "parse", "7 2");
}

static void test_a_number_or_the_beginning_of_a_uuid_means_one_run(void **state) {
    assert_means("@3", NULL, "3");
    assert_means("@run:3", NULL, "3");
    assert_means("@bbbb4", NULL, "4");
    assert_means("@aaaa1111", NULL, "1");
}

static void test_a_commit_means_the_newest_of_its_benchmarks_with_their_repeats(void **state) {
    assert_means("@deadbeef1", NULL, "1 2");
    assert_means("@deadbeef2", NULL, "4 3");
    assert_means("@commit:1234", NULL, "5");
}

static void test_a_name_means_a_benchmark_with_all_its_parameters(void **state) {
    assert_means("@parse", NULL, "7 2");
    assert_means("@write", NULL, "5");
    assert_means("@name:cafe0", NULL, "6");
}

static void test_a_branch_has_to_be_called_one(void **state) {
    assert_means("@branch:work", NULL, "4 3");
    assert_means("@branch:main", "parse", "1 2");
    assert_refused("@main", -ENODATA, "there is no run, commit or benchmark 'main'");
}

static void test_what_could_be_several_things_is_refused(void **state) {
    assert_refused("@deadbeef", -EEXIST, "several commits begin with 'deadbeef'");
    assert_refused("@bbbb", -EEXIST, "several runs begin with 'bbbb'");
    assert_refused("@cafe0", -EEXIST,
                   "'cafe0' could be a commit or a benchmark: say commit:cafe0 or name:cafe0");
    assert_refused("@1234", -EEXIST, "'1234' could be a run or a commit");
}

static void test_what_is_not_there_is_one_line(void **state) {
    assert_refused("@nope", -ENODATA, "there is no run, commit or benchmark 'nope'");
    assert_refused("@99", -ENODATA, "there is no run, commit or benchmark '99'");
    assert_refused("@run:99", -ENODATA, "there is no run '99'");
    assert_refused("@name:nope", -ENODATA, "there is no benchmark 'nope'");
    assert_refused("@dea", -ENODATA, "there is no run, commit or benchmark 'dea'");
    assert_refused("@commit:", -ENODATA, "there is no commit ''");
    assert_refused("@", -EINVAL, "nothing stands behind its last @");
    assert_refused(".missing@parse", -ENOENT, "");
}

static void test_a_file_of_that_name_is_the_store(void **state) {
    struct store *store;
    struct fault fault = {0};
    const char *what;
    fill(named);
    assert_int_equal(selection_open(named, &store, &what, &fault), 0);
    assert_null(what);
    store_close(store);
    unlink(named);
    assert_int_equal(selection_open(named, &store, &what, &fault), 0);
    assert_string_equal(what, "parse");
    store_close(store);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_store_alone_means_the_newest_of_every_benchmark),
        cmocka_unit_test(test_a_number_or_the_beginning_of_a_uuid_means_one_run),
        cmocka_unit_test(test_a_commit_means_the_newest_of_its_benchmarks_with_their_repeats),
        cmocka_unit_test(test_a_name_means_a_benchmark_with_all_its_parameters),
        cmocka_unit_test(test_a_branch_has_to_be_called_one),
        cmocka_unit_test(test_what_could_be_several_things_is_refused),
        cmocka_unit_test(test_what_is_not_there_is_one_line),
        cmocka_unit_test(test_a_file_of_that_name_is_the_store),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
