/* SPDX-License-Identifier: BSD-3-Clause */
/* free(NULL) is nothing: no allocation, no free. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    errno = 77;
    free(opaque(NULL));
    votrace_region_end("v");
    printf("%d\n", errno);
    return 0;
}
