/* SPDX-License-Identifier: BSD-3-Clause */
/* A daemon closes every descriptor, then allocates from 20,000 stacks: the trace still grows. */
#include "victim.h"

int main(void) {
    syscall(SYS_close_range, 0U, ~0U, 0U);
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    return 0;
}
