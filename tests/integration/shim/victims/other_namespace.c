/* SPDX-License-Identifier: BSD-3-Clause */
/* A module with a libc of its own (dlmopen): 100 blocks of that one, and 1 of ours. */
#include "load_module.h"

int main(void) {
    struct module module = load_module(-1);
    votrace_region_begin("v");
    for (size_t i = 0; i < 100; i++)
        module.free(module.allocate(i));
    free(opaque(malloc(77)));
    votrace_region_end("v");
    puts("done");
    return 0;
}
