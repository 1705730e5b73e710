/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that brings its own malloc (own_malloc.c): 1000 blocks that are never seen. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    for (unsigned i = 0; i < 1000; i++)
        descend(i, 5, i);
    votrace_region_end("v");
    puts("done");
    return 0;
}
