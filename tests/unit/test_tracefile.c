/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapped trace file: names, growth, and what becomes of it when the file is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sysmem_wrap.h"
#include "trace_scratch.h"
#include "tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES 16384u

static struct trace_scratch scratch;
static struct tracefile file;

static int setup(void **state) {
    trace_scratch_init(&scratch);
    return 0;
}

static int teardown(void **state) {
    trace_scratch_finish(&scratch);
    return 0;
}

/* Names */

static void test_a_pattern_expands_program_pid_and_percent(void **state) {
    char path[PATH_MAX];
    assert_int_equal(tracefile_expand("/x/%e.%p%%.vtr", "prog%p", 77, path), 0);
    assert_string_equal(path, "/x/prog%p.77%.vtr");
    assert_int_equal(tracefile_expand("/plain", "prog", 1, path), 0);
    assert_string_equal(path, "/plain");
}

static void test_a_relative_pattern_begins_at_the_current_folder(void **state) {
    char path[PATH_MAX];
    char wanted[PATH_MAX];
    assert_int_equal(chdir(scratch.folder), 0);
    assert_int_equal(tracefile_expand("%e.vtr", "prog", 1, path), 0);
    assert_int_equal(chdir("/"), 0);
    snprintf(wanted, sizeof(wanted), "%s/prog.vtr", scratch.folder);
    assert_string_equal(path, wanted);
}

static void test_bad_patterns_are_refused_and_write_nothing(void **state) {
    static char longest[PATH_MAX];
    char path[PATH_MAX] = "as it was";
    memset(longest, 'x', sizeof(longest) - 1);
    longest[0] = '/';
    assert_int_equal(tracefile_expand("/%x", "prog", 1, path), -EINVAL);
    assert_int_equal(tracefile_expand("/end%", "prog", 1, path), -EINVAL);
    assert_string_equal(path, "as it was");
    assert_int_equal(tracefile_expand(longest, "prog", 1, path), 0);
    longest[PATH_MAX - 2] = '%';
    assert_int_equal(tracefile_expand(longest, "prog", 1, path), -EINVAL);
    longest[PATH_MAX - 3] = '%';
    longest[PATH_MAX - 2] = 'e';
    assert_int_equal(tracefile_expand(longest, "program", 1, path), -ENAMETOOLONG);
}

static void write_text(const char *path, const char *text) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void assert_text(const char *path, const char *text) {
    char buffer[64] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(buffer, sizeof(buffer), stream));
    fclose(stream);
    assert_string_equal(buffer, text);
}

static void test_a_name_that_is_taken_is_never_overwritten(void **state) {
    char second[160];
    char third[160];
    struct trace_check check;
    write_text(scratch.path, "precious");
    snprintf(second, sizeof(second), "%s.2", scratch.path);
    snprintf(third, sizeof(third), "%s.3", scratch.path);
    assert_int_equal(symlink("/nowhere", second), 0);
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_string_equal(file.path, third);
    assert_true(file.file_exists);
    assert_text(scratch.path, "precious");
    trace_scratch_check(third, &check);
    assert_int_equal(check.header->state, TRACE_STARTING);
    trace_scratch_check_finish(&check);
}

/* Growing */

/* Append a chunk filled with a pattern of its number. */
static bool append(uint32_t number) {
    unsigned char *payload = tracefile_chunk(
        &file, TRACE_CHUNK_TEXT,
        (struct tracefile_ids){.first = TRACE_TEXT_COMMAND, .count = CHUNK_BYTES}, CHUNK_BYTES);
    if (payload == NULL)
        return false;
    for (uint32_t i = 0; i < CHUNK_BYTES; i++)
        assert_int_equal(payload[i], 0);
    memset(payload, (int)(number % 251 + 1), CHUNK_BYTES);
    return true;
}

/* The file at @path is a whole trace of @count such chunks. */
static void assert_chunks(const char *path, uint32_t count) {
    struct trace_check check;
    trace_scratch_check(path, &check);
    uint64_t at = TRACE_HEADER_BYTES;
    for (uint32_t number = 0; number < count; number++) {
        const struct trace_chunk *chunk = (const void *)(check.bytes + at);
        const unsigned char *payload = (const unsigned char *)(chunk + 1);
        assert_int_equal(payload[0], number % 251 + 1);
        assert_int_equal(payload[CHUNK_BYTES - 1], number % 251 + 1);
        at += chunk->bytes;
    }
    assert_int_equal(check.header->used_bytes, at);
    trace_scratch_check_finish(&check);
}

static void test_the_file_grows_beyond_its_extents(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    for (uint32_t i = 0; i < 1000; i++) { /* 16 MB */
        assert_true(append(i));
        if (i % 100 == 10)
            assert_chunks(scratch.path, i + 1);
    }
    assert_false(file.spilling);
    assert_chunks(scratch.path, 1000);
    tracefile_finish(&file);
    assert_chunks(scratch.path, 1000);
    assert_int_equal(file.header->completeness.file_refused, 0);
}

