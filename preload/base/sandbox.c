/* SPDX-License-Identifier: BSD-3-Clause */
/* sandbox.c: what has to be known inside a sandbox, and can be asked only before. */
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sandbox sandbox;

/* Where this thread's alternate stack is; no bytes: it has none. */
static _Thread_local struct {
    uintptr_t start;
    size_t bytes;
} alternate_stack;

void sandbox_enter(void) {
    atomic_fetch_add(&sandbox.filters, 1);
}

void sandbox_leave(void) {
    atomic_fetch_sub(&sandbox.filters, 1);
}

void sandbox_set_alternate(const void *start, size_t bytes) {
    alternate_stack.start = (uintptr_t)start;
    alternate_stack.bytes = bytes;
}

void sandbox_ask_alternate(void) {
    stack_t stack;
    int saved_errno = errno;
    if (syscall(SYS_sigaltstack, NULL, &stack) == 0)
        sandbox_set_alternate(stack.ss_sp, (stack.ss_flags & SS_DISABLE) ? 0 : stack.ss_size);
    errno = saved_errno;
}

bool sandbox_has_room(const void *frame, size_t bytes) {
    uintptr_t used = (uintptr_t)frame - alternate_stack.start;
    return used >= alternate_stack.bytes || used >= bytes;
}
