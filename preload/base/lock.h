/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.h: the recorder's mutex. A futex, because pthread mutexes may be interposed by others.
 *
 * While the process has one thread no atomic instruction is spent on it; a thread that is
 * created later cannot find the lock half taken, since nothing that runs under it creates
 * threads.
 *
 * Never held while unwinding or calling the real allocator; a signal handler that allocates
 * while its thread holds it is kept out by THREAD_BUSY, not by the lock.
 */
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES      40
#define LOCK_PAUSES_MAX 4096u

struct lock {
    _Atomic unsigned state;    /* 0 free, 1 held, 2 held and somebody sleeps */
    _Atomic unsigned releases; /* so far: who waits can tell a holder that does not go on */
};

static inline void lock_pause(unsigned times) {
    for (unsigned i = 0; i < times; i++)
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("" ::: "memory");
#endif
}

/*
 * Look again after ever longer pauses. An event moves half a dozen cache lines: where threads do
 * nothing but allocate, it is faster to let the holder do many events in a row than to take turns.
 * Returns whether the lock is taken, which it is unless one thread kept it all through
 * @timeout (NULL: for ever).
 */
static __attribute__((noinline, unused)) bool lock_wait(struct lock *lock,
                                                        const struct timespec *timeout) {
    int saved_errno = errno;
    bool taken = true;
    unsigned pauses = 128;
    for (int i = 0; i < LOCK_TRIES; i++) {
        lock_pause(pauses);
        if (pauses < LOCK_PAUSES_MAX)
            pauses *= 2;
        unsigned free_state = 0;
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&lock->state, &free_state, 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    while (taken && atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
        unsigned releases = atomic_load_explicit(&lock->releases, memory_order_relaxed);
        taken =
            syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, timeout, NULL, 0) == 0 ||
            errno != ETIMEDOUT ||
            atomic_load_explicit(&lock->releases, memory_order_relaxed) != releases;
    }
    errno = saved_errno;
    return taken;
}

static __attribute__((noinline, unused)) void lock_wake(struct lock *lock) {
    int saved_errno = errno;
    syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved_errno;
}

/* Take the lock. Returns what lock_release() has to be given. */
static inline bool lock_acquire(struct lock *lock) {
    if (__libc_single_threaded)
        return false;
    unsigned free_state = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &free_state, 1,
                                                 memory_order_acquire, memory_order_relaxed))
        lock_wait(lock, NULL);
    return true;
}

/* The same, or false when the holder does nothing for @timeout. */
static inline bool lock_acquire_within(struct lock *lock, const struct timespec *timeout,
                                       bool *ret_taken) {
    *ret_taken = !__libc_single_threaded;
    if (!*ret_taken)
        return true;
    unsigned free_state = 0;
    return atomic_compare_exchange_strong_explicit(
               &lock->state, &free_state, 1, memory_order_acquire, memory_order_relaxed) ||
           lock_wait(lock, timeout);
}

static inline void lock_release(struct lock *lock, bool taken) {
    if (!taken)
        return;
    atomic_store_explicit(&lock->releases,
                          atomic_load_explicit(&lock->releases, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        lock_wake(lock);
}
