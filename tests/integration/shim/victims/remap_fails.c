/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mremap() onto a mapping of 16 pages, to a size that the process may not have. It fails, but
 * what was in the way may be gone by then: that depends on the kernel. Whatever is left of it
 * is unmapped here, so that the 4 old pages are what remains.
 */
#include "victim.h"

#define PAGE ((size_t)4096)

static bool is_mapped(char *page) {
    unsigned char resident;
    return mincore(page, PAGE, &resident) == 0;
}

int main(void) {
    struct rlimit limit = {0};
    votrace_region_begin("v");
    char *old =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *target =
        mmap(NULL, 4096 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (old == MAP_FAILED || target == MAP_FAILED)
        return 1;
    munmap(target + 16 * PAGE, 4080 * PAGE);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 100 * PAGE; /* less than there is already: nothing may grow */
    setrlimit(RLIMIT_AS, &limit);
    void *moved = mremap(old, 4 * PAGE, 4096 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    if (moved != MAP_FAILED || errno != ENOMEM || !is_mapped(old))
        return 2;
    puts(is_mapped(target) ? "the target is there" : "the target is gone");
    if (is_mapped(target))
        munmap(target, 16 * PAGE);
    votrace_region_end("v");
    return 0;
}
