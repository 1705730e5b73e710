/* SPDX-License-Identifier: BSD-3-Clause */
/* Says whether it runs with another's rights (setuid), and what is left of LD_PRELOAD then. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    free(opaque(malloc(100)));
    votrace_region_end("v");
    printf("%d %d\n", geteuid() != getuid(), getenv("LD_PRELOAD") != NULL);
    return 0;
}
