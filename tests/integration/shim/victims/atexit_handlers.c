/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers and destructors after main: 1 block of 100 freed, 1 of 50 kept. */
#include "victim.h"

static void *block;

static void at_exit(void) {
    free(block);
    block = opaque(malloc(50));
    votrace_region_end("v");
}

__attribute__((destructor)) static void at_unload(void) {
    free(block);
}

int main(void) {
    atexit(at_exit);
    votrace_region_begin("v");
    block = opaque(malloc(100));
    return 3;
}
