/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings: 8 pages of which 2 in the middle and 1 at the end go, 3 that grow to 5, a refused
 * mremap and two refused munmaps. In the end 5 + 5 pages.
 */
#include "victim.h"

#define PAGE ((size_t)4096)

int main(void) {
    votrace_region_begin("v");
    char *a = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(a + 3 * PAGE, 2 * PAGE);
    munmap(a + 7 * PAGE, 1);
    void *refused = mremap(a, 3 * PAGE, 64 * PAGE, 0);
    int misaligned = munmap(a + 1, PAGE);
    int endless = munmap(a, opaque_size(SIZE_MAX - 4095));
    char *b = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    b = mremap(b, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE);
    votrace_region_end("v");
    printf("%d %d %d %d\n", refused == MAP_FAILED, misaligned, endless, b != MAP_FAILED);
    return 0;
}
