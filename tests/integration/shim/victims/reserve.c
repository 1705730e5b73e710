/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 100 pages are reserved. Three of them become accessible, in two calls that overlap in one
 * page; one is closed again, which frees nothing. A further reservation is given up whole, an
 * mprotect() fails.
 */
#include "victim.h"

#define PAGE ((size_t)4096)

int main(void) {
    votrace_region_begin("v");
    char *place = mmap(NULL, 100 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED ||
        mprotect(place + 10 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(place + 11 * PAGE, 2 * PAGE, PROT_READ) != 0)
        return 1;
    place[10 * PAGE] = 1;
    if (mprotect(place + 10 * PAGE, PAGE, PROT_NONE) != 0 ||
        mprotect(place + 50 * PAGE, PAGE, PROT_NONE) != 0)
        return 2;
    void *other = mmap(NULL, 1000 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(other, 1000 * PAGE);
    if (mprotect(place + 1, PAGE, PROT_READ) == 0 || errno != EINVAL)
        return 3;
    votrace_region_end("v");
    puts("reserved");
    return 0;
}
