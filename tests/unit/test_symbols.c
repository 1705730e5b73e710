/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for places in this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "callsite.h"
#include "symbols.h"
#include "trace_builder.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE uint64_t return_address(void) {
    __asm__ volatile("");
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t inlined_step(void) {
    uint64_t address = return_address();
    __asm__ volatile("");
    return address;
}

static NOINLINE uint64_t outer_function(void) {
    uint64_t address = inlined_step();
    __asm__ volatile("");
    return address;
}

static int find_own_bias(struct dl_phdr_info *info, size_t size, void *data) {
    *(uint64_t *)data = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static void make_profile(const char *path, const char *build_id, uint64_t bias,
                         uint64_t address, struct profile *ret_profile) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    trace_builder_module(&b, path, bias, UINT64_MAX, bias);
    if (build_id) {
        b.modules[0].build_id_bytes = (uint32_t)strlen(build_id);
        memcpy(b.modules[0].build_id, build_id, strlen(build_id));
    }
    uint32_t node = trace_builder_node(&b, 0, address);
    uint32_t site = trace_builder_site(&b, node, TRACE_HEAP);
    trace_builder_allocate(&b, site, 10);
    unsigned char *file = trace_builder_write(&b, &size);
    assert_int_equal(trace_from_bytes(file, size, &trace, &fault), 0);
    assert_int_equal(profile_from_trace(trace, ret_profile, &fault), 0);
    trace_close(trace);
    free(file);
}

static char *own_path(void) {
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    assert_true(length > 0);
    path[length] = '\0';
    return path;
}

static void test_inlined_functions_are_frames_of_their_own(void **state) {
    struct profile profile;
    uint64_t bias = 0;
    size_t changed = 42;
    dl_iterate_phdr(find_own_bias, &bias);
    make_profile(own_path(), NULL, bias, outer_function(), &profile);
    assert_int_equal(symbols_resolve(&profile, &changed), 0);
    assert_int_equal(changed, 0);

    uint32_t node = profile.sites[TRACE_FIXED_SITES].node;
    const struct profile_frame *inner = callsite_frame(&profile, node);
    assert_string_equal(inner->function, "inlined_step");
    assert_string_equal(callsite_basename(inner->file), "test_symbols.c");
    assert_int_equal(inner->level, 0);
    const struct profile_frame *outer = callsite_frame(&profile, profile.nodes[node].parent);
    assert_string_equal(outer->function, "outer_function");
    assert_string_equal(callsite_basename(outer->file), "test_symbols.c");
    assert_int_equal(outer->level, 1);
    assert_true(outer->lineno > inner->lineno && inner->lineno > 0);
    assert_null(strstr(outer->file, "/../"));
    assert_int_equal(profile.nodes[profile.nodes[node].parent].parent, 0);

    struct fault fault;
    assert_int_equal(profile_check(&profile, &fault), 0);
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].peak_bytes, 10);
    profile_finish(&profile);
}

static void test_missing_and_strange_files_leave_module_and_offset(void **state) {
    static const char *const paths[] = {"/nonexistent/lib.so", "/etc/passwd", "/", "/dev/null",
                                        "relative.so",         "[vdso]",      ""};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct profile profile;
        size_t changed;
        make_profile(paths[i], NULL, 0x1000, 0x1234, &profile);
        assert_int_equal(symbols_resolve(&profile, &changed), 0);
        assert_int_equal(profile.frame_count, 1);
        assert_int_equal(profile.frames[0].offset, 0x234);
        assert_string_equal(profile.frames[0].function, "");
        assert_string_equal(profile.modules[profile.frames[0].module].path, paths[i]);
        profile_finish(&profile);
    }
}

static void test_changed_module_is_not_used_for_names(void **state) {
    struct profile profile;
    uint64_t bias = 0;
    size_t changed = 0;
    dl_iterate_phdr(find_own_bias, &bias);
    make_profile(own_path(), "another build", bias, outer_function(), &profile);
    assert_int_equal(symbols_resolve(&profile, &changed), 0);
    assert_int_equal(changed, 1);
    assert_string_equal(profile.frames[0].function, "");
    profile_finish(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_functions_are_frames_of_their_own),
        cmocka_unit_test(test_missing_and_strange_files_leave_module_and_offset),
        cmocka_unit_test(test_changed_module_is_not_used_for_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
