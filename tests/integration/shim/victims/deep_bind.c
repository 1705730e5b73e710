/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A module bound to libc's own malloc and free (RTLD_DEEPBIND): 10 blocks that it allocates and
 * main frees were never seen; 10 that main allocates and it frees are seen only when main is
 * given the same places again.
 */
#include "load_module.h"

int main(void) {
    struct module module = load_module(RTLD_NOW | RTLD_DEEPBIND);
    void *blocks[10];
    votrace_region_begin("v");
    for (int i = 0; i < 10; i++)
        free(module.allocate(opaque_size(40)));
    for (int i = 0; i < 10; i++) {
        blocks[i] = opaque(malloc(40));
        module.free(blocks[i]);
    }
    for (int i = 0; i < 10; i++)
        blocks[i] = opaque(malloc(40));
    for (int i = 0; i < 10; i++)
        free(blocks[i]);
    votrace_region_end("v");
    puts("done");
    return 0;
}
