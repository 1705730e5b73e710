/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h: what the interposed functions share. hooks.c has the malloc family, hooks_map.c
 * mappings, hooks_process.c loading, unloading and the ends of the process.
 */
#pragma once

#include "real.h"
#include "recorder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT              __attribute__((visibility("default")))
#define FRAME()             ((const uintptr_t *)__builtin_frame_address(0))
#define FLATTEN             __attribute__((flatten))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Not found yet, because this is dlsym()'s own allocation, or a libc without the function. */
#define MISSING(name) UNLIKELY(real.name == NULL && !hooks_resolve((void **)(void *)&real.name))

/* Look the real functions up and start the recorder; false if @place is still empty. */
bool hooks_resolve(void **place);

/*
 * The same for what an allocator calls while it begins, or grows. If that is not behind this library
 * nothing may be looked up: dlsym() may allocate and free, and would wait for the allocator that
 * waits here. Whoever finds it unknown asks the kernel.
 */
#define UNKNOWN(name)                                                                          \
    UNLIKELY(real.name == NULL && !hooks_resolve_mapping((void **)(void *)&real.name))

bool hooks_resolve_mapping(void **place);

/* free(NULL) came by here. */
extern bool hooks_saw_free_null __attribute__((visibility("hidden")));

/*
 * Around a real allocation function. libc's call no hook: what comes by meanwhile is a signal
 * handler's, and counts.
 */
static inline bool real_begin(void) {
    bool nested = (recorder_thread.doing & THREAD_IN_REAL) != 0;
    if (!real_is_libc)
        recorder_thread.doing |= THREAD_IN_REAL;
    return nested;
}

static inline void real_end(bool nested) {
    if (!nested)
        recorder_thread.doing &= ~(uint32_t)THREAD_IN_REAL;
}
