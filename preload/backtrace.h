/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backtrace.h: the call stack of an allocation. One function, two backends: libunwind
 * (backtrace_unwind.c), and a scripted one for tests (tests/unit/backtrace_fake.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKTRACE_DEPTH_MAX 256
/* Frames of our own that may lie between the backend and the caller of the hook. */
#define BACKTRACE_OWN_FRAMES 6

struct backtrace {
    size_t depth_frames;
    bool truncated;    /* the stack went on beyond the limit */
    uintptr_t *frames; /* return addresses, innermost first: into the buffer given */
};

/* Once, before the first backtrace_take(). */
void backtrace_init(void);

/*
 * Unwind from the caller of an allocation function, which will return to @caller. @buffer has
 * room for @depth_limit + BACKTRACE_OWN_FRAMES + 1 addresses.
 *
 * Returns false when the stack could not be unwound as far as @caller: then @ret has no frames
 * but @caller. errno may change.
 */
bool backtrace_take(uintptr_t caller, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret);
