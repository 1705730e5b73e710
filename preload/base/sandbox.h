/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandbox.h: whether the process has put itself into a sandbox that may kill for a system call.
 *
 * From then on the library makes none that an allocator does not make: mmap, munmap, madvise
 * and futex. What it would have asked the kernel has to be known before, or is not known. Other
 * threads need not be confined; the whole process is treated as if they were.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sandbox {
    _Atomic uint32_t filters; /* installed, or being installed */
    uint64_t stopped_ns;      /* of the monotonic clock, where reading it is a call; else 0 */
};

extern struct sandbox sandbox;

/* Asked in cold paths only. */
static inline bool sandbox_inside(void) {
    return __builtin_expect(atomic_load(&sandbox.filters) != 0, 0);
}

/* A filter is about to be installed; that failed. */
void sandbox_enter(void);
void sandbox_leave(void);

/* The alternate signal stack of this thread: it was set; ask for it. errno is kept. */
void sandbox_set_alternate(const void *start, size_t bytes);
void sandbox_ask_alternate(void);

/* backtrace_has_room() by what was last heard of this thread's alternate stack. */
bool sandbox_has_room(const void *frame, size_t bytes);
