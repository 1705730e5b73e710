/* SPDX-License-Identifier: BSD-3-Clause */
/* 131,072 stacks that differ: one block of 20 bytes from each. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    for (unsigned i = 0; i < 1U << 17; i++)
        descend(i, 17, 20);
    votrace_region_end("v");
    puts("done");
    return 0;
}
