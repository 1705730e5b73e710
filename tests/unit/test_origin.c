/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured, where: from git, from CI's variables, from the environment, and nothing secret. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf_file.h"
#include "environment.h"
#include "revision.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_described(const char *const *entries, const char *wanted) {
    char *text = environment_describe((char *const *)entries, false);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_only_variables_that_matter_are_kept(void **state) {
    const char *const entries[] = {"SECRET_TOKEN=x",
                                   "PYTHONMALLOC=malloc",
                                   "MALLOC_ARENA_MAX=1",
                                   "GITHUB_TOKEN=y",
                                   "LC_ALL=C",
                                   "VOTRACE_DEPTH=3",
                                   "HOME=/root",
                                   "PYTHONMALLOCSTATS=1",
                                   "AWS_SECRET=LC_ALL=1",
                                   NULL};
    assert_described(entries, "{\"LC_ALL\":\"C\",\"MALLOC_ARENA_MAX\":\"1\","
                              "\"PYTHONMALLOC\":\"malloc\",\"VOTRACE_DEPTH\":\"3\"}");
}

static void test_preload_is_kept_without_the_shim(void **state) {
    const char *const both[] = {"LD_PRELOAD=/a/libvotrace.so:/usr/lib/libjemalloc.so.2 /b/x.so",
                                NULL};
    assert_described(both, "{\"LD_PRELOAD\":\"/usr/lib/libjemalloc.so.2:/b/x.so\"}");
    const char *const alone[] = {"LD_PRELOAD= libvotrace.so", "VOTRACE_OUTPUT=/tmp/x",
                                 "VOTRACE_LIBRARY=/a", "broken", NULL};
    assert_described(alone, "{}");
    const char *const near[] = {"LD_PRELOAD=/a/libvotrace.so.1:/libvotrace.so", NULL};
    assert_described(near, "{\"LD_PRELOAD\":\"/a/libvotrace.so.1\"}");
}

static void test_fixed_addresses_are_said(void **state) {
    const char *const entries[] = {"TZ=UTC", NULL};
    char *text = environment_describe((char *const *)entries, true);
    assert_non_null(text);
    assert_string_equal(text, "{\"TZ\":\"UTC\",\"addresses\":\"fixed\"}");
    free(text);
}

static int take_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct profile_module *module = data;
    if (!strstr(info->dlpi_name, "/libc.so."))
        return 0;
    module->path = info->dlpi_name;
    int fd = open(module->path, O_RDONLY);
    assert_true(fd >= 0);
    elf_file_build_id(fd, module->build_id);
    close(fd);
    return 1;
}

static void test_libc_allocator_and_processor_of_a_program_are_found(void **state) {
    struct profile profile = {0};
    struct origin origin = origin_unknown;
    struct profile_module modules[2] = {{.path = "/nonexistent/libc.so.6", .build_id = "00"}};
    if (dl_iterate_phdr(take_module, &modules[1]) == 0)
        skip();
    profile.modules = modules;
    profile.module_count = 2;
    assert_int_equal(origin_look_up(&origin, &profile), 0);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "glibc %s (", gnu_get_libc_version());
    assert_memory_equal(origin.libc, wanted, strlen(wanted));
    assert_string_equal(origin.allocator, "glibc");
    assert_true(origin.cpu_count >= 1);
    assert_non_null(origin.cpu_model);

    /* A file that is another one by now says nothing. */
    modules[1].build_id[0] ^= 1;
    origin = origin_unknown;
    assert_int_equal(origin_look_up(&origin, &profile), 0);
    assert_string_equal(origin.libc, "");
    assert_string_equal(origin.allocator, "");
    arena_finish(&profile.arena);
}

