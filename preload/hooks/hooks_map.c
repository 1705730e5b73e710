/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_map.c: the interposed mapping functions. Only calls that the program or a library makes
 * are seen: libc's own are not bound to these names. What the real allocator or the unwinder
 * maps is passed through untold.
 */
#include "hooks.h"
#include "sandbox.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

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
           recorder_awake();
}

/* Tell what a mapping call returned. */
static inline void *mapped(void *address, size_t bytes, int protection, int flags,
                           const uintptr_t *frame) {
    if (!mapping_is_told())
        return address;
    enum trace_space space = (flags & MAP_ANONYMOUS) == 0 ? TRACE_MAP_FILE
                             : protection == PROT_NONE    ? TRACE_MAP_RESERVED
                                                          : TRACE_MAP_ANON;
    if (address == MAP_FAILED)
        recorder_failed(space);
    else
        recorder_mapped((uintptr_t)address, bytes, space, frame);
    return address;
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
                  off_t offset) {
    if (UNKNOWN(mmap))
        return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
    return mapped(real.mmap(address, bytes, protection, flags, fd, offset), bytes, protection,
                  flags, FRAME());
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
                    off64_t offset) {
    if (UNKNOWN(mmap64))
        return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
    return mapped(real.mmap64(address, bytes, protection, flags, fd, offset), bytes, protection,
                  flags, FRAME());
}

EXPORT int munmap(void *address, size_t bytes) {
    if (UNKNOWN(munmap))
        return (int)syscall(SYS_munmap, address, bytes);
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
    void *wanted = NULL;
    if (flags & MREMAP_FIXED) {
        va_list arguments;
        va_start(arguments, flags);
        wanted = va_arg(arguments, void *);
        va_end(arguments);
    }
    if (UNKNOWN(mremap))
        return (void *)syscall(SYS_mremap, address, old_bytes, new_bytes, flags, wanted);
    struct recorder_unmapping unmapping;
    bool told = mapping_is_told();
    if (told)
        recorder_unmapping((uintptr_t)address, old_bytes, &unmapping);
    void *result = real.mremap(address, old_bytes, new_bytes, flags, wanted);
    if (!told)
        return result;
    if (result == MAP_FAILED) {
        recorder_failed(unmapping.known ? unmapping.space : TRACE_MAP_ANON);
        if (flags & MREMAP_FIXED)
            recorder_remap_failed((struct recorder_range){(uintptr_t)address, old_bytes},
                                  (struct recorder_range){(uintptr_t)wanted, new_bytes},
                                  &unmapping);
        return result;
    }
    /* An old size of 0 asks for a second mapping of the same pages. */
    recorder_remapped((struct recorder_range){(uintptr_t)address, old_bytes},
                      (struct recorder_range){(uintptr_t)result, new_bytes},
                      old_bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0, &unmapping, FRAME());
    return result;
}

/* Reserved addresses that become accessible are memory from then on. */
static inline int protected(void *address, size_t bytes, int protection, int r,
                            const uintptr_t *frame) {
    if (r == 0 && protection != PROT_NONE && mapping_is_told())
        recorder_protected((uintptr_t)address, bytes, frame);
    return r;
}

EXPORT int mprotect(void *address, size_t bytes, int protection) {
    if (UNKNOWN(mprotect))
        return (int)syscall(SYS_mprotect, address, bytes, protection);
    return protected(address, bytes, protection, real.mprotect(address, bytes, protection),
                     FRAME());
}

EXPORT int pkey_mprotect(void *address, size_t bytes, int protection, int key) {
    if (UNKNOWN(pkey_mprotect))
        return (int)syscall(SYS_pkey_mprotect, address, bytes, protection, key);
    return protected(address, bytes, protection,
                     real.pkey_mprotect(address, bytes, protection, key), FRAME());
}

/* The end of the data segment, moved by the program itself. */

static void break_moved(void *old, void *new, const uintptr_t *frame) {
    if (new == (void *)-1)
        recorder_failed(TRACE_MAP_ANON);
    else
        recorder_break_moved((uintptr_t)old, (uintptr_t) new, frame);
}

EXPORT int brk(void *end) {
    if ((UNKNOWN(brk) || UNKNOWN(sbrk)) && !real_find_break())
        return -1;
    bool told = mapping_is_told();
    void *old = told ? real.sbrk(0) : NULL;
    int r = real.brk(end);
    if (told)
        break_moved(old, r == 0 ? end : (void *)-1, FRAME());
    return r;
}

EXPORT void *sbrk(intptr_t bytes) {
    if (UNKNOWN(sbrk) && !real_find_break())
        return (void *)-1;
    void *old = real.sbrk(bytes);
    if (bytes != 0 && mapping_is_told())
        break_moved(old, old == (void *)-1 ? old : (char *)old + bytes, FRAME());
    return old;
}

/* Shared memory segments of System V: no file of the program's is behind them. */

static size_t segment_bytes(int segment) {
    struct shmid_ds status = {0};
    if (sandbox_inside())
        return 0;
    int saved_errno = errno;
    syscall(SYS_shmctl, segment, IPC_STAT, &status);
    errno = saved_errno;
    return status.shm_segsz;
}

EXPORT void *shmat(int segment, const void *wanted, int flags) {
    if (UNKNOWN(shmat))
        return (void *)syscall(SYS_shmat, segment, wanted, flags);
    void *address = real.shmat(segment, wanted, flags);
    if (!mapping_is_told())
        return address;
    if (address == (void *)-1)
        recorder_failed(TRACE_MAP_ANON);
    else
        recorder_attached((uintptr_t)address, segment_bytes(segment), FRAME());
    return address;
}

EXPORT int shmdt(const void *address) {
    if (UNKNOWN(shmdt))
        return (int)syscall(SYS_shmdt, address);
    struct recorder_unmapping unmapping;
    bool told = mapping_is_told();
    if (told)
        recorder_unmapping((uintptr_t)address, 1, &unmapping);
    int r = real.shmdt(address);
    if (told && r == 0)
        recorder_detached((uintptr_t)address, &unmapping);
    return r;
}
