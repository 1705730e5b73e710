/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of all kinds. Anonymous: 10 pages, of which 4 are mapped anew in place, and 3 by
 * mremap() with and 2 without leaving the old place mapped; one page more is refused by
 * MAP_FIXED_NOREPLACE, and 16 GiB of huge pages for want of them. Of files: 2 pages of the program
 * over the end of the first ten, 2 from /dev/zero, 3 shared ones of a memory file.
 */
#include "victim.h"

#include <fcntl.h>

#define PAGE ((size_t)4096)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char *map(void *at, size_t pages, int flags, int fd) {
    int protection = PROT_READ | PROT_WRITE;
    return mmap(at, pages * PAGE, protection, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
}

int main(void) {
    int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int zeros = open("/dev/zero", O_RDWR | O_CLOEXEC);
    int memory = memfd_create("victim", MFD_CLOEXEC);
    if (ftruncate(memory, 3 * PAGE) != 0)
        return 1;
    votrace_region_begin("v");
    char *ten = map(NULL, 10, MAP_PRIVATE, -1);
    map(ten + 2 * PAGE, 4, MAP_PRIVATE | MAP_FIXED, -1);
    map(ten + 8 * PAGE, 2, MAP_PRIVATE | MAP_FIXED, program);
    bool kept = map(ten, 1, MAP_PRIVATE | MAP_FIXED_NOREPLACE, -1) == MAP_FAILED;
    bool huge = map(NULL, (size_t)1 << 34, MAP_PRIVATE | MAP_HUGETLB, -1) == MAP_FAILED;
    char *three = map(NULL, 3, MAP_PRIVATE, -1);
    char *moved = mremap(three, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    char *file = map(NULL, 2, MAP_PRIVATE, zeros);
    char *shared = map(NULL, 3, MAP_SHARED, memory);
    votrace_region_end("v");
    printf("%d %d %d %d %d\n", kept, huge, moved != MAP_FAILED, file != MAP_FAILED,
           shared != MAP_FAILED);
    return 0;
}
