/* SPDX-License-Identifier: BSD-3-Clause */
/* run_builder.c: a trace by hand, derived as any other, and names for its frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_builder.h"

#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_BYTES 48

static uint32_t stack_of(struct trace_builder *b, char functions[BUILDER_NODES][FUNCTION_BYTES],
                         const char *stack) {
    uint32_t node = 0;
    for (const char *at = stack; *at != '\0';) {
        size_t length = strcspn(at, "/");
        bool in_library = strncmp(at, "lib:", 4) == 0;
        bool is_nameless = in_library || strncmp(at, "hid:", 4) == 0;
        bool is_python = strncmp(at, "py:", 3) == 0;
        bool is_pythons_own = strncmp(at, "ext:", 4) == 0;
        size_t lead = is_python ? 3 : is_pythons_own ? 4 : 0;
        uint64_t address = (in_library       ? 0x90000u
                            : is_python      ? 0xb0000u
                            : is_pythons_own ? 0xd0000u
                                             : 0x10000u) +
                           16u * b->header.node_count;
        node = trace_builder_node(b, node, address);
        assert_true(length < FUNCTION_BYTES);
        if (!is_nameless)
            memcpy(functions[node], at + lead, length - lead);
        at += length + (at[length] == '/');
    }
    return node;
}

/* Nothing is freed, so both spaces have their peak at the end. */
static void combine_spaces(struct profile *profile) {
    struct profile_region *regions = (struct profile_region *)profile->regions;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_totals *totals = regions[i].totals;
        regions[i].combined_start_bytes =
            totals[TRACE_HEAP].start.bytes + totals[TRACE_MAP_ANON].start.bytes;
        regions[i].combined_peak_bytes =
            totals[TRACE_HEAP].peak_bytes + totals[TRACE_MAP_ANON].peak_bytes;
    }
}

static const char *keep(struct profile *profile, const char *lead, const char *text,
                        size_t length) {
    char kept[2 * FUNCTION_BYTES];
    snprintf(kept, sizeof(kept), "%s%.*s", lead, (int)length, text);
    return arena_text(&profile->arena, kept, strlen(kept));
}

/* "function@file:line" of node @node. */
static void frame_name(struct profile *profile, uint32_t node, const char *words) {
    struct profile_frame *frame =
        (struct profile_frame *)&profile->frames[profile->nodes[node].frame];
    size_t length = strcspn(words, "@");
    frame->function = keep(profile, "", words, length);
    frame->file = words[0] != '\0' ? "/src/reader.c" : "";
    frame->lineno = node;
    if (words[length] == '\0')
        return;
    const char *file = words + length + 1;
    size_t file_length = strcspn(file, ":");
    if (file_length == 0) {
        frame->file = "";
        frame->lineno = 0;
        return;
    }
    char *kept = (char *)keep(profile, "/src/", file, file_length);
    for (char *plus = kept; (plus = strchr(plus, '+')) != NULL;)
        *plus = '/';
    frame->file = kept;
    if (file[file_length] == ':')
        frame->lineno = (uint32_t)strtoul(file + file_length + 1, NULL, 10);
}

static void work_do(struct trace_builder *b, char functions[BUILDER_NODES][FUNCTION_BYTES],
                    const struct run_work *work) {
    bool mapped = strncmp(work->stack, "map:", 4) == 0;
    const char *stack = work->stack + (mapped ? 4 : 0);
    uint32_t site =
        mapped ? TRACE_MAP_ANON : TRACE_HEAP; /* the sites without a stack come first */
    if (strcmp(stack, "-") != 0)
        site = trace_builder_site(b, stack_of(b, functions, stack),
                                  mapped ? TRACE_MAP_ANON : TRACE_HEAP);
    trace_builder_allocate(b, site, work->bytes);
}

void run_build(struct run *ret_run, const char *name, const char *format,
               const struct run_work *work, size_t count, const char *region_name) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    char functions[BUILDER_NODES][FUNCTION_BYTES] = {0};
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/victim", 0x10000, 0x20000, 0);
    trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libxml2.so.2", 0x90000, 0xa0000, 0);
    trace_builder_module(&b, PROFILE_CODE_PATH, 0xb0000, 0xc0000, 0);
    trace_builder_module(&b, "/opt/lib/python3.12/lib-dynload/_json.so", 0xd0000, 0xe0000, 0);
    trace_builder_allocate(&b, 0, 500);
    uint32_t region = region_name ? trace_builder_begin(&b, region_name) : 0;
    for (size_t i = 0; i < count; i++)
        work_do(&b, functions, &work[i]);
    if (region_name)
        trace_builder_end(&b, region);
    trace_builder_exit(&b);
    unsigned char *file = trace_builder_write(&b, &size);
    *ret_run = (struct run){0};
    assert_int_equal(trace_from_bytes(file, size, &trace, &fault), 0);
    assert_int_equal(profile_from_trace(trace, &ret_run->profile, &fault), 0);
    trace_close(trace);
    free(file);

    struct profile *profile = &ret_run->profile;
    combine_spaces(profile);
    profile_note_interpreters(profile);
    for (uint32_t i = 1; i < profile->node_count; i++)
        frame_name(profile, i, functions[i]);
    struct run_param param = {"format", format};
    assert_int_equal(run_describe(ret_run, name, &param, 1), 0);
    ret_run->outcome = RUN_EXITED;
}
