/* SPDX-License-Identifier: BSD-3-Clause */
/* 1000 blocks of 60 bytes from below 0 to 9 frames without unwind information. */
#include "victim.h"

void frames_without_tables(int levels, void (*function)(void));

static unsigned count;

static void allocate(void) {
    descend(count++, 3, 60);
}

int main(void) {
    votrace_region_begin("v");
    for (int i = 0; i < 1000; i++)
        frames_without_tables(i % 10, allocate);
    votrace_region_end("v");
    printf("%u\n", count);
    return 0;
}
