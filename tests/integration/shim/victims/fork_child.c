/* SPDX-License-Identifier: BSD-3-Clause */
/* The child allocates 1000 blocks, in a region, and exits; the parent has its 1. */
#include "victim.h"

int main(void) {
    votrace_region_begin("v");
    pid_t child = fork();
    if (child == 0) {
        votrace_region_begin("child");
        for (int i = 0; i < 1000; i++)
            opaque(malloc(100));
        votrace_region_end("child");
        struct votrace_region_totals totals;
        exit(votrace_region_query("v", &totals, sizeof(totals)) == -ENOSYS ? 5 : 6);
    }
    int status;
    waitpid(child, &status, 0);
    free(opaque(malloc(77)));
    votrace_region_end("v");
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
