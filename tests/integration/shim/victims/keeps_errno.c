/* SPDX-License-Identifier: BSD-3-Clause */
/* A successful call leaves errno as it was, whatever the recorder does meanwhile. */
#include "victim.h"

int main(void) {
    int changed = 0;
    votrace_region_begin("v");
    for (unsigned i = 0; i < 5000; i++) {
        errno = 1234;
        descend(i, 13, 20);
        void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page, 4096);
        free(opaque(realloc(opaque(calloc(1, 10)), 20)));
        changed += errno != 1234;
    }
    votrace_region_end("v");
    changed += errno != 1234;
    printf("%d\n", changed);
    return 0;
}
