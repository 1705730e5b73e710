/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc(0) gives a block: 3 allocations of 0 bytes, 2 frees. */
#include "victim.h"

int main(void) {
    void *blocks[3];
    votrace_region_begin("v");
    for (int i = 0; i < 3; i++)
        blocks[i] = opaque(malloc(opaque_size(0)));
    free(blocks[0]);
    free(blocks[2]);
    votrace_region_end("v");
    printf("%d\n", blocks[0] != NULL && blocks[1] != NULL && blocks[0] != blocks[1]);
    return 0;
}
