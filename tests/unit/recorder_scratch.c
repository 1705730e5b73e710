/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder_scratch.c: setup and teardown of the tests that tell the recorder of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder_scratch.h"

#include "backtrace_fake.h"
#include "recorder.h"

#include <stdlib.h>

void recorder_scratch_start(struct trace_scratch *scratch, const char *stacks) {
    trace_scratch_init(scratch);
    setenv("VOTRACE_OUTPUT", scratch->path, 1);
    setenv("VOTRACE_STACKS", stacks, 1);
    backtrace_fake_set(NULL, 0, true);
    recorder_reset_for_tests();
    recorder_start();
    assert_true(recorder_active());
}

void recorder_scratch_exit(const struct trace_scratch *scratch, struct trace_check *ret_check) {
    recorder_exiting();
    trace_scratch_check(scratch->path, ret_check);
    assert_int_equal(ret_check->header->completeness.events_lost, 0);
    assert_int_equal(ret_check->header->completeness.unknown_frees, 0);
}

void recorder_scratch_finish(struct trace_scratch *scratch) {
    recorder_reset_for_tests();
    trace_scratch_finish(scratch);
}

void recorder_scratch_check_and_finish(struct trace_scratch *scratch) {
    struct trace_check check;
    recorder_exiting();
    trace_scratch_check(scratch->path, &check);
    assert_int_equal(check.header->state, TRACE_EXITED);
    trace_scratch_check_finish(&check);
    recorder_scratch_finish(scratch);
}
