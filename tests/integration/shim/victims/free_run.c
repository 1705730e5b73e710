/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 8 threads allocate, resize and free at random, blocks of up to 200,000 bytes, but never hold
 * more than 1,000,000 bytes each. Then each holds one block of 1,000,001, and that is a peak
 * that nothing else can reach: 8,000,008. Again, to the same height; and again with thread 3 a
 * byte higher: 8,000,009.
 *
 * Each of the regions "run" begins and ends when nothing is held and its peak is the same sum.
 */
#include "crew.h"

#define THREADS 8
#define BLOCKS  50
#define STEPS   3000
#define LIMIT   ((size_t)1000000)

struct held {
    void *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    size_t sum;
};

static void step(struct held *held, uint32_t *random) {
    unsigned at = crew_random(random) % BLOCKS;
    uint32_t choice = crew_random(random);
    size_t size = choice % 64 == 0 ? choice % 200000 : choice % 700;
    bool resize = held->blocks[at] != NULL && choice >> 30 == 0 && size > 0;
    if (held->blocks[at] != NULL && !resize) {
        free(held->blocks[at]);
        held->sum -= held->sizes[at];
        held->blocks[at] = NULL;
        return;
    }
    size_t before = resize ? held->sizes[at] : 0;
    if (held->sum - before + size > LIMIT)
        return;
    held->blocks[at] =
        opaque(resize ? realloc(held->blocks[at], size) : descend_to(choice >> 8, 3, size));
    held->sizes[at] = size;
    held->sum += size - before;
}

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    uint32_t random = (uint32_t)thread * 2654435761U + 1;
    for (int round = 0; round < 3; round++) {
        struct held held = {.sum = 0};
        crew_meet();
        for (int i = 0; i < STEPS; i++)
            step(&held, &random);
        for (int i = 0; i < BLOCKS; i++)
            free(held.blocks[i]);
        void *block = opaque(malloc(LIMIT + 1 + (round == 2 && thread == 3)));
        crew_meet();
        free(block);
        crew_meet();
    }
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    for (int round = 0; round < 3; round++) {
        votrace_region_begin("run");
        crew_meet();
        crew_meet();
        crew_meet();
        votrace_region_end("run");
    }
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
