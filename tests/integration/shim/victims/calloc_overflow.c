/* SPDX-License-Identifier: BSD-3-Clause */
/* calloc and reallocarray refuse what overflows: 3 failed calls, nothing allocated. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    errno = 0;
    void *a = opaque(calloc(opaque_size(SIZE_MAX / 2), 4));
    int calloc_errno = errno;
    void *b = opaque(reallocarray(NULL, opaque_size(SIZE_MAX / 2), 4));
    void *c = opaque(malloc(opaque_size(SIZE_MAX)));
    votrace_region_end("v");
    printf("%p %p %p %s\n", a, b, c, strerror(calloc_errno));
    return 0;
}
