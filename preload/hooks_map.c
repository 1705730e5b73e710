/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_map.c: the interposed mapping functions. Only calls that the program or a library makes
 * are seen: libc's own are not bound to these names. What the real allocator or the unwinder
 * maps is passed through untold.
 */
#include "hooks.h"

#include <stdarg.h>
#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

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
