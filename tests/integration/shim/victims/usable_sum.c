/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the allocator gave, added up by the program itself: printed is the sum at the end of the
 * region "own", and at the moment its requested bytes were at their peak. Four threads do the
 * same in "all" and free everything: their sums come back to 0.
 */
#include "crew.h"

#define BLOCKS 300
#define EVENTS 20000

struct sums {
    uint32_t random;
    int64_t requested, usable, peak, usable_at_peak;
    struct {
        void *block;
        size_t bytes;
    } blocks[BLOCKS];
};

static void count(struct sums *sums, unsigned at, int64_t sign) {
    sums->requested += sign * (int64_t)sums->blocks[at].bytes;
    sums->usable += sign * (int64_t)malloc_usable_size(sums->blocks[at].block);
}

static void note_peak(struct sums *sums) {
    if (sums->requested <= sums->peak)
        return;
    sums->peak = sums->requested;
    sums->usable_at_peak = sums->usable;
}

static void release(struct sums *sums, unsigned at) {
    count(sums, at, -1);
    free(sums->blocks[at].block);
    sums->blocks[at].block = NULL;
}

static void step(struct sums *sums) {
    unsigned at = crew_random(&sums->random) % BLOCKS;
    void *old = sums->blocks[at].block;
    if (old != NULL && crew_random(&sums->random) % 2 == 0) {
        release(sums, at);
        return;
    }
    if (old != NULL)
        count(sums, at, -1);
    sums->blocks[at].bytes = 1 + crew_random(&sums->random) % 3000;
    sums->blocks[at].block = opaque(realloc(old, sums->blocks[at].bytes));
    count(sums, at, 1);
    note_peak(sums);
}

static void *work(void *data) {
    static struct sums all[4];
    struct sums *sums = &all[(uintptr_t)data];
    sums->random = (uint32_t)(uintptr_t)data + 1;
    votrace_thread_region_begin("all");
    for (int i = 0; i < EVENTS; i++)
        step(sums);
    for (unsigned at = 0; at < BLOCKS; at++)
        if (sums->blocks[at].block != NULL)
            release(sums, at);
    votrace_thread_region_end("all");
    return NULL;
}

int main(void) {
    static struct sums sums = {.random = 99};
    void *before = opaque(malloc(1000));
    votrace_region_begin("v");
    votrace_thread_region_begin("own");
    for (int i = 0; i < EVENTS; i++)
        step(&sums);
    votrace_thread_region_end("own");
    free(before);
    votrace_region_end("v");
    printf("%lld %lld\n", (long long)sums.usable, (long long)sums.usable_at_peak);
    crew_start(4, work);
    crew_join();
    return 0;
}
