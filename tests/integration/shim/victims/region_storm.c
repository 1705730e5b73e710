/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions begin and end, nested, on three threads while six others allocate: 600 instances of
 * "a", each with one "b" and one "c" inside. What each saw depends on the moment, that its sums
 * hold does not. The six hold at most 1000 bytes each; main's one block of 10,000 is the peak.
 */
#include "crew.h"

#define THREADS 9
#define MARKERS 3
#define BEGINS  200

static void mark(void) {
    for (int i = 0; i < BEGINS; i++) {
        votrace_region_begin("a");
        votrace_region_begin("b");
        free(opaque(malloc(100)));
        votrace_region_begin("c");
        votrace_region_end("b");
        free(opaque(malloc(100)));
        votrace_region_end("c");
        votrace_region_end("a");
    }
}

static void *work(void *data) {
    static _Atomic int marking = MARKERS;
    uintptr_t thread = (uintptr_t)data;
    crew_meet();
    if (thread < MARKERS) {
        mark();
        atomic_fetch_sub(&marking, 1);
    }
    while (atomic_load(&marking) > 0) {
        void *blocks[10];
        for (unsigned i = 0; i < 10; i++)
            blocks[i] = opaque(descend_to(i, 4, 10 * (i + 1)));
        for (int i = 0; i < 10; i++)
            free(blocks[i]);
    }
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    crew_meet();
    crew_meet();
    free(opaque(malloc(10000)));
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
