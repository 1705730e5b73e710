/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of allocations: before the region some that are not in it; in it, 5 of size 0, one of
 * 1 byte, two of 2, three of 4 ... 21 of 1 MiB; a calloc() of 300 bytes and a realloc() to 100.
 */
#include "victim.h"

int main(void) {
    for (int i = 0; i < 50; i++)
        free(opaque(malloc(64)));
    void *block = opaque(malloc(16));
    votrace_region_begin("v");
    for (int i = 0; i < 5; i++)
        free(opaque(malloc(opaque_size(0))));
    for (unsigned power = 0; power <= 20; power++)
        for (unsigned i = 0; i <= power; i++)
            free(opaque(malloc((size_t)1 << power)));
    free(opaque(calloc(3, 100)));
    block = opaque(realloc(block, 100));
    votrace_region_end("v");
    votrace_region_begin("open");
    free(block);
    free(opaque(malloc(1)));
    puts("done");
    return 0;
}
