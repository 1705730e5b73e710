/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c: the interposed malloc family. Guard, call the real one, tell the recorder. No other
 * logic.
 *
 * While the real function runs, THREAD_IN_REAL is set: what an allocator calls to do its work (its
 * own mmap, a calloc built on malloc) is not an event of the program. The state found is put back,
 * not cleared. Where the allocator is libc's, which calls no hook, it is left out: what comes by is
 * a signal handler's.
 */
#include "hooks.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

/* Tell what an allocation function returned. */
static __attribute__((noinline)) void *allocated(void *block, size_t bytes, bool nested,
                                                 const uintptr_t *frame) {
    real_end(nested);
    if (nested || !recorder_awake())
        return block;
    if (block == NULL)
        recorder_failed(TRACE_HEAP);
    else
        recorder_allocated((uintptr_t)block, bytes, frame);
    return block;
}

static __attribute__((noinline, cold)) void *malloc_unusual(size_t bytes) {
    if (MISSING(malloc))
        return real_bootstrap_allocate(bytes, 16);
    bool nested = real_begin();
    return allocated(real.malloc(bytes), bytes, nested, FRAME());
}

/* The thread has a lane, so that all has begun, it is in the program's code, and malloc is libc's. */
static inline bool is_usual(void) {
    return recorder_thread.lane != NULL && recorder_thread.doing == 0 && real_is_libc;
}

/*
 * malloc and free are the hot ones: the usual case in a straight line, all else aside. The
 * functions below are entered by a jump from malloc, when its own frame is gone: theirs is in
 * its place, and what they call last they jump to as well.
 */

static __attribute__((noinline)) FLATTEN void *malloc_with_stack(size_t bytes) {
    void *block = real.malloc(bytes);
    if (UNLIKELY(block == NULL))
        recorder_failed(TRACE_HEAP);
    else
        recorder_allocated((uintptr_t)block, bytes, FRAME());
    return block;
}

static __attribute__((noinline)) FLATTEN void *allocated_plainly(void *block, size_t bytes) {
    if (block == NULL)
        recorder_failed(TRACE_HEAP);
    else
        recorder_allocated_by((uintptr_t)block, bytes, TRACE_HEAP);
    return block;
}

static __attribute__((noinline)) FLATTEN void *allocated_young(void *block, size_t bytes) {
    if (UNLIKELY(block == NULL) ||
        !recorder_allocated_young((uintptr_t)block, bytes, TRACE_HEAP))
        return allocated_plainly(block, bytes);
    return block;
}

EXPORT void *malloc(size_t bytes) {
    if (UNLIKELY(!is_usual()))
        return malloc_unusual(bytes);
    if (recorder_needs_stack())
        return malloc_with_stack(bytes);
    return allocated_young(real.malloc(bytes), bytes);
}

bool hooks_saw_free_null;

static inline bool is_nothing(const void *block) {
    if (block == NULL)
        hooks_saw_free_null = true;
    return block == NULL;
}

/* Another allocator may map in free(), too: jemalloc does, in a thread that never allocated. */
static __attribute__((noinline, cold)) void free_unusual(void *block) {
    if (is_nothing(block) || real_bootstrap_owns(block) || MISSING(free))
        return;
    bool nested = real_begin();
    if (!nested && recorder_awake())
        recorder_freed((uintptr_t)block);
    real.free(block);
    real_end(nested);
}

static __attribute__((noinline)) FLATTEN void free_old(void *block) {
    if (is_nothing(block) || real_bootstrap_owns(block))
        return;
    recorder_freed((uintptr_t)block);
    real.free(block);
}

EXPORT FLATTEN void free(void *block) {
    if (UNLIKELY(!is_usual()))
        free_unusual(block);
    else if (recorder_freed_young((uintptr_t)block))
        real.free(block);
    else
        free_old(block);
}

EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    bool overflow = __builtin_mul_overflow(count, size, &bytes);
    if (MISSING(calloc)) {
        if (!overflow)
            return real_bootstrap_allocate(bytes, 16);
        errno = ENOMEM;
        return NULL;
    }
    bool nested = real_begin();
    return allocated(real.calloc(count, size), bytes, nested, FRAME());
}

EXPORT int posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
    if (MISSING(posix_memalign))
        return ENOMEM;
    bool nested = real_begin();
    int r = real.posix_memalign(ret_block, alignment, bytes);
    allocated(r == 0 ? *ret_block : NULL, bytes, nested, FRAME());
    return r;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
    if (MISSING(aligned_alloc))
        return NULL;
    bool nested = real_begin();
    return allocated(real.aligned_alloc(alignment, bytes), bytes, nested, FRAME());
}

EXPORT void *memalign(size_t alignment, size_t bytes) {
    if (MISSING(memalign))
        return NULL;
    bool nested = real_begin();
    return allocated(real.memalign(alignment, bytes), bytes, nested, FRAME());
}

EXPORT void *valloc(size_t bytes) {
    if (MISSING(valloc))
        return NULL;
    bool nested = real_begin();
    return allocated(real.valloc(bytes), bytes, nested, FRAME());
}

EXPORT void *pvalloc(size_t bytes) {
    if (MISSING(pvalloc))
        return NULL;
    bool nested = real_begin();
    return allocated(real.pvalloc(bytes), bytes, nested, FRAME());
}

/* A block from before the real functions were known: copy it over. */
static void *bootstrap_reallocate(void *block, size_t bytes) {
    size_t old_bytes = real_bootstrap_bytes(block);
    void *copy = malloc(bytes);
    if (copy != NULL)
        memcpy(copy, block, old_bytes < bytes ? old_bytes : bytes);
    return copy;
}

/*
 * realloc and reallocarray, once the size is known; @overflow: it is not, the call will fail.
 */
static inline void *reallocate(void *block, size_t count, size_t size, bool array,
                               const uintptr_t *frame) {
    size_t bytes;
    bool overflow = __builtin_mul_overflow(count, size, &bytes);
    bool nested = real_begin();
    struct recorder_taken taken;
    bool told = !nested && recorder_awake();
    /* libc's reallocarray() calls realloc(), which is a hook. */
    if (real_is_libc && !overflow)
        array = false;

    if (block == NULL || overflow || !told) {
        void *result =
            array ? real.reallocarray(block, count, size) : real.realloc(block, bytes);
        if (block == NULL)
            return allocated(result, bytes, nested, frame);
        real_end(nested);
        if (told)
            recorder_failed(TRACE_HEAP);
        return result;
    }
    recorder_reallocating((uintptr_t)block, &taken);
    void *result = array ? real.reallocarray(block, count, size) : real.realloc(block, bytes);
    real_end(nested);
    if (result == NULL && bytes > 0)
        recorder_realloc_failed(&taken);
    else
        recorder_reallocated(&taken, (uintptr_t)result, bytes, frame);
    return result;
}

EXPORT void *realloc(void *block, size_t bytes) {
    if (UNLIKELY(block != NULL && real_bootstrap_owns(block)))
        return bootstrap_reallocate(block, bytes);
    if (MISSING(realloc))
        return block == NULL ? real_bootstrap_allocate(bytes, 16) : NULL;
    return reallocate(block, 1, bytes, false, FRAME());
}

EXPORT void *reallocarray(void *block, size_t count, size_t size) {
    if (MISSING(reallocarray))
        return NULL;
    if (UNLIKELY(block != NULL && real_bootstrap_owns(block))) {
        size_t bytes;
        if (!__builtin_mul_overflow(count, size, &bytes))
            return bootstrap_reallocate(block, bytes);
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, count, size, true, FRAME());
}