static void forget_services(void) {
    static const char *const names[] = {
        "GITHUB_SHA",       "GITHUB_REF_NAME",  "GITHUB_HEAD_REF",    "CI_COMMIT_SHA",
        "GIT_COMMIT",       "CIRCLE_SHA1",      "TRAVIS_COMMIT",      "BUILDKITE_COMMIT",
        "DRONE_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILD_SOURCEVERSION"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

struct place {
    char before[4096];
    char folder[64];
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof(*place));
    strcpy(place->folder, "/tmp/test_origin.XXXXXX");
    if (!getcwd(place->before, sizeof(place->before)) || !mkdtemp(place->folder) ||
        chdir(place->folder) < 0)
        return -1;
    forget_services();
    setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", place->folder);
    int r = chdir(place->before) < 0 ? -1 : system(command);
    free(place);
    return r;
}

static void assert_revision(const char *commit, const char *branch, const char *wanted,
                            const char *wanted_branch, enum origin_tree tree) {
    struct revision revision;
    assert_int_equal(revision_find(commit, branch, &revision), 0);
    assert_string_equal(revision.commit, wanted);
    assert_string_equal(revision.branch, wanted_branch);
    assert_int_equal(revision.tree, tree);
    revision_finish(&revision);
}

static void test_without_a_repository_ci_is_believed(void **state) {
    assert_revision(NULL, NULL, "", "", ORIGIN_TREE_UNKNOWN);
    setenv("GITHUB_SHA", "abc", 1);
    setenv("GITHUB_REF_NAME", "12/merge", 1);
    assert_revision(NULL, NULL, "abc", "12/merge", ORIGIN_TREE_UNKNOWN);
    setenv("GITHUB_HEAD_REF", "topic", 1);
    assert_revision(NULL, NULL, "abc", "topic", ORIGIN_TREE_UNKNOWN);
    assert_revision("def", NULL, "def", "", ORIGIN_TREE_UNKNOWN);
    assert_revision("--help", "x", "--help", "x", ORIGIN_TREE_UNKNOWN);
}

static void make_repository(char ret_commit[64]) {
    struct revision revision;
    if (system("git --version >/dev/null 2>&1") != 0)
        skip();
    assert_int_equal(system("git init -q -b trunk . && git config user.email a@b && "
                            "git config user.name a && echo 1 >file && git add file && "
                            "GIT_COMMITTER_DATE='2001-02-03T04:05:06Z' git commit -q -m 1"),
                     0);
    assert_int_equal(revision_find(NULL, NULL, &revision), 0);
    assert_int_equal(strlen(revision.commit), 40);
    assert_int_equal(revision.commit_time_ns, 981173106000000000);
    snprintf(ret_commit, 64, "%s", revision.commit);
    revision_finish(&revision);
}

static void test_repository_says_commit_branch_and_whether_it_is_dirty(void **state) {
    char commit[64];
    make_repository(commit);
    assert_revision(NULL, NULL, commit, "trunk", ORIGIN_TREE_CLEAN);
    assert_int_equal(system("echo 2 >new"), 0); /* a file that git does not track */
    assert_revision(NULL, NULL, commit, "trunk", ORIGIN_TREE_CLEAN);
    assert_int_equal(system("echo 2 >file"), 0);
    assert_revision(NULL, NULL, commit, "trunk", ORIGIN_TREE_DIRTY);
    assert_revision("trunk", "other", commit, "other", ORIGIN_TREE_DIRTY);
    assert_revision("HEAD~7", NULL, "HEAD~7", "", ORIGIN_TREE_UNKNOWN);
}

static void test_repository_is_believed_before_ci(void **state) {
    char commit[64];
    make_repository(commit);
    setenv("GITHUB_SHA", "abc", 1);
    setenv("GITHUB_REF_NAME", "topic", 1);
    assert_int_equal(system("git checkout -q --detach"), 0);
    assert_revision(NULL, NULL, commit, "", ORIGIN_TREE_CLEAN); /* the base of a pull request */
    setenv("GITHUB_SHA", commit, 1);
    assert_revision(NULL, NULL, commit, "topic", ORIGIN_TREE_CLEAN);
}

#define PLACED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_variables_that_matter_are_kept),
        cmocka_unit_test(test_preload_is_kept_without_the_shim),
        cmocka_unit_test(test_fixed_addresses_are_said),
        cmocka_unit_test(test_libc_allocator_and_processor_of_a_program_are_found),
        PLACED(test_without_a_repository_ci_is_believed),
        PLACED(test_repository_says_commit_branch_and_whether_it_is_dirty),
        PLACED(test_repository_is_believed_before_ci),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
