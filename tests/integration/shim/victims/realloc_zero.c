/* SPDX-License-Identifier: BSD-3-Clause */
/* realloc(p, 0) frees: 1 allocation, 1 free. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    void *block = opaque(malloc(100));
    block = realloc(block, opaque_size(0));
    votrace_region_end("v");
    printf("%p\n", block);
    return 0;
}
