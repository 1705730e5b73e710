/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Live heap goes up to 800,000 bytes in 8000 steps of 100 bytes, and down again: 16,000 events.
 * Region "short" sees the topmost 20 of them.
 */
#include "victim.h"

#define STEPS 8000

static void *blocks[STEPS];

int main(void) {
    votrace_region_begin("v");
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS - 10)
            votrace_region_begin("short");
        blocks[i] = opaque(malloc(100));
    }
    for (int i = STEPS; i-- > 0;) {
        free(blocks[i]);
        if (i == STEPS - 10)
            votrace_region_end("short");
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