static void test_a_payload_stays_where_it_is(void **state) {
    unsigned char *payloads[100];
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    for (uint32_t i = 0; i < 100; i++)
        payloads[i] = tracefile_chunk(
            &file, TRACE_CHUNK_TEXT,
            (struct tracefile_ids){.first = TRACE_TEXT_COMMAND, .count = CHUNK_BYTES},
            CHUNK_BYTES);
    for (uint32_t i = 0; i < 100; i++)
        memset(payloads[i], (int)(i % 251 + 1), CHUNK_BYTES);
    assert_chunks(scratch.path, 100);
}

static void test_texts_are_cut_where_they_would_not_fit(void **state) {
    static char text[300000];
    struct trace_check check;
    memset(text, 'x', sizeof(text));
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    for (int i = 0; i < 20; i++)
        tracefile_text(&file, TRACE_TEXT_COMMAND, text, sizeof(text));
    tracefile_text(&file, TRACE_TEXT_EXE, "/a", 2);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.text_count, 21);
    trace_scratch_check_finish(&check);
}

static int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_no_descriptor_stays_open(void **state) {
    int before = descriptors();
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    for (uint32_t i = 0; i < 100; i++)
        append(i);
    tracefile_finish(&file);
    assert_int_equal(descriptors(), before);
}

/* Refused */

