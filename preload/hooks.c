/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c: the interposed functions. Guard, call the real one, tell the recorder. No other
 * logic.
 *
 * While the real function runs, THREAD_IN_REAL is set: what an allocator calls to do its work (its
 * own mmap, a calloc built on malloc) is not an event of the program. The state found is put back,
 * not cleared.
 */
#include "real.h"
#include "recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT  __attribute__((visibility("default")))
#define FRAME() ((const uintptr_t *)__builtin_frame_address(0))
#define FLATTEN __attribute__((flatten))
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Not found yet, because this is dlsym()'s own allocation, or a libc without the function. */
#define MISSING(name) UNLIKELY(real.name == NULL && !resolve((void **)(void *)&real.name))

static __attribute__((noinline, cold)) bool resolve(void **place) {
    real_resolve();
    recorder_start();
    return *place != NULL;
}

static inline bool real_begin(void) {
    bool nested = (recorder_thread.doing & THREAD_IN_REAL) != 0;
    recorder_thread.doing |= THREAD_IN_REAL;
    return nested;
}

static inline void real_end(bool nested) {
    if (!nested)
        recorder_thread.doing &= ~(uint32_t)THREAD_IN_REAL;
}

/* Tell what an allocation function returned. */
static __attribute__((noinline)) void *allocated(void *block, size_t bytes, bool nested,
                                                 const uintptr_t *frame) {
    real_end(nested);
    if (nested || !recorder_active())
        return block;
    if (block == NULL)
        recorder_failed(TRACE_HEAP);
    else
        recorder_allocated((uintptr_t)block, bytes, frame);
    return block;
}

static __attribute__((noinline, cold)) void *malloc_unusual(size_t bytes,
                                                            const uintptr_t *frame) {
    if (MISSING(malloc))
        return real_bootstrap_allocate(bytes, 16);
    bool nested = real_begin();
    return allocated(real.malloc(bytes), bytes, nested, frame);
}

/* malloc and free are the hot ones: the usual case in a straight line, all else aside. */
EXPORT FLATTEN void *malloc(size_t bytes) {
    if (UNLIKELY(recorder_thread.doing != 0 || real.malloc == NULL || !recorder_active()))
        return malloc_unusual(bytes, FRAME());
    recorder_thread.doing = THREAD_IN_REAL;
    void *block = real.malloc(bytes);
    recorder_thread.doing = 0;
    if (UNLIKELY(block == NULL))
        recorder_failed(TRACE_HEAP);
    else
        recorder_allocated((uintptr_t)block, bytes, FRAME());
    return block;
}

static __attribute__((noinline, cold)) void free_unusual(void *block) {
    if (block == NULL || real_bootstrap_owns(block) || MISSING(free))
        return;
    bool nested = real_begin();
    if (!nested && recorder_active())
        recorder_freed((uintptr_t)block);
    real.free(block);
    real_end(nested);
}

EXPORT FLATTEN void free(void *block) {
    if (UNLIKELY(recorder_thread.doing != 0 || block == NULL || !recorder_active() ||
                 real_bootstrap_owns(block))) {
        free_unusual(block);
        return;
    }
    recorder_freed((uintptr_t)block);
    /* No THREAD_IN_REAL: what an allocator unmaps was never told as mapped. */
    real.free(block);
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
    bool told = !nested && recorder_active();

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

/* Mappings */

/*
 * Whether a mapping call is the program's: not the real allocator's or the unwinder's. In_real
 * is not set around the calls themselves: they are system calls that signal handlers may make
 * as well, in the middle of this one.
 */
static inline bool mapping_is_told(void) {
    return (recorder_thread.doing & (THREAD_IN_REAL | THREAD_UNWINDING)) == 0 &&
           recorder_active();
}

/* Tell what a mapping call returned. */
static inline void *mapped(void *address, size_t bytes, int flags, const uintptr_t *frame) {
    if (!mapping_is_told())
        return address;
    enum trace_space space = flags & MAP_ANONYMOUS ? TRACE_MAP_ANON : TRACE_MAP_FILE;
    if (address == MAP_FAILED)
        recorder_failed(space);
    else
        recorder_mapped((uintptr_t)address, bytes, space, frame);
    return address;
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
                  off_t offset) {
    if (MISSING(mmap))
        return MAP_FAILED;
    return mapped(real.mmap(address, bytes, protection, flags, fd, offset), bytes, flags,
                  FRAME());
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
                    off64_t offset) {
    if (MISSING(mmap64))
        return MAP_FAILED;
    return mapped(real.mmap64(address, bytes, protection, flags, fd, offset), bytes, flags,
                  FRAME());
}

EXPORT int munmap(void *address, size_t bytes) {
    if (MISSING(munmap))
        return -1;
    struct recorder_unmapping unmapping;
    bool told = mapping_is_told();
    if (told)
        recorder_unmapping((uintptr_t)address, bytes, &unmapping);
    int r = real.munmap(address, bytes);
    if (told && r == 0)
        recorder_unmapped((uintptr_t)address, bytes, &unmapping);
    return r;
}

EXPORT void *mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, ...) {
    if (MISSING(mremap))
        return MAP_FAILED;
    void *wanted = NULL;
    if (flags & MREMAP_FIXED) {
        va_list arguments;
        va_start(arguments, flags);
        wanted = va_arg(arguments, void *);
        va_end(arguments);
    }
    struct recorder_unmapping unmapping;
    bool told = mapping_is_told();
    if (told)
        recorder_unmapping((uintptr_t)address, old_bytes, &unmapping);
    void *result = real.mremap(address, old_bytes, new_bytes, flags, wanted);
    if (!told)
        return result;
    if (result == MAP_FAILED) {
        recorder_failed(unmapping.known ? unmapping.space : TRACE_MAP_ANON);
        return result;
    }
    /* An old size of 0 asks for a second mapping of the same pages. */
    recorder_remapped((struct recorder_range){(uintptr_t)address, old_bytes},
                      (struct recorder_range){(uintptr_t)result, new_bytes},
                      old_bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0, &unmapping, FRAME());
    return result;
}

/* Unloading, and ends without destructors */

EXPORT int dlclose(void *handle) {
    if (MISSING(dlclose))
        return -1;
    int r = real.dlclose(handle);
    recorder_module_unloaded();
    return r;
}

EXPORT void _exit(int status) {
    recorder_exiting();
    if (real._exit != NULL)
        real._exit(status);
    __builtin_trap();
}

EXPORT void _Exit(int status) {
    recorder_exiting();
    if (real._Exit != NULL)
        real._Exit(status);
    __builtin_trap();
}

/* Load and exit */

static __attribute__((constructor)) void library_loaded(void) {
    real_resolve();
    recorder_start();
    pthread_atfork(recorder_fork_prepare, recorder_fork_parent, recorder_fork_child);
}

static __attribute__((destructor)) void library_unloaded(void) {
    recorder_exiting();
}
