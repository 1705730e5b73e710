/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * real.h: the functions behind the hooks, and memory for the time before they are known.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Every interposed function: HOOK(return type, name, parameters). What is not here is not seen:
 * strdup, asprintf, getline and C++'s new reach malloc through their libraries' own calls;
 * libc's mappings for stacks and large blocks are its own and are not made through mmap().
 */
#define REAL_HOOKS(HOOK)                                                                       \
    HOOK(void *, malloc, (size_t))                                                             \
    HOOK(void *, calloc, (size_t, size_t))                                                     \
    HOOK(void *, realloc, (void *, size_t))                                                    \
    HOOK(void *, reallocarray, (void *, size_t, size_t))                                       \
    HOOK(void, free, (void *))                                                                 \
    HOOK(void, cfree, (void *))                                                                \
    HOOK(void, free_sized, (void *, size_t))                                                   \
    HOOK(void, free_aligned_sized, (void *, size_t, size_t))                                   \
    HOOK(int, posix_memalign, (void **, size_t, size_t))                                       \
    HOOK(void *, aligned_alloc, (size_t, size_t))                                              \
    HOOK(void *, memalign, (size_t, size_t))                                                   \
    HOOK(void *, valloc, (size_t))                                                             \
    HOOK(void *, pvalloc, (size_t))                                                            \
    HOOK(void *, mmap, (void *, size_t, int, int, int, off_t))                                 \
    HOOK(void *, mmap64, (void *, size_t, int, int, int, off64_t))                             \
    HOOK(int, munmap, (void *, size_t))                                                        \
    HOOK(void *, mremap, (void *, size_t, size_t, int, ...))                                   \
    HOOK(int, mprotect, (void *, size_t, int))                                                 \
    HOOK(int, pkey_mprotect, (void *, size_t, int, int))                                       \
    HOOK(int, brk, (void *))                                                                   \
    HOOK(void *, sbrk, (intptr_t))                                                             \
    HOOK(void *, shmat, (int, const void *, int))                                              \
    HOOK(int, shmdt, (const void *))                                                           \
    HOOK(int, dlclose, (void *))                                                               \
    HOOK(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long))        \
    HOOK(long, syscall, (long, long, long, long, long, long, long))                            \
    HOOK(int, sigaltstack, (const stack_t *, stack_t *))                                       \
    HOOK(pid_t, fork, (void))                                                                  \
    HOOK(void, _exit, (int))                                                                   \
    HOOK(void, _Exit, (int))                                                                   \
    HOOK(void, quick_exit, (int))                                                              \
    HOOK(int, execve, (const char *, char *const[], char *const[]))                            \
    HOOK(int, execv, (const char *, char *const[]))                                            \
    HOOK(int, execvp, (const char *, char *const[]))                                           \
    HOOK(int, execvpe, (const char *, char *const[], char *const[]))                           \
    HOOK(int, fexecve, (int, char *const[], char *const[]))                                    \
    HOOK(int, execveat, (int, const char *, char *const[], char *const[], int))

struct real_functions {
#define HOOK(type, name, parameters) type(*name) parameters;
    REAL_HOOKS(HOOK)
#undef HOOK
};

extern struct real_functions real;

/*
 * malloc_usable_size() of the allocator that malloc() is of; NULL where it has none, and libc's
 * would be asked for blocks that are not libc's. Not a hook: programs call their own.
 */
extern size_t (*real_usable_size)(void *block);

/* The malloc behind this library is libc's own, which never calls a hook. */
extern bool real_is_libc;

/*
 * Look every function up behind this library. While it goes on, dlsym() may allocate: the hooks
 * then answer from real_bootstrap_allocate(). Once; later calls do nothing. Returns whether all
 * of it is done: not to such a hook.
 */
bool real_resolve(void);

/*
 * The allocator is ThreadSanitizer's: functions of libc that the recorder calls are its, too, and
 * may be called before it is ready for them.
 */
bool real_is_thread_sanitizer(void);

/*
 * Look up brk() and sbrk() alone: libc remembers where the end is, so that the kernel will not do.
 * They are there, so that this does not allocate.
 */
bool real_find_break(void);

/* Zeroed memory, aligned to @alignment (a power of two), never freed; NULL with ENOMEM. */
void *real_bootstrap_allocate(size_t bytes, size_t alignment);

/* Whether @block came from there: it must not reach the real free(). */
bool real_bootstrap_owns(const void *block);

/* Bytes of @block that may be copied: a bound, for realloc. */
size_t real_bootstrap_bytes(const void *block);
