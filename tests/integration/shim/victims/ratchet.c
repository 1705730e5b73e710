/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 8 threads climb, two blocks up and one down, so that nearly every allocation of any of them is
 * a peak of the whole. Each holds most when it has arrived, so that the peak is the sum of what
 * they hold when they meet: 8 * 5002 * 48 = 1,920,768 bytes. They climb as high again, which is
 * no new peak, and once more with thread 0 a byte higher, which is.
 *
 * Region "again" begins on the first summit: down and up again adds nothing to its start.
 * Region "higher" begins at the bottom.
 */
#include "crew.h"

#define THREADS 8
#define STEPS   5000
#define HELD    (STEPS + 2)
#define SIZE    ((size_t)48)

static void *blocks[THREADS][HELD];

static void climb(uintptr_t thread, size_t extra) {
    void **mine = blocks[thread];
    for (unsigned i = 0; i < STEPS; i++) {
        void *step = opaque(malloc(SIZE));
        mine[i] = opaque(descend_to(i, 3, SIZE));
        free(step);
    }
    mine[STEPS] = opaque(malloc(SIZE));
    mine[STEPS + 1] = opaque(malloc(SIZE + extra));
}

static void go_down(uintptr_t thread) {
    for (int i = 0; i < HELD; i++)
        free(blocks[thread][i]);
}

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    crew_meet();
    climb(thread, 0);
    crew_meet(); /* the first summit */
    crew_meet();
    go_down(thread);
    climb(thread, 0);
    crew_meet(); /* the second */
    crew_meet();
    go_down(thread);
    crew_meet(); /* the bottom */
    crew_meet();
    climb(thread, thread == 0);
    crew_meet(); /* the third */
    go_down(thread);
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(THREADS, work);
    votrace_region_begin("v");
    crew_meet();
    crew_meet();
    votrace_region_begin("again");
    crew_meet();
    crew_meet();
    votrace_region_end("again");
    crew_meet();
    crew_meet();
    votrace_region_begin("higher");
    crew_meet();
    crew_meet();
    crew_meet();
    votrace_region_end("higher");
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
