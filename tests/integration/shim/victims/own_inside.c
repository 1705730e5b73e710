/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that brings its own malloc (own_malloc.c): 1000 blocks that are never seen. It is first
 * called before libvotrace has begun (early.c).
 */
#include "victim.h"

int early_works(void);

int main(void) {
    printf("%d\n", early_works());
    votrace_region_begin("v");
    for (unsigned i = 0; i < 1000; i++)
        descend(i, 5, i);
    votrace_region_end("v");
    puts("done");
    return 0;
}
