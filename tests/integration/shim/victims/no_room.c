/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RLIMIT_AS at what is mapped already: the allocator can still hand out what it has, and the
 * recorder can get nothing. 20,000 stacks and blocks.
 */
#include "victim.h"

#define BLOCKS 20000

static void *blocks[BLOCKS + 1];

int main(void) {
    struct rlimit limit = {4096, 4096};
    int got = 0;
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    for (int i = 0; i <= BLOCKS; i++)
        blocks[i] = malloc(100);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    setrlimit(RLIMIT_AS, &limit);
    votrace_region_begin("v");
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = opaque(descend_to(i, 15, 100));
        got += blocks[i] != NULL;
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    votrace_region_end("v");
    printf("%d\n", got);
    return 0;
}
