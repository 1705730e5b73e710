/* SPDX-License-Identifier: BSD-3-Clause */
/* 5 GiB that nobody touches: the size takes more than 32 bits. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    char *block = opaque(calloc(5, (size_t)1 << 30));
    int inside = block == NULL ? 0 : block[(size_t)3 << 30];
    free(block);
    votrace_region_end("v");
    printf("%d\n", inside);
    return 0;
}
