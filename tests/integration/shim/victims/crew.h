/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crew.h: threads that exist before a region begins and meet at a barrier, so that what libc
 * allocates for them is in no region, and so that the program knows its exact peak although
 * they run free between two meetings.
 */
#pragma once

#include "victim.h"

#include <stdatomic.h>

#define CREW_MAX 128

static struct {
    pthread_barrier_t barrier;
    pthread_t threads[CREW_MAX];
    uintptr_t count;
} crew;

/* All threads and main. */
static inline void crew_meet(void) {
    pthread_barrier_wait(&crew.barrier);
}

/* Start @count threads that run @work(0), @work(1) ... */
static inline void crew_start(uintptr_t count, void *(*work)(void *)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)128 << 10);
    pthread_barrier_init(&crew.barrier, NULL, (unsigned)count + 1);
    crew.count = count;
    for (uintptr_t i = 0; i < count; i++)
        if (pthread_create(&crew.threads[i], &attributes, work, (void *)i) != 0)
            _exit(99);
    pthread_attr_destroy(&attributes);
}

static inline void crew_join(void) {
    for (uintptr_t i = 0; i < crew.count; i++)
        pthread_join(crew.threads[i], NULL);
}

/* xorshift: a state of its own for each thread, never 0. */
static inline uint32_t crew_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
