/* SPDX-License-Identifier: BSD-3-Clause */
/* chdir after the start: the trace stays where it began, and grows there. */
#include "victim.h"

int main(void) {
    if (chdir("/") != 0)
        return 1;
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    puts("done");
    return 0;
}
