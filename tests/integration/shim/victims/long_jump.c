/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames left by longjmp: 1000 blocks allocated below, freed above. */
#include <setjmp.h>

#include "victim.h"

static jmp_buf back;
static void *block;

__attribute__((noinline)) static void deeper(int levels) {
    if (levels > 0) {
        deeper(levels - 1);
        STAY_ON_STACK();
        return;
    }
    block = opaque(malloc(60));
    if (opaque(block) != NULL)
        longjmp(back, 1);
}

int main(void) {
    static volatile int i;
    votrace_region_begin("v");
    for (i = 0; i < 1000; i++) {
        if (setjmp(back) == 0)
            deeper(i % 37);
        free(block);
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
