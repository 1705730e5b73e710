/* SPDX-License-Identifier: BSD-3-Clause */
/* A program may write all that malloc_usable_size() says: 500 blocks, 62250 bytes asked for. */
#include "victim.h"

int main(void) {
    static void *blocks[500];
    size_t damaged = 0;
    votrace_region_begin("v");
    for (size_t i = 0; i < 500; i++) {
        blocks[i] = opaque(malloc(i / 2));
        memset(blocks[i], (int)i, malloc_usable_size(blocks[i]));
    }
    for (size_t i = 0; i < 500; i++) {
        const unsigned char *bytes = blocks[i];
        damaged += bytes[malloc_usable_size(blocks[i]) - 1] != (unsigned char)i;
        free(blocks[i]);
    }
    votrace_region_end("v");
    printf("%zu\n", damaged);
    return 0;
}
