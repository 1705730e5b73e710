/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region begun on one thread, ended on another, with blocks of a third: 300 bytes at the peak,
 * of which 100 stay.
 */
#include "crew.h"

static void *blocks[3];

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    crew_meet();
    if (thread == 0)
        votrace_region_begin("v");
    crew_meet();
    blocks[thread] = opaque(malloc(100));
    crew_meet();
    if (thread != 1)
        free(blocks[(thread + 1) % 3]);
    crew_meet();
    if (thread == 2)
        votrace_region_end("v");
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(3, work);
    for (int meeting = 0; meeting < 5; meeting++)
        crew_meet();
    crew_join();
    puts("done");
    return 0;
}