static void test_a_folder_that_is_not_there_yet_is_written_to_at_the_end(void **state) {
    char folder[160];
    char path[200];
    snprintf(folder, sizeof(folder), "%s/later", scratch.folder);
    snprintf(path, sizeof(path), "%s/t.vtr", folder);
    assert_int_equal(tracefile_open(&file, path), 0);
    assert_true(file.spilling);
    assert_false(file.file_exists);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    assert_false(tracefile_finish(&file)); /* still not there: nothing happens */
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_true(tracefile_finish(&file));
    assert_chunks(path, 100);
    assert_true(file.header->completeness.file_refused > 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void set_file_limit(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* SIGXFSZ has its default action here: it would end the test. */
static void test_the_file_size_limit_is_not_run_into(void **state) {
    struct stat status;
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    set_file_limit(600000);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    assert_true(file.spilling);
    tracefile_finish(&file);
    assert_int_equal(stat(scratch.path, &status), 0);
    assert_true(status.st_size <= 600000);
    set_file_limit(RLIM_INFINITY);
    tracefile_finish(&file);
    assert_chunks(scratch.path, 100);
}

/* An exec that came back: the file is as it was before, and the true end is written later. */
static void test_an_end_that_was_none_is_taken_back(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_true(append(0));
    set_file_limit(300000);
    for (uint32_t i = 1; i < 50; i++)
        assert_true(append(i));
    assert_true(file.spilling);
    uint64_t used_bytes = file.header->used_bytes;
    set_file_limit(RLIM_INFINITY);
    assert_true(tracefile_finish(&file));
    assert_true(file.header->used_bytes > used_bytes);
    tracefile_unfinish(&file);
    assert_int_equal(file.header->used_bytes, used_bytes);
    for (uint32_t i = 50; i < 100; i++)
        assert_true(append(i));
    assert_true(tracefile_finish(&file));
    assert_chunks(scratch.path, 100);
}

static void test_an_end_that_was_none_leaves_no_file_where_there_was_none(void **state) {
    char folder[160];
    char path[200];
    snprintf(folder, sizeof(folder), "%s/later", scratch.folder);
    snprintf(path, sizeof(path), "%s/t.vtr", folder);
    assert_int_equal(tracefile_open(&file, path), 0);
    assert_true(append(0));
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_true(tracefile_finish(&file));
    assert_int_equal(access(path, F_OK), 0);
    tracefile_unfinish(&file);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(append(1));
    assert_true(tracefile_finish(&file));
    assert_chunks(path, 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_a_file_size_limit_below_the_first_extent_makes_no_file(void **state) {
    set_file_limit(10000);
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_false(file.file_exists);
    assert_true(append(0));
    tracefile_finish(&file);
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(access(scratch.path, F_OK), -1);
    tracefile_finish(&file);
    assert_chunks(scratch.path, 1);
}

static void test_a_path_that_is_gone_is_not_created_again(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_int_equal(unlink(scratch.path), 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    assert_true(file.spilling);
    tracefile_finish(&file);
    assert_int_equal(access(scratch.path, F_OK), -1);
}

static void test_another_file_under_the_path_is_left_alone(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_int_equal(unlink(scratch.path), 0);
    write_text(scratch.path, "somebody else's");
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    tracefile_finish(&file);
    assert_text(scratch.path, "somebody else's");
}

static void test_without_a_path_everything_stays_in_memory(void **state) {
    assert_int_equal(tracefile_open(&file, NULL), 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    tracefile_finish(&file);
    assert_int_equal(file.header->completeness.file_refused > 0, 1);
}

static void test_memory_that_is_refused_too_is_an_error(void **state) {
    sysmem_refuse_after(0);
    int opened = tracefile_open(&file, NULL);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(opened, -ENOMEM);

    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_int_equal(unlink(scratch.path), 0);
    sysmem_refuse_after(0);
    uint32_t count = 0;
    while (append(count))
        count++;
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_true(count > 0 && count < 20);
    assert_true(append(count));
}

/* Sealed */

static void test_room_made_ahead_is_enough_for_a_sealed_file(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_true(append(0));
    assert_true(tracefile_make_room(&file, UINT64_C(8) << 20));
    tracefile_seal(&file, true);
    for (uint32_t i = 1; i < 500; i++) /* 8 MB */
        assert_true(append(i));
    assert_false(file.spilling);
    assert_int_equal(file.header->completeness.file_refused, 0);
    assert_chunks(scratch.path, 500);
}

static void test_room_is_made_once(void **state) {
    struct stat status;
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    assert_true(tracefile_make_room(&file, 1000000));
    unsigned char *place = file.place;
    assert_true(tracefile_make_room(&file, 1000000));
    assert_ptr_equal(file.place, place);
    assert_int_equal(stat(scratch.path, &status), 0);
    assert_true(status.st_size >= 1000000 && status.st_size < 1020000);
}

static void test_where_there_is_less_room_that_is_taken(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    set_file_limit(3000000);
    assert_false(tracefile_make_room(&file, UINT64_C(8) << 20));
    set_file_limit(RLIM_INFINITY);
    assert_true(file.left_bytes > 1000000);
    for (uint32_t i = 0; i < 300; i++)
        assert_true(append(i));
    assert_chunks(scratch.path, 300);
}

static void test_a_sealed_file_is_left_alone_at_the_end(void **state) {
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    tracefile_seal(&file, true);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(append(i));
    assert_true(file.spilling);
    assert_true(file.header->completeness.file_refused > 0);
    uint64_t used_bytes = file.header->used_bytes;
    assert_false(tracefile_finish(&file));
    tracefile_unfinish(&file);
    assert_int_equal(file.header->used_bytes, used_bytes);
    tracefile_seal(&file, false);
    assert_true(tracefile_finish(&file));
    assert_chunks(scratch.path, 100);
}

static void test_new_stacks_leave_half_of_a_sealed_file_to_the_counters(void **state) {
    static const struct tracefile_ids nodes = {.count = 64};
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    uint64_t left_bytes = file.left_bytes;
    tracefile_seal(&file, true);
    uint32_t count = 0;
    while (tracefile_chunk(&file, TRACE_CHUNK_NODES, nodes, 1024) != NULL)
        count++;
    assert_in_range(count * UINT64_C(1088), left_bytes / 2 - 1088, left_bytes / 2);
    assert_null(tracefile_chunk(&file, TRACE_CHUNK_SITES, nodes, 1024));
    assert_non_null(tracefile_chunk(&file, TRACE_CHUNK_ROWS, nodes, 1024));
    assert_false(file.spilling);
    tracefile_seal(&file, false);
    assert_non_null(tracefile_chunk(&file, TRACE_CHUNK_SITES, nodes, 1024));
}

static void test_errno_is_kept(void **state) {
    errno = 4321;
    assert_int_equal(tracefile_open(&file, "/nonexistent/t.vtr"), 0);
    for (uint32_t i = 0; i < 100; i++)
        append(i);
    tracefile_finish(&file);
    assert_int_equal(errno, 4321);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_pattern_expands_program_pid_and_percent),
        TEST(test_a_relative_pattern_begins_at_the_current_folder),
        TEST(test_bad_patterns_are_refused_and_write_nothing),
        TEST(test_a_name_that_is_taken_is_never_overwritten),
        TEST(test_the_file_grows_beyond_its_extents),
        TEST(test_a_payload_stays_where_it_is),
        TEST(test_texts_are_cut_where_they_would_not_fit),
        TEST(test_no_descriptor_stays_open),
        TEST(test_a_folder_that_is_not_there_yet_is_written_to_at_the_end),
        TEST(test_the_file_size_limit_is_not_run_into),
        TEST(test_a_file_size_limit_below_the_first_extent_makes_no_file),
        TEST(test_a_path_that_is_gone_is_not_created_again),
        TEST(test_an_end_that_was_none_is_taken_back),
        TEST(test_an_end_that_was_none_leaves_no_file_where_there_was_none),
        TEST(test_another_file_under_the_path_is_left_alone),
        TEST(test_without_a_path_everything_stays_in_memory),
        TEST(test_memory_that_is_refused_too_is_an_error),
        TEST(test_room_made_ahead_is_enough_for_a_sealed_file),
        TEST(test_room_is_made_once),
        TEST(test_where_there_is_less_room_that_is_taken),
        TEST(test_a_sealed_file_is_left_alone_at_the_end),
        TEST(test_new_stacks_leave_half_of_a_sealed_file_to_the_counters),
        TEST(test_errno_is_kept),
    };
    return cmocka_run_group_tests_name("tracefile", tests, NULL, NULL);
}
