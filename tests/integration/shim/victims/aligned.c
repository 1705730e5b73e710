/* SPDX-License-Identifier: BSD-3-Clause */
/* Aligned blocks count what was asked for: 100 + 200 + 300 + 400 + 500 = 1500 bytes, 5 blocks. */
#include "victim.h"

int main(void) {
    void *blocks[5];
    votrace_region_begin("v");
    blocks[0] = opaque(aligned_alloc(64, opaque_size(100)));
    blocks[1] = opaque(memalign(128, 200));
    blocks[2] = opaque(valloc(300));
    blocks[3] = opaque(pvalloc(400));
    int r = posix_memalign(&blocks[4], 32, 500);
    for (int i = 0; i < 5; i++)
        free(blocks[i]);
    votrace_region_end("v");
    printf("%d %d %d %d %d %d\n", r, (uintptr_t)blocks[0] % 64 == 0,
           (uintptr_t)blocks[1] % 128 == 0, (uintptr_t)blocks[2] % 4096 == 0,
           (uintptr_t)blocks[3] % 4096 == 0, (uintptr_t)blocks[4] % 32 == 0);
    return 0;
}
