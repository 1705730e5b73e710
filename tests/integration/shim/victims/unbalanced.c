/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends without begins, a begin without end, and a NULL name. */
#include "victim.h"

int main(void) {
    votrace_region_end("v");
    votrace_region_begin("v");
    free(opaque(malloc(77)));
    votrace_region_end("v");
    votrace_region_end("v");
    votrace_region_end("process");
    votrace_region_begin(NULL);
    votrace_region_end(NULL);
    votrace_region_begin("open");
    puts("done");
    return 0;
}
