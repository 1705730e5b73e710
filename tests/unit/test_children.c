/* SPDX-License-Identifier: BSD-3-Clause */
/* What forked children record, and that their parents' traces do not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "random.h"
#include "recorder.h"
#include "recorder_scratch.h"
#include "sysmem_wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   UINT64_C(4096)
#define MAP    UINT64_C(0x7f0000000000)
#define BLOCKS 3000u

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};

static void start(const char *children) {
    setenv("VOTRACE_CHILDREN", children, 1);
    recorder_scratch_start(&scratch, "all");
    unsetenv("VOTRACE_CHILDREN");
}

static int setup_follow(void **state) {
    start("follow");
    return 0;
}

static int setup_exec(void **state) {
    start("exec");
    return 0;
}

static int teardown(void **state) {
    struct trace_check check;
    backtrace_fake_set(NULL, 0, true);
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    trace_scratch_check_finish(&check);
    recorder_reset_for_tests();
    trace_scratch_finish(&scratch);
    return 0;
}

/* fork() as the library sees it. */
static pid_t fork_told(void) {
    recorder_fork_prepare();
    pid_t child = fork();
    if (child == 0)
        recorder_fork_child();
    else
        recorder_fork_parent();
    return child;
}

static void assert_ends_with(pid_t child, int wanted) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), wanted);
}

/* The trace of the @number th process: files are named one after the other. */
static const char *path_of(unsigned number) {
    static char path[sizeof(scratch.path) + 16];
    snprintf(path, sizeof(path), number == 1 ? "%s" : "%s.%u", scratch.path, number);
    return path;
}

static const struct trace_completeness *completeness(void) {
    return &recorder_header_for_tests()->completeness;
}

static void allocate(unsigned block, uint64_t bytes) {
    uintptr_t frames[3] = {0x1000 + block % 70, 0x500 + block % 7, 1};
    backtrace_fake_set(frames, 3, true);
    recorder_allocated(0x100000 + block * 16, bytes, frame);
    backtrace_fake_set(NULL, 0, true);
}

static void release(unsigned block) {
    recorder_freed(0x100000 + block * 16);
}

static void test_a_child_that_does_nothing_leaves_nothing(void **state) {
    allocate(1, 100);
    pid_t child = fork_told();
    if (child == 0) {
        bool asleep = recorder_asleep && !recorder_active();
        bool execs = recorder_exec_begin();
        recorder_exiting();
        _exit(asleep && !execs && access(path_of(2), F_OK) != 0 ? 0 : 1);
    }
    assert_ends_with(child, 0);
    assert_int_not_equal(access(path_of(2), F_OK), 0);
    assert_int_equal(completeness()->forked_children, 0);
}

static void test_a_child_begins_with_what_its_parent_had(void **state) {
    struct trace_check parent, check;
    allocate(1, 100);
    allocate(2, 50);
    recorder_mapped(MAP, 10 * PAGE, TRACE_MAP_ANON, frame);
    recorder_mapped(MAP + 20 * PAGE, PAGE, TRACE_MAP_FILE, frame);
    pid_t child = fork_told();
    if (child == 0) {
        struct recorder_unmapping unmapping;
        recorder_unmapping(MAP, PAGE, &unmapping);
        if (!recorder_awake())
            _exit(2);
        recorder_region_begin("r");
        allocate(3, 7);
        release(1);
        recorder_region_end("r");
        recorder_unmapping(MAP, PAGE, &unmapping);
        recorder_unmapped(MAP, PAGE, &unmapping);
        recorder_exiting();
        _exit(0);
    }
    assert_ends_with(child, 0);
    trace_scratch_check(path_of(1), &parent);
    trace_scratch_check(path_of(2), &check);
    assert_int_equal(check.header->flags & TRACE_FORKED, TRACE_FORKED);
    assert_int_equal(check.header->pid, child);
    assert_int_equal(check.header->parent_pid, getpid());
    assert_memory_equal(check.header->parent_uuid, parent.header->uuid, TRACE_UUID_BYTES);
    assert_int_equal(check.header->state, TRACE_EXITED);
    assert_int_equal(check.header->completeness.inherited_freed, 2);
    assert_int_equal(check.header->completeness.unknown_frees, 0);
    const struct trace_region *process = check.regions[0], *region = check.regions[1];
    assert_int_equal(process->space[TRACE_HEAP].start.bytes, 150);
    assert_int_equal(process->space[TRACE_HEAP].start.blocks, 2);
    assert_int_equal(process->space[TRACE_HEAP].live.bytes, 57);
    assert_int_equal(process->space[TRACE_HEAP].peak.bytes, 157);
    assert_int_equal(process->space[TRACE_MAP_ANON].live.bytes, 9 * PAGE);
    assert_int_equal(process->space[TRACE_MAP_FILE].live.bytes, PAGE);
    assert_int_equal(region->space[TRACE_HEAP].start.bytes, 150);
    assert_int_equal(region->space[TRACE_HEAP].owned_peak_bytes, 7);
    /* The parent's trace is what it was. */
    assert_int_equal(parent.header->region_count, 1);
    assert_int_equal(parent.regions[0]->space[TRACE_MAP_ANON].live.bytes, 10 * PAGE);
    trace_scratch_check_finish(&check);
    trace_scratch_check_finish(&parent);
}

