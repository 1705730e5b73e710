/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 8 threads take blocks of each other out of 64 places and resize them, so that what one moves
 * away from is given to another at once. Then everything is freed and one block of 64 MiB is
 * more than they ever held.
 */
#include "crew.h"

#define THREADS 8
#define PLACES  64
#define STEPS   20000

static _Atomic(void *) places[PLACES];

static void *work(void *data) {
    uint32_t random = (uint32_t)(uintptr_t)data * 2654435761U + 1;
    crew_meet();
    for (int i = 0; i < STEPS; i++) {
        uint32_t choice = crew_random(&random);
        size_t bytes = 1 + (choice % 200 == 0 ? choice % 300000 : choice % 2000);
        void *block = atomic_exchange(&places[crew_random(&random) % PLACES], NULL);
        block = opaque(realloc(block, bytes));
        free(atomic_exchange(&places[crew_random(&random) % PLACES], block));
    }
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    crew_meet();
    crew_meet();
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    free(opaque(malloc((size_t)64 << 20)));
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
