/* SPDX-License-Identifier: BSD-3-Clause */
/* The process puts itself into a sandbox: what the recorder gives up, and what it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "recorder_scratch.h"
#include "recorder_state.h"
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};

static int setup(void **state) {
    setenv("VOTRACE_CHILDREN", "follow", 1);
    recorder_scratch_start(&scratch, "all");
    return 0;
}

static int teardown(void **state) {
    recorder_scratch_finish(&scratch);
    return 0;
}

/* Blocks of ten bytes at 1000 places. */
static void allocate_thousand(uintptr_t base) {
    for (uintptr_t i = 0; i < 1000; i++)
        recorder_allocated(base + i * 16, 10, frame);
}

static void free_thousand(uintptr_t base) {
    for (uintptr_t i = 0; i < 1000; i++)
        recorder_freed(base + i * 16);
}

static void test_inside_all_is_counted_as_before(void **state) {
    struct trace_check check;
    allocate_thousand(0x100000);
    recorder_region_begin("v");
    recorder_sandbox_entering(false);
    allocate_thousand(0x200000);
    free_thousand(0x100000);
    allocate_thousand(0x300000);
    recorder_region_end("v");
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    const struct trace_totals *heap = &check.regions[1]->space[TRACE_HEAP];
    assert_int_equal(heap->allocated.blocks, 2000);
    assert_int_equal(heap->freed.blocks, 1000);
    assert_int_equal(heap->live.bytes, 20000);
    assert_int_equal(heap->peak.bytes, 20000);
    assert_int_equal(check.header->state, TRACE_EXITED);
    assert_int_equal(check.header->completeness.events_lost, 0);
    assert_int_equal(check.header->completeness.file_refused, 0);
    trace_scratch_check_finish(&check);
}

/* The processor's time is a system call; the thread was known before. */
static void test_regions_inside_have_no_processor_time_but_their_thread(void **state) {
    struct trace_check check;
    recorder_sandbox_entering(false);
    recorder_region_begin("v");
    recorder_region_end("v");
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.regions[1]->begin_cpu_ns, 0);
    assert_int_equal(check.regions[1]->end_cpu_ns, 0);
    assert_int_equal(check.regions[1]->begin_thread, gettid());
    trace_scratch_check_finish(&check);
}

static void test_inside_lanes_stay_closed(void **state) {
    allocate_thousand(0x100000);
    assert_true(recorder.lanes_allowed);
    assert_true(recorder.lanes->open_count > 0);
    recorder_sandbox_entering(false);
    allocate_thousand(0x200000);
    assert_int_equal(recorder.lanes->open_count, 0);
}

static void test_a_sandbox_that_is_refused_changes_nothing(void **state) {
    errno = 4321;
    recorder_sandbox_entering(false);
    assert_true(sandbox_inside());
    recorder_sandbox_refused(false);
    assert_int_equal(errno, 4321);
    assert_false(sandbox_inside());
    assert_false(recorder.file.sealed);
    allocate_thousand(0x100000);
    assert_true(recorder.lanes->open_count > 0);
}

static void test_one_that_is_refused_does_not_undo_another(void **state) {
    recorder_sandbox_entering(false);
    recorder_sandbox_entering(false);
    recorder_sandbox_refused(false);
    assert_true(sandbox_inside());
    assert_true(recorder.file.sealed);
    assert_false(recorder.lanes_allowed);
}

static void test_an_exec_that_fails_inside_opens_no_lanes(void **state) {
    allocate_thousand(0x100000);
    assert_true(recorder_exec_begin());
    recorder_sandbox_entering(false);
    recorder_exec_failed();
    allocate_thousand(0x200000);
    assert_int_equal(recorder.lanes->open_count, 0);
}

static void test_the_strict_mode_ends_the_recording(void **state) {
    struct trace_check check;
    allocate_thousand(0x100000);
    recorder_sandbox_entering(true);
    assert_false(recorder_active());
    allocate_thousand(0x200000);
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.header->state, TRACE_RUNNING);
    assert_int_equal(check.header->completeness.events_lost, 1);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).allocations, 1000);
    trace_scratch_check_finish(&check);
}

static void test_a_strict_mode_that_is_refused_goes_on_recording(void **state) {
    recorder_sandbox_entering(true);
    recorder_sandbox_refused(true);
    assert_true(recorder_active());
    allocate_thousand(0x100000);
    assert_int_equal(recorder_header_for_tests()->completeness.events_lost, 0);
}

/* Not even if the strict mode is refused there: the trace is its parent's. */
static void test_a_child_made_inside_is_muted_and_counted(void **state) {
    int status;
    recorder_sandbox_entering(false);
    recorder_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        recorder_fork_child();
        recorder_sandbox_entering(true);
        recorder_sandbox_refused(true);
        allocate_thousand(0x100000);
        _exit(recorder_awake() ? 1 : 0);
    }
    recorder_fork_parent();
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(recorder_header_for_tests()->completeness.forked_children, 1);
}

static void test_a_segment_of_unknown_size_is_counted_as_lost(void **state) {
    recorder_attached(0x7f0000000000, 0, frame);
    assert_int_equal(recorder_header_for_tests()->completeness.events_lost, 1);
}

static void test_room_on_an_alternate_stack_is_what_is_below_the_frame(void **state) {
    static const unsigned char memory[1002];
    const unsigned char *stack = memory + 1;
    sandbox_set_alternate(stack, 1000);
    assert_true(sandbox_has_room(stack + 600, 600));
    assert_false(sandbox_has_room(stack + 599, 600));
    assert_true(sandbox_has_room(stack + 1000, 600)); /* not on it */
    assert_true(sandbox_has_room(stack - 1, 600));
    sandbox_set_alternate(stack, 0);
    assert_true(sandbox_has_room(stack, 600));
}

static void test_the_kernel_says_where_the_alternate_stack_is(void **state) {
    static unsigned char memory[65536];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
    stack_t old;
    assert_int_equal(sigaltstack(&stack, &old), 0);
    sandbox_ask_alternate();
    assert_false(sandbox_has_room(memory + 10, 11));
    assert_int_equal(sigaltstack(&old, NULL), 0);
    sandbox_ask_alternate();
    assert_true(sandbox_has_room(memory + 10, 11));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_inside_all_is_counted_as_before),
        TEST(test_regions_inside_have_no_processor_time_but_their_thread),
        TEST(test_inside_lanes_stay_closed),
        TEST(test_a_sandbox_that_is_refused_changes_nothing),
        TEST(test_one_that_is_refused_does_not_undo_another),
        TEST(test_an_exec_that_fails_inside_opens_no_lanes),
        TEST(test_the_strict_mode_ends_the_recording),
        TEST(test_a_strict_mode_that_is_refused_goes_on_recording),
        TEST(test_a_child_made_inside_is_muted_and_counted),
        TEST(test_a_segment_of_unknown_size_is_counted_as_lost),
        TEST(test_room_on_an_alternate_stack_is_what_is_below_the_frame),
        TEST(test_the_kernel_says_where_the_alternate_stack_is),
    };
    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
