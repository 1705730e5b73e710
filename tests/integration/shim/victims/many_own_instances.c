/* SPDX-License-Identifier: BSD-3-Clause */
/* As many_instances, with regions of a thread. */
#include "victim.h"

int main(int argc, char **argv) {
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    for (size_t i = 1; i <= count; i++) {
        votrace_thread_region_begin("v");
        free(opaque(malloc(i * 7 % 1000 + (i % 1000 == 0 ? 1000 : 0))));
        votrace_thread_region_end("v");
    }
    puts("done");
    return 0;
}
