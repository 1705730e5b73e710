/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of results is there whole, or what was there before is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "outfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[96];

static int setup(void **state) {
    (void)state;
    strcpy(folder, "/tmp/votrace-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/out", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when anything was left behind */
}

static void assert_holds(const char *wanted) {
    char text[64] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    size_t length = fread(text, 1, sizeof(text) - 1, stream);
    fclose(stream);
    text[length] = '\0';
    assert_string_equal(text, wanted);
}

static void write_once(const char *text) {
    struct outfile file;
    struct fault fault = {0};
    assert_int_equal(outfile_open(path, &file, &fault), 0);
    fputs(text, file.stream);
    assert_int_equal(outfile_commit(&file, &fault), 0);
}

static void test_file_is_there_when_it_is_committed_and_not_before(void **state) {
    struct outfile file;
    struct fault fault = {0};
    (void)state;
    assert_int_equal(outfile_open(path, &file, &fault), 0);
    fputs("whole", file.stream);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(outfile_commit(&file, &fault), 0);
    assert_holds("whole");
}

static void test_abandoned_file_leaves_what_was_there(void **state) {
    struct outfile file;
    struct fault fault = {0};
    (void)state;
    write_once("old");
    assert_int_equal(outfile_open(path, &file, &fault), 0);
    fputs("half", file.stream);
    outfile_abandon(&file);
    assert_holds("old");
}

static void test_link_stays_a_link_to_what_is_new(void **state) {
    char link[128];
    struct stat status;
    struct outfile file;
    struct fault fault = {0};
    (void)state;
    write_once("old");
    snprintf(link, sizeof(link), "%s/link", folder);
    assert_int_equal(symlink("out", link), 0);
    assert_int_equal(outfile_open(link, &file, &fault), 0);
    fputs("new", file.stream);
    assert_int_equal(outfile_commit(&file, &fault), 0);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_holds("new");
    unlink(link);
}

static void test_devices_are_written_to_and_a_full_one_is_said(void **state) {
    struct outfile file;
    struct fault fault = {0};
    struct stat status;
    (void)state;
    assert_int_equal(outfile_open("/dev/full", &file, &fault), 0);
    fputs("x", file.stream);
    assert_int_equal(outfile_commit(&file, &fault), -ENOSPC);
    assert_string_equal(fault.text, "cannot be written: No space left on device, free some "
                                    "space or write elsewhere");
    assert_int_equal(stat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void test_folder_that_is_missing_is_said(void **state) {
    char missing[128];
    struct outfile file;
    struct fault fault = {0};
    (void)state;
    snprintf(missing, sizeof(missing), "%s/none/out", folder);
    assert_int_equal(outfile_open(missing, &file, &fault), -ENOENT);
    assert_string_equal(fault.text,
                        "cannot be written: No such file or directory, write elsewhere");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_file_is_there_when_it_is_committed_and_not_before),
        WITH_FOLDER(test_abandoned_file_leaves_what_was_there),
        WITH_FOLDER(test_link_stays_a_link_to_what_is_new),
        WITH_FOLDER(test_devices_are_written_to_and_a_full_one_is_said),
        WITH_FOLDER(test_folder_that_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
