/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backtrace.h: the call stack of an allocation. One function, two backends: the machine's
 * (backtrace_unwind.c), and a scripted one for tests (tests/unit/backtrace_fake.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKTRACE_DEPTH_MAX 256
/* Frames of our own that may lie between the backend and the caller of the hook. */
#define BACKTRACE_OWN_FRAMES 8

struct backtrace {
    size_t depth_frames;
    bool truncated;    /* the stack went on beyond the limit */
    uintptr_t *frames; /* return addresses, innermost first: into the buffer given */
};

/* Once, before the first backtrace_take(). */
void backtrace_init(void);

/*
 * Unwind from the caller of an allocation function, which will get control back at the second
 * word of @frame: the hook's __builtin_frame_address(0), [0] the caller's frame pointer, [1]
 * the return address. @buffer has room for @depth_limit + BACKTRACE_OWN_FRAMES + 1 addresses.
 *
 * Returns false when the stack could not be unwound even as far as that return address: then
 * @ret has no other frame. errno may change. No lock of ours may be held.
 */
bool backtrace_take(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret);

/*
 * The two ways by which the machine's backend does it, for tests to compare. backtrace_walk()
 * follows the usual frames itself and returns false where it meets another; backtrace_unwind()
 * asks libunwind.
 */
bool backtrace_walk(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret);
bool backtrace_unwind(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                      struct backtrace *ret);

/* A module was unloaded: forget what is known of its code. */
void backtrace_forget(void);
