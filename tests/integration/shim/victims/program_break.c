/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program moves the end of its data segment itself: 10000 bytes by sbrk(), 5000 more by
 * brk(), all of it back; a request that fails; and one of nothing.
 */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    char *start = sbrk(10000);
    memset(start, 1, 10000);
    if (brk(start + 15000) != 0 || sbrk(0) != start + 15000)
        return 1;
    memset(start, 1, 15000);
    if (sbrk(-5000) != start + 15000 || brk(start) != 0)
        return 2;
    errno = 0;
    if (sbrk(INTPTR_MAX) != (void *)-1 || errno != ENOMEM)
        return 3;
    votrace_region_end("v");
    puts("moved");
    return 0;
}
