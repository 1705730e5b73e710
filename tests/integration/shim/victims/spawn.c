/* SPDX-License-Identifier: BSD-3-Clause */
/* posix_spawn and system: programs of their own. */
#include <spawn.h>

#include "victim.h"

int main(void) {
    char *arguments[] = {(char[]){"true"}, NULL};
    pid_t child;
    int status;
    votrace_region_begin("v");
    int r = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
    waitpid(child, &status, 0);
    free(opaque(malloc(77)));
    votrace_region_end("v");
    printf("%d %d\n", r, WEXITSTATUS(status));
    return 0;
}
