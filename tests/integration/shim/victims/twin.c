/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.c: two libraries that differ in a name only: see same_place.c. */
#include <stdlib.h>

const char *twin_name(void);
void *twin_allocate(size_t bytes);

/*
 * Of the size of many allocations of the loader's, and not to be mistaken for a hole of theirs.
 */
static char room[256 << 10];

const char *twin_name(void) {
    return room[0] == 0 ? TWIN_NAME : room;
}

void *twin_allocate(size_t bytes) {
    void *block = malloc(bytes);
    __asm__ volatile("" ::: "memory");
    return block;
}