/* A block that realloc could not change is still there, and is freed later. */
static void test_an_inherited_block_can_be_reallocated(void **state) {
    struct trace_check check;
    allocate(1, 100);
    allocate(2, 50);
    allocate(3, 30);
    pid_t child = fork_told();
    if (child == 0) {
        struct recorder_taken taken;
        if (!recorder_awake())
            _exit(2);
        recorder_reallocating(0x100000 + 16, &taken);
        recorder_realloc_failed(&taken);
        recorder_reallocating(0x100000 + 16, &taken);
        recorder_reallocated(&taken, 0x900000, 130, frame);
        release(2);
        /* In vain, and once more: it is its parent's still, and its free was not seen. */
        recorder_reallocating(0x100000 + 48, &taken);
        recorder_realloc_failed(&taken);
        recorder_reallocating(0x900000, &taken);
        recorder_realloc_failed(&taken);
        recorder_exiting();
        _exit(0);
    }
    assert_ends_with(child, 0);
    trace_scratch_check(path_of(2), &check);
    const struct trace_totals *heap = &check.regions[0]->space[TRACE_HEAP];
    assert_int_equal(heap->live.bytes, 160);
    assert_int_equal(heap->live.blocks, 2);
    assert_int_equal(heap->failed, 3);
    assert_int_equal(check.header->completeness.inherited_freed, 2);
    assert_int_equal(check.header->completeness.unknown_frees, 0);
    trace_scratch_check_finish(&check);
}

/* @events random ones on @live, of which 0 is no block; returns the bytes that are live. */
static uint64_t churn(struct random *random, uint16_t live[BLOCKS], unsigned events) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < events; i++) {
        unsigned block = (unsigned)random_below(random, BLOCKS);
        if (live[block] != 0)
            release(block);
        live[block] = live[block] != 0 ? 0 : (uint16_t)(1 + random_below(random, 5000));
        if (live[block] != 0)
            allocate(block, live[block]);
        if (i % 1000 == 10)
            recorder_region_begin("churn");
        if (i % 1000 == 700)
            recorder_region_end("churn");
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        bytes += live[i];
    return bytes;
}

/* Each generation frees what those before it allocated, and its trace adds up by itself. */
static void test_five_generations_all_add_up(void **state) {
    static uint16_t live[BLOCKS];
    struct random random = {4711};
    uint64_t bytes = churn(&random, live, 20000);
    for (unsigned generation = 2; generation <= 6; generation++) {
        pid_t child = fork_told();
        if (child != 0) {
            assert_ends_with(child, 0);
            break;
        }
        if (!recorder_awake())
            _exit(2);
        uint64_t start = bytes;
        bytes = churn(&random, live, 20000);
        struct trace_check check;
        recorder_header_for_tests();
        trace_scratch_check(path_of(generation), &check);
        const struct trace_totals *heap = &check.regions[0]->space[TRACE_HEAP];
        bool holds = heap->start.bytes == start && heap->live.bytes == bytes &&
                     check.header->completeness.unknown_frees == 0 &&
                     check.header->completeness.inherited_freed > 1000;
        trace_scratch_check_finish(&check);
        if (!holds)
            _exit(3);
        if (generation == 6)
            _exit(0);
    }
    if (recorder_header_for_tests()->flags & TRACE_FORKED)
        _exit(0);
}

/* A child that sleeps and forks: its child begins with what their common ancestor had. */
static void test_the_child_of_a_sleeping_child_is_followed_too(void **state) {
    struct trace_check check;
    allocate(1, 100);
    pid_t child = fork_told();
    if (child == 0) {
        child = fork_told();
        if (child == 0) {
            if (!recorder_awake())
                _exit(2);
            release(1);
            recorder_exiting();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        _exit(recorder_active() ? 3 : WEXITSTATUS(status));
    }
    assert_ends_with(child, 0);
    trace_scratch_check(path_of(2), &check);
    assert_int_equal(check.regions[0]->space[TRACE_HEAP].start.bytes, 100);
    assert_int_equal(check.regions[0]->space[TRACE_HEAP].live.bytes, 0);
    assert_memory_equal(check.header->parent_uuid, recorder_header_for_tests()->uuid,
                        TRACE_UUID_BYTES);
    trace_scratch_check_finish(&check);
}

static void test_a_child_that_is_refused_memory_stays_muted(void **state) {
    allocate(1, 100);
    for (int mappings = 0; mappings < 3; mappings++) {
        pid_t child = fork_told();
        if (child == 0) {
            sysmem_refuse_after(mappings);
            bool muted = !recorder_awake();
            sysmem_refuse_after(SYSMEM_NEVER);
            _exit(muted && !recorder_awake() ? 0 : 1);
        }
        assert_ends_with(child, 0);
    }
}

static void test_children_are_muted_unless_they_are_to_be_followed(void **state) {
    allocate(1, 100);
    pid_t child = fork_told();
    if (child == 0)
        _exit(recorder_asleep || recorder_awake() ? 1 : 0);
    assert_ends_with(child, 0);
    assert_int_equal(completeness()->forked_children, 1);
    assert_int_not_equal(access(path_of(2), F_OK), 0);
}

int main(void) {
#define FOLLOW(name) cmocka_unit_test_setup_teardown(name, setup_follow, teardown)
#define EXEC(name)   cmocka_unit_test_setup_teardown(name, setup_exec, teardown)
    const struct CMUnitTest tests[] = {
        FOLLOW(test_a_child_that_does_nothing_leaves_nothing),
        FOLLOW(test_a_child_begins_with_what_its_parent_had),
        FOLLOW(test_an_inherited_block_can_be_reallocated),
        FOLLOW(test_five_generations_all_add_up),
        FOLLOW(test_the_child_of_a_sleeping_child_is_followed_too),
        FOLLOW(test_a_child_that_is_refused_memory_stays_muted),
        EXEC(test_children_are_muted_unless_they_are_to_be_followed),
    };
    return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
