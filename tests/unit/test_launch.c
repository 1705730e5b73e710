/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that cannot be measured are refused before they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launch.h"
#include "trace_layout.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stands for libvotrace.so: an ELF file of this machine. */
#define LIBRARY "/proc/self/exe"

static char folder[] = "/tmp/test_launch.XXXXXX";

static int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    return rmdir(folder);
}

static void path_in(char ret_path[PATH_MAX], const char *name) {
    snprintf(ret_path, PATH_MAX, "%s/%s", folder, name);
}

static void make_file(char ret_path[PATH_MAX], const char *name, mode_t mode, const void *bytes,
                      size_t size) {
    path_in(ret_path, name);
    FILE *stream = fopen(ret_path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(chmod(ret_path, mode), 0);
}

static void assert_refused(const char *program, int error, const char *words) {
    struct fault fault = {0};
    char path[PATH_MAX] = "untouched";
    assert_int_equal(launch_check(program, LIBRARY, path, &fault), error);
    if (!strstr(fault.text, words))
        fail_msg("\"%s\" does not say \"%s\"", fault.text, words);
    assert_string_equal(path, "untouched");
}

static void test_program_is_found_in_path(void **state) {
    struct fault fault = {0};
    char path[PATH_MAX];
    assert_int_equal(launch_check("sh", LIBRARY, path, &fault), 0);
    assert_int_equal(path[0], '/');
    assert_int_equal(launch_check(path, LIBRARY, path, &fault), 0);
}

static void test_what_is_no_program_is_refused(void **state) {
    char path[PATH_MAX];
    assert_refused("", -ENOENT, "the name of the program is empty");
    assert_refused("no-such-program-anywhere", -ENOENT,
                   "there is no program of this name in PATH");
    assert_refused("/no/such/program", -ENOENT, "there is no program of this name");
    assert_refused("/", -EISDIR, "it cannot be executed");
    make_file(path, "plain", 0644, "hello", 5);
    assert_refused(path, -EACCES, "it cannot be executed");
    chmod(path, 0755);
    assert_refused(path, -ENOEXEC, "neither an ELF program nor a script");
    unlink(path);
}

static void test_scripts_are_judged_by_their_interpreter(void **state) {
    struct fault fault = {0};
    char path[PATH_MAX], found[PATH_MAX];
    make_file(path, "good", 0755, "#! /bin/sh -e\n", 14);
    assert_int_equal(launch_check(path, LIBRARY, found, &fault), 0);
    assert_string_equal(found, path);
    unlink(path);
    make_file(path, "missing", 0755, "#!/no/such/shell\n", 17);
    assert_refused(path, -ENOENT, "its interpreter /no/such/shell cannot be executed");
    unlink(path);
    make_file(path, "empty", 0755, "#!   \n", 6);
    assert_refused(path, -ENOEXEC, "its #! line names no interpreter");
    unlink(path);
    char loop[PATH_MAX];
    path_in(loop, "loop");
    char line[PATH_MAX + 3];
    int length = snprintf(line, sizeof(line), "#!%s", loop);
    make_file(path, "loop", 0755, line, (size_t)length);
    assert_refused(path, -ENOEXEC, "its interpreter");
    unlink(path);
}

static Elf64_Ehdr own_header(void) {
    Elf64_Ehdr header;
    FILE *stream = fopen("/proc/self/exe", "r");
    assert_non_null(stream);
    assert_int_equal(fread(&header, sizeof(header), 1, stream), 1);
    fclose(stream);
    return header;
}

static void test_binaries_that_ignore_ld_preload_are_refused(void **state) {
    char path[PATH_MAX];
    Elf64_Ehdr header = own_header();
    header.e_phnum = 0;
    make_file(path, "static", 0755, &header, sizeof(header));
    assert_refused(path, -ENOEXEC, "it is statically linked");
    unlink(path);

    header = own_header();
    header.e_ident[EI_CLASS] = ELFCLASS32;
    make_file(path, "narrow", 0755, &header, sizeof(header));
    assert_refused(path, -ENOEXEC, "it is a 32-bit program");
    unlink(path);

    header = own_header();
    header.e_machine = EM_S390;
    make_file(path, "foreign", 0755, &header, sizeof(header));
    assert_refused(path, -ENOEXEC, "it is a program for another machine");
    unlink(path);

    header = own_header();
    make_file(path, "short", 0755, &header, 20);
    assert_refused(path, -ENOEXEC, "neither an ELF program nor a script");
    unlink(path);
}

static void test_privileged_programs_are_refused(void **state) {
    char path[PATH_MAX], command[2 * PATH_MAX];
    path_in(path, "true");
    snprintf(command, sizeof(command), "cp /bin/true %s", path);
    assert_int_equal(system(command), 0);
    struct fault fault = {0};
    char found[PATH_MAX];
    assert_int_equal(launch_check(path, LIBRARY, found, &fault), 0);
    assert_int_equal(chmod(path, 04755), 0);
    assert_refused(path, -EPERM, "it is setuid");
    assert_int_equal(chmod(path, 02755), 0);
    assert_refused(path, -EPERM, "it is setgid");
    unlink(path);
}

static void test_library_comes_from_the_environment_first(void **state) {
    struct fault fault = {0};
    char path[PATH_MAX];
    setenv("VOTRACE_LIBRARY", "/no/such/library.so", 1);
    assert_int_equal(launch_find_library(path, &fault), -ENOENT);
    assert_non_null(strstr(fault.text, "VOTRACE_LIBRARY is /no/such/library.so"));
    setenv("VOTRACE_LIBRARY", "/bin/../bin/sh", 1);
    assert_int_equal(launch_find_library(path, &fault), 0);
    assert_null(strstr(path, ".."));
    unsetenv("VOTRACE_LIBRARY");
}

/* Any library does for these: what counts is the environment and the status. */
static int run(const char *script, struct launch *launch) {
    struct fault fault = {0};
    char *arguments[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    struct launch_settings settings = {
        .library = "/lib/x86_64-linux-gnu/libm.so.6", .stacks = "all", .depth = "7"};
    *launch = (struct launch){0};
    strcpy(launch->program, "/bin/sh");
    assert_int_equal(launch_run(launch, &settings, arguments, &fault), 0);
    return launch_exit_code(launch);
}

static void test_status_is_what_a_shell_reports(void **state) {
    struct launch launch;
    assert_int_equal(run("exit 0", &launch), 0);
    launch_finish(&launch, false);
    assert_int_equal(run("exit 42", &launch), 42);
    launch_finish(&launch, false);
    assert_int_equal(run("kill -9 $$", &launch), 137);
    launch_finish(&launch, false);
    assert_int_equal(run("kill -TERM $$", &launch), 143);
    launch_finish(&launch, false);
}

static void test_environment_is_set_for_the_program_alone(void **state) {
    struct launch launch;
    setenv("LD_PRELOAD", "", 1);
    setenv("VOTRACE_STACKS", "none", 1);
    assert_int_equal(run("test \"$VOTRACE_STACKS,$VOTRACE_DEPTH\" = all,7 && "
                         "test \"${LD_PRELOAD##*/}\" = libm.so.6 && "
                         "test \"${VOTRACE_OUTPUT##*/}\" = %e.%p.vtr && "
                         "test -d \"${VOTRACE_OUTPUT%/*}\" && "
                         "test $(env | grep -c '^VOTRACE_STACKS=') = 1",
                         &launch),
                     0);
    launch_finish(&launch, false);
    assert_string_equal(getenv("LD_PRELOAD"), "");
    assert_string_equal(getenv("VOTRACE_STACKS"), "none");
    unsetenv("LD_PRELOAD");
    unsetenv("VOTRACE_STACKS");
}

static void test_all_settings_reach_the_program(void **state) {
    struct launch launch = {0};
    struct fault fault = {0};
    char *arguments[] = {(char *)"sh", (char *)"-c",
                         (char *)"test \"$VOTRACE_CHILDREN,$VOTRACE_USABLE,$VOTRACE_REGION,"
                                 "$VOTRACE_SIGNAL,$VOTRACE_DEPTH\" = follow,yes,load,USR2,",
                         NULL};
    struct launch_settings settings = {.library = "/lib/x86_64-linux-gnu/libm.so.6",
                                       .children = "follow",
                                       .usable = "yes",
                                       .region = "load",
                                       .signal = "USR2"};
    strcpy(launch.program, "/bin/sh");
    assert_int_equal(launch_run(&launch, &settings, arguments, &fault), 0);
    assert_int_equal(launch_exit_code(&launch), 0);
    launch_finish(&launch, false);
}

static void test_addresses_are_fixed_for_what_is_started(void **state) {
    struct launch launch;
    bool before = launch_addresses_are_fixed();
    if (launch_set_addresses(true) < 0)
        skip(); /* the kernel does not allow it */
    assert_true(launch_addresses_are_fixed());
    assert_int_equal(run("read p </proc/self/personality; test $p = 00040000", &launch), 0);
    launch_finish(&launch, false);
    assert_int_equal(launch_set_addresses(false), 0);
    assert_false(launch_addresses_are_fixed());
    assert_int_equal(run("read p </proc/self/personality; test $p = 00000000", &launch), 0);
    launch_finish(&launch, false);
    assert_int_equal(launch_set_addresses(before), 0);
}

static void write_trace(const char *launch_folder, const char *name, uint32_t pid,
                        uint64_t start_ns) {
    char path[2 * PATH_MAX];
    struct trace_header header = {.pid = pid, .start_realtime_ns = start_ns};
    memcpy(header.magic, TRACE_MAGIC, sizeof(header.magic));
    snprintf(path, sizeof(path), "%s/%s", launch_folder, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(&header, sizeof(header), 1, stream), 1);
    assert_int_equal(fclose(stream), 0);
}

static void test_other_traces_are_found_oldest_first(void **state) {
    struct launch launch;
    struct fault fault = {0};
    assert_int_equal(run("exit 0", &launch), 0);
    uint32_t own = (uint32_t)launch.pid;
    write_trace(launch.folder, "a.1.vtr", own + 1, 300);
    write_trace(launch.folder, "b.2.vtr", own, 200);
    write_trace(launch.folder, "c.3.vtr", own, 400);
    write_trace(launch.folder, "d.4.vtr", own, 100);
    write_trace(launch.folder, "no-trace", own, 500);
    assert_int_equal(launch_find_trace(&launch, &fault), 0);
    assert_string_equal(strrchr(launch.trace, '/'), "/c.3.vtr");
    assert_int_equal(launch.replaced_count, 2);
    assert_int_equal(launch.other_count, 1);
    assert_int_equal(launch.others.count, 3);
    const struct launch_other *others = launch.others.items;
    assert_string_equal(strrchr(others[0].path, '/'), "/d.4.vtr");
    assert_string_equal(strrchr(others[1].path, '/'), "/b.2.vtr");
    assert_string_equal(strrchr(others[2].path, '/'), "/a.1.vtr");
    launch_finish(&launch, false);
}

/* In this executable, for everybody to see: as a program that brings its own does. */
static void test_own_malloc_is_noticed_in_binary_and_interpreter(void **state) {
    char path[PATH_MAX], line[2 * PATH_MAX];
    assert_false(launch_brings_malloc("/bin/sh"));
    assert_false(launch_brings_malloc("/nonexistent"));
    assert_false(launch_brings_malloc("/etc/passwd"));
    path_in(path, "own");
    const char *compiler = getenv("CC");
    snprintf(line, sizeof(line),
             "echo 'void *malloc(unsigned long n) { return (void *)n; } int main(void) "
             "{ return 0; }' | %s -x c -w -fno-builtin -rdynamic -o %s - 2>/dev/null",
             compiler ? compiler : "cc", path);
    if (system(line) != 0)
        skip(); /* no compiler here */
    assert_true(launch_brings_malloc(path));
    char script[PATH_MAX];
    int length = snprintf(line, sizeof(line), "#!%s\n", path);
    make_file(script, "script", 0755, line, (size_t)length);
    assert_true(launch_brings_malloc(script));
    unlink(script);
    assert_int_equal(truncate(path, 5000), 0);
    assert_false(launch_brings_malloc(path));
    unlink(path);
}

static void test_no_trace_is_said_and_the_folder_goes(void **state) {
    struct launch launch;
    struct fault fault = {0};
    assert_int_equal(run("echo junk > \"${VOTRACE_OUTPUT%/*}/x.1.vtr\"", &launch), 0);
    assert_int_equal(launch_find_trace(&launch, &fault), -ENOENT);
    assert_non_null(strstr(fault.text, "it left no trace"));
    assert_int_equal(launch.other_count, 1);
    char path[PATH_MAX];
    strcpy(path, launch.folder);
    assert_int_equal(access(path, F_OK), 0);
    launch_finish(&launch, false);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_is_found_in_path),
        cmocka_unit_test(test_what_is_no_program_is_refused),
        cmocka_unit_test(test_scripts_are_judged_by_their_interpreter),
        cmocka_unit_test(test_binaries_that_ignore_ld_preload_are_refused),
        cmocka_unit_test(test_privileged_programs_are_refused),
        cmocka_unit_test(test_library_comes_from_the_environment_first),
        cmocka_unit_test(test_status_is_what_a_shell_reports),
        cmocka_unit_test(test_environment_is_set_for_the_program_alone),
        cmocka_unit_test(test_all_settings_reach_the_program),
        cmocka_unit_test(test_addresses_are_fixed_for_what_is_started),
        cmocka_unit_test(test_other_traces_are_found_oldest_first),
        cmocka_unit_test(test_own_malloc_is_noticed_in_binary_and_interpreter),
        cmocka_unit_test(test_no_trace_is_said_and_the_folder_goes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
