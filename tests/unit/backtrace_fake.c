/* SPDX-License-Identifier: BSD-3-Clause */
/* backtrace_fake.c: stacks as a test scripts them, for code that would unwind. */
#include "backtrace_fake.h"

static _Thread_local const uintptr_t *script;
static _Thread_local size_t script_depth;
static _Thread_local bool script_whole;

void backtrace_fake_set(const uintptr_t *frames, size_t depth_frames, bool whole) {
    script = frames;
    script_depth = depth_frames;
    script_whole = whole;
}

void backtrace_init(void) {
}

void backtrace_forget(void) {
}

bool backtrace_take(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit) {
    if (script == NULL || !script_whole) {
        uintptr_t caller = frame[1];
        backtrace_set(backtrace, &caller, 1, false);
        return script == NULL;
    }
    bool truncated = script_depth > depth_limit;
    backtrace_set(backtrace, script, truncated ? depth_limit : script_depth, truncated);
    return true;
}
