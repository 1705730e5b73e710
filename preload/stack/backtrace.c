/* SPDX-License-Identifier: BSD-3-Clause */
/* backtrace.c: what both backends need. */
#include "backtrace.h"

#include "sandbox.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OVERRUN_BYTES 512

bool backtrace_has_room(const void *frame, size_t bytes) {
    stack_t alternate;
    if (sandbox_inside())
        return sandbox_has_room(frame, bytes);
    if (syscall(SYS_sigaltstack, NULL, &alternate) != 0 ||
        (alternate.ss_flags & SS_DISABLE) != 0)
        return true;
    /* SS_ONSTACK is not asked: it is gone where the call itself leaves a stack of the least size. */
    uintptr_t lowest = (uintptr_t)alternate.ss_sp;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here - (lowest - OVERRUN_BYTES) >= alternate.ss_size + OVERRUN_BYTES)
        return true;
    return (uintptr_t)frame >= lowest && (uintptr_t)frame - lowest >= bytes;
}

void backtrace_set(struct backtrace *backtrace, const uintptr_t *innermost_first,
                   size_t depth_frames, bool truncated) {
    uint32_t same = 0;
    for (size_t i = 0; i < depth_frames; i++) {
        uintptr_t address = innermost_first[depth_frames - 1 - i];
        if (same == i && i < backtrace->known_nodes && backtrace->addresses[i] == address)
            same++;
        backtrace->addresses[i] = address;
    }
    backtrace->known_nodes = same;
    backtrace->depth_frames = (uint32_t)depth_frames;
    backtrace->truncated = truncated;
    backtrace->walked = false;
}
