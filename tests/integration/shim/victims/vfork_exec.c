/* SPDX-License-Identifier: BSD-3-Clause */
/* vfork shares memory until exec; the new program has a trace of its own, under its name. */
#include "victim.h"

int main(void) {
    int status;
    votrace_region_begin("v");
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    child = vfork();
    if (child == 0)
        _exit(4);
    int second;
    waitpid(child, &second, 0);
    free(opaque(malloc(77)));
    votrace_region_end("v");
    printf("%d %d\n", WEXITSTATUS(status), WEXITSTATUS(second));
    return 0;
}
