/* SPDX-License-Identifier: BSD-3-Clause */
/* fork and clone as bare system calls: no handler runs in the children, which are muted too. */
#include "victim.h"

static void run_child(long child) {
    int status = -1;
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            free(opaque(malloc((size_t)i)));
        _exit(7);
    }
    waitpid((pid_t)child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    fflush(stdout);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    votrace_region_begin("v");
    run_child(syscall(SYS_fork));
    run_child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    free(opaque(malloc(77)));
    votrace_region_end("v");
    return 0;
}
