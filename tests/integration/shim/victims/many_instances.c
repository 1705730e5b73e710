/* SPDX-License-Identifier: BSD-3-Clause */
/* 1000 instances of one region; the 8 worst, of 993 to 1000 bytes, keep their rows. */
#include "victim.h"

int main(void) {
    for (size_t i = 1; i <= 1000; i++) {
        votrace_region_begin("v");
        free(opaque(malloc(i * 7 % 1000 + (i % 1000 == 0 ? 1000 : 0))));
        votrace_region_end("v");
    }
    puts("done");
    return 0;
}
