/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 100 threads at once hold 40 blocks each, thread n of size n * 8, then n * 16, then n * 12:
 * 12,000 blocks and 7,272,000 bytes in all, of which 3,232,000 are held at the peak, and nobody
 * else's.
 */
#include "crew.h"

#define THREADS 100
#define BLOCKS  40

static void *work(void *data) {
    static const size_t factors[] = {8, 16, 12};
    uintptr_t thread = (uintptr_t)data;
    void *blocks[BLOCKS];
    for (int round = 0; round < 3; round++) {
        crew_meet();
        for (unsigned i = 0; i < BLOCKS; i++)
            blocks[i] = opaque(descend_to(i, 4, (thread + 1) * factors[round]));
        crew_meet();
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    }
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    for (int meeting = 0; meeting < 7; meeting++)
        crew_meet();
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
