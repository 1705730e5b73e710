/* SPDX-License-Identifier: BSD-3-Clause */
/* No descriptor can be opened any more: the trace cannot grow, the program does not notice. */
#include "victim.h"

int main(void) {
    struct rlimit limit = {0, 0};
    setrlimit(RLIMIT_NOFILE, &limit);
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    puts("done");
    return 0;
}
