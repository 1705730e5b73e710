/* SPDX-License-Identifier: BSD-3-Clause */
/* chroot into an empty folder, then 20,000 stacks: the path of the trace leads nowhere now. */
#include "victim.h"

int main(void) {
    int r = chroot(".");
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    printf("%d\n", r);
    return 0;
}
