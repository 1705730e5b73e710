/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of interpreted code and their ids, as their CODE chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codes.h"
#include "sysmem_wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tracefile file;
static struct codes *codes;

static int setup(void **state) {
    codes = calloc(1, sizeof(*codes));
    assert_int_equal(tracefile_open(&file, NULL), 0);
    codes_restart(codes, &file);
    return 0;
}

static int teardown(void **state) {
    codes_restart(codes, &file);
    free(codes);
    sysmem_refuse_after(SYSMEM_NEVER);
    return 0;
}

static uint32_t id_of(const char *function, const char *path, uint32_t first_line) {
    const struct code_names names = {function, path, (uint32_t)strlen(function),
                                     (uint32_t)strlen(path), first_line};
    return codes_id(codes, &names);
}

static bool has_record(uint32_t id, const struct trace_code **ret_record) {
    const unsigned char *bytes = (const unsigned char *)file.header;
    for (uint64_t at = TRACE_HEADER_BYTES; at < file.end_offset;) {
        const struct trace_chunk *chunk =
            (const struct trace_chunk *)(const void *)(bytes + at);
        if (chunk->kind == TRACE_CHUNK_CODE && chunk->first == id) {
            *ret_record = (const struct trace_code *)(const void *)(chunk + 1);
            return true;
        }
        at += chunk->bytes;
    }
    return false;
}

/* The CODE chunk of @id in the file. */
static struct trace_code record_of(uint32_t id, const char **ret_text) {
    static const struct trace_code nothing;
    const struct trace_code *record = &nothing;
    if (!has_record(id, &record))
        fail_msg("function %u is not in the file", id);
    *ret_text = (const char *)(record + 1);
    return *record;
}

static void test_a_function_is_noted_once_with_its_names(void **state) {
    assert_int_equal(id_of("Table.parse", "/opt/table.py", 170), 1);
    assert_int_equal(id_of("leaf", "/opt/table.py", 3), 2);
    assert_int_equal(id_of("Table.parse", "/opt/table.py", 170), 1);
    const char *text;
    struct trace_code record = record_of(1, &text);
    assert_int_equal(record.first_line, 170);
    assert_int_equal(record.function_bytes, 11);
    assert_int_equal(record.path_bytes, 13);
    assert_memory_equal(text, "Table.parse/opt/table.py", 24);
    const struct trace_code *none;
    assert_false(has_record(3, &none));
}

static void test_name_file_and_first_line_tell_functions_apart(void **state) {
    uint32_t id = id_of("f", "/a.py", 1);
    assert_int_not_equal(id_of("f", "/a.py", 2), id);
    assert_int_not_equal(id_of("f", "/b.py", 1), id);
    assert_int_not_equal(id_of("g", "/a.py", 1), id);
    assert_int_not_equal(id_of("f/", "a.py", 1), id); /* the same bytes, divided otherwise */
    assert_int_equal(id_of("f", "/a.py", 1), id);
}

static void test_thousands_of_functions_keep_their_ids(void **state) {
    char function[32];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 3000; i++) {
            snprintf(function, sizeof(function), "function_%u", i);
            assert_int_equal(id_of(function, "/many.py", i), i + 1);
        }
}

static void test_without_memory_a_function_has_no_id_and_may_have_one_later(void **state) {
    sysmem_refuse_after(0);
    assert_int_equal(id_of("f", "/a.py", 1), 0);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(id_of("f", "/a.py", 1), 1);
}

static void test_a_new_trace_has_ids_of_its_own(void **state) {
    id_of("f", "/a.py", 1);
    id_of("g", "/a.py", 9);
    assert_int_equal(tracefile_open(&file, NULL), 0);
    codes_restart(codes, &file);
    assert_int_equal(id_of("g", "/a.py", 9), 1);
    const char *text;
    assert_int_equal(record_of(1, &text).first_line, 9);
    assert_memory_equal(text, "g/a.py", 6);
}

static void test_the_address_of_a_frame_has_id_and_line(void **state) {
    assert_int_equal(codes_address(5, 174),
                     TRACE_CODE_FRAME | UINT64_C(5) << TRACE_CODE_LINE_BITS | 174);
    /* A line beyond what fits is not known, rather than another. */
    assert_int_equal(codes_address(5, TRACE_CODE_LINE_MAX + 1),
                     TRACE_CODE_FRAME | UINT64_C(5) << TRACE_CODE_LINE_BITS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_function_is_noted_once_with_its_names),
        TEST(test_name_file_and_first_line_tell_functions_apart),
        TEST(test_thousands_of_functions_keep_their_ids),
        TEST(test_without_memory_a_function_has_no_id_and_may_have_one_later),
        TEST(test_a_new_trace_has_ids_of_its_own),
        TEST(test_the_address_of_a_frame_has_id_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
