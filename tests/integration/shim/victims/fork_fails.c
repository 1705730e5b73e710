/* SPDX-License-Identifier: BSD-3-Clause */
/* A fork() that the kernel refuses makes no child, and none is counted; the next one does. */
#include <grp.h>

#include "victim.h"

int main(void) {
    struct rlimit limit = {0};
    votrace_region_begin("v");
    free(opaque(malloc(77)));
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    /* The limit is nothing to the superuser. */
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    setrlimit(RLIMIT_NPROC, &limit);
    for (int i = 0; i < 5; i++)
        if (fork() != -1 || errno != EAGAIN)
            _exit(2);
    votrace_region_end("v");
    puts("refused");
    return 0;
}
