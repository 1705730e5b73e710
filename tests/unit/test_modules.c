/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules that the loader lists, stops listing, and lists again, as their MODULE chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules.h"
#include "sysmem_wrap.h"

#include <stdlib.h>
#include <string.h>

static struct tracefile file;
static struct modules *modules;

static int setup(void **state) {
    modules = calloc(1, sizeof(*modules));
    assert_int_equal(tracefile_open(&file, NULL), 0);
    assert_int_equal(modules_init(modules, &file, "/opt/program"), 0);
    return 0;
}

static int teardown(void **state) {
    free(modules);
    return 0;
}

/* One executable segment of 0x1000 bytes at @bias + 0x100. */
static void list(const char *name, uint64_t bias) {
    const ElfW(Phdr) headers[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0, .p_memsz = 0x100},
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x100, .p_memsz = 0x1000},
    };
    struct dl_phdr_info info = {
        .dlpi_addr = bias, .dlpi_name = name, .dlpi_phdr = headers, .dlpi_phnum = 2};
    modules_note(modules, &info);
}

/* The MODULE chunks so far, in order. */
static unsigned find_records(const struct tracefile *in, const struct trace_module *ret[16]) {
    const unsigned char *bytes = (const unsigned char *)in->header;
    unsigned count = 0;
    for (uint64_t at = TRACE_HEADER_BYTES; at < in->end_offset && count < 16;) {
        const struct trace_chunk *chunk =
            (const struct trace_chunk *)(const void *)(bytes + at);
        if (chunk->kind == TRACE_CHUNK_MODULE)
            ret[count++] = (const struct trace_module *)(const void *)(chunk + 1);
        at += chunk->bytes;
    }
    return count;
}

static unsigned count_changes(void) {
    struct module_seen changed;
    unsigned count = 0;
    while (modules_next_change(modules, &changed))
        count++;
    return count;
}

static void test_a_module_is_written_once_while_it_is_loaded(void **state) {
    const struct trace_module *records[16];
    for (int round = 0; round < 3; round++) {
        modules_begin_round(modules);
        list("", 0x10000);
        list("/lib/a", 0x20000);
        assert_int_equal(count_changes(), 0);
    }
    assert_int_equal(find_records(&file, records), 2);
    assert_int_equal(records[0]->start, 0x10100);
    assert_int_equal(records[0]->end, 0x11100);
    assert_int_equal(records[0]->path_bytes, strlen("/opt/program"));
    assert_memory_equal(records[1] + 1, "/lib/a", strlen("/lib/a"));
    assert_int_equal(records[1]->generation, 0);
    const uintptr_t inside[] = {0x10100, 0x210ff};
    assert_true(modules_know(modules, inside, 2));
}

static void test_a_module_that_comes_back_to_its_place_is_the_same(void **state) {
    const struct trace_module *records[16];
    const uintptr_t inside = 0x20200;
    struct module_seen changed;
    modules_begin_round(modules);
    list("/lib/a", 0x20000);
    modules_begin_round(modules);
    assert_false(modules_know(modules, &inside, 1));
    assert_true(modules_next_change(modules, &changed));
    assert_false(changed.loaded);
    assert_int_equal(changed.start, 0x20100);
    assert_int_equal(count_changes(), 0);

    modules_begin_round(modules);
    list("/lib/a", 0x20000);
    assert_true(modules_next_change(modules, &changed));
    assert_true(changed.loaded);
    assert_int_equal(changed.generation, 0);
    assert_int_equal(find_records(&file, records), 1);
    assert_int_equal(modules->generation, 0);
}

/* a, then b over its end, then a again: each has a generation of its own. */
static void test_a_module_where_another_was_begins_a_generation(void **state) {
    const struct trace_module *records[16];
    static const struct {
        const char *name;
        uint64_t bias;
    } turns[] = {{"/lib/a", 0x20000}, {"/lib/b", 0x20f00}, {"/lib/a", 0x20000}};
    for (uint32_t i = 0; i < 3; i++) {
        modules_begin_round(modules);
        list("/lib/c", 0x90000);
        list(turns[i].name, turns[i].bias);
        assert_int_equal(modules->generation, i);
        assert_int_equal(count_changes(), i == 0 ? 0 : 1);
    }
    assert_int_equal(find_records(&file, records), 4);
    assert_int_equal(records[0]->generation, 0);
    assert_int_equal(records[1]->generation, 0);
    assert_int_equal(records[2]->generation, 1);
    assert_int_equal(records[3]->generation, 2);
}

static void test_another_file_at_the_same_place_is_another_module(void **state) {
    const struct trace_module *records[16];
    modules_begin_round(modules);
    list("/lib/a", 0x20000);
    modules_begin_round(modules);
    list("/lib/b", 0x20000);
    assert_int_equal(find_records(&file, records), 2);
    assert_int_equal(records[1]->generation, 1);
}

static void test_a_childs_trace_has_what_its_parents_had(void **state) {
    const struct trace_module *records[16], *copies[16];
    static struct tracefile own;
    modules_begin_round(modules);
    list("/lib/a", 0x20000);
    modules_begin_round(modules);
    list("/lib/b", 0x20000);
    assert_int_equal(tracefile_open(&own, NULL), 0);
    modules_restart(modules, &own);
    assert_int_equal(find_records(&file, records), 2);
    assert_int_equal(find_records(&own, copies), 2);
    for (unsigned i = 0; i < 2; i++)
        assert_memory_equal(records[i], copies[i], sizeof(*copies[i]) + copies[i]->path_bytes);
    list("/lib/c", 0x40000);
    assert_int_equal(find_records(&file, records), 2);
    assert_int_equal(find_records(&own, copies), 3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_module_is_written_once_while_it_is_loaded),
        TEST(test_a_module_that_comes_back_to_its_place_is_the_same),
        TEST(test_a_module_where_another_was_begins_a_generation),
        TEST(test_another_file_at_the_same_place_is_another_module),
        TEST(test_a_childs_trace_has_what_its_parents_had),
    };
    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
