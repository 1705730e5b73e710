/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads, each with a region of its own of the same name at the same time. Each takes 100
 * blocks of 50 bytes, gives back as many of its neighbour's, and takes 10 of 10 bytes and a page:
 * the same for all, whatever the others do and who frees what. An end of the wrong kind, or by
 * another thread, is unbalanced.
 */
#include "crew.h"

#define THREADS 4
#define BLOCKS  100

static void *blocks[THREADS][BLOCKS];
static void *later[THREADS][10];

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    crew_meet();
    votrace_thread_region_begin("own");
    crew_meet();
    for (int i = 0; i < BLOCKS; i++)
        blocks[thread][i] = opaque(malloc(50));
    crew_meet();
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[(thread + 1) % THREADS][i]);
    for (int i = 0; i < 10; i++)
        later[thread][i] = opaque(malloc(10));
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    crew_meet();
    votrace_region_end("own");
    if (thread == 0)
        votrace_thread_region_end("v");
    votrace_thread_region_end("own");
    crew_meet();
    crew_meet();
    munmap(page, 4096);
    for (int i = 0; i < 10; i++)
        free(later[thread][i]);
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    crew_meet();
    crew_meet();
    crew_meet();
    crew_meet();
    crew_meet();
    votrace_region_end("v");
    crew_meet();
    crew_meet();
    crew_join();
    puts("done");
    return 0;
}
