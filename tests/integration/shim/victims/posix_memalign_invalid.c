/* SPDX-License-Identifier: BSD-3-Clause */
/* EINVAL leaves errno and the pointer alone: 1 failed call. */
#include "victim.h"

int main(void) {
    void *block = &block;
    votrace_region_begin("v");
    errno = 99;
    int r = posix_memalign(&block, opaque_size(3), 100);
    votrace_region_end("v");
    printf("%s %d %d\n", strerror(r), errno, block == &block);
    return 0;
}
