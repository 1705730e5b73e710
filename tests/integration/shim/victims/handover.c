/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 4 threads allocate 20,000 blocks each for 4 others, which shrink every fourth and free them all.
 * A pair has 256 places, and a place is free only when its block is: full, as at the first
 * meeting, is the peak: 256 * (100 + 200 + 300 + 400) = 256,000 bytes.
 */
#include "crew.h"

#include <sched.h>

#define PAIRS  4
#define PLACES 256u
#define BLOCKS 20000u

static struct {
    _Alignas(64) _Atomic unsigned put;
    _Alignas(64) _Atomic unsigned taken;
    void *places[PLACES];
} pairs[PAIRS];

static void produce(uintptr_t pair) {
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (i == PLACES)
            crew_meet();
        while (i - atomic_load(&pairs[pair].taken) == PLACES)
            sched_yield();
        pairs[pair].places[i % PLACES] = opaque(descend_to(i, 4, 100 * (pair + 1)));
        atomic_store(&pairs[pair].put, i + 1);
    }
}

static void consume(uintptr_t pair) {
    crew_meet();
    for (unsigned i = 0; i < BLOCKS; i++) {
        while (atomic_load(&pairs[pair].put) == i)
            sched_yield();
        void *block = pairs[pair].places[i % PLACES];
        if (i % 4 == 0)
            block = opaque(realloc(block, 50 * (pair + 1)));
        free(block);
        atomic_store(&pairs[pair].taken, i + 1);
    }
}

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    crew_meet();
    if (thread % 2 == 0)
        produce(thread / 2);
    else
        consume(thread / 2);
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(2 * PAIRS, work);
    votrace_region_begin("v");
    crew_meet();
    crew_meet();
    crew_meet();
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
