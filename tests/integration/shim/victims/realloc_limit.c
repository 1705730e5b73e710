/* SPDX-License-Identifier: BSD-3-Clause */
/* A realloc that RLIMIT_AS refuses: the block of 1 MiB stays and is freed later. */
#include "victim.h"

int main(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)1 << 31;
    setrlimit(RLIMIT_AS, &limit);
    votrace_region_begin("v");
    void *block = opaque(malloc(1 << 20));
    void *refused = opaque(realloc(opaque(block), opaque_size((size_t)1 << 32)));
    free(block);
    votrace_region_end("v");
    printf("%p\n", refused);
    return 0;
}
