/* SPDX-License-Identifier: BSD-3-Clause */
/* A realloc that fails leaves the block: 1 allocation of 1000, 2 failed, 1 free. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    char *block = opaque(malloc(1000));
    memset(block, 7, 1000);
    errno = 0;
    void *refused = opaque(realloc(opaque(block), opaque_size(PTRDIFF_MAX)));
    int realloc_errno = errno;
    void *too_many = opaque(reallocarray(opaque(block), opaque_size(SIZE_MAX / 2), 3));
    char last = block[999];
    free(block);
    votrace_region_end("v");
    printf("%p %p %s %d\n", refused, too_many, strerror(realloc_errno), last);
    return 0;
}
