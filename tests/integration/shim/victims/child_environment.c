/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that this one starts by system(), popen(), posix_spawn() and fork() + exec, and this
 * one itself: which library is to be preloaded? Prints a line for each: with
 * VOTRACE_CHILDREN=none they are those that there are without votrace.
 */
#include <spawn.h>

#include "victim.h"

#define ASK "echo \"$0 ${LD_PRELOAD:-nothing}\""

static char shell[] = "/bin/sh", option[] = "-c", ask[] = ASK;

static void wait_for(pid_t child) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

int main(void) {
    char answer[PATH_MAX] = "";
    const char *own = getenv("LD_PRELOAD");
    free(opaque(malloc(1)));
    printf("own %s\n", own != NULL && own[0] != 0 ? own : "nothing");
    fflush(stdout);
    if (system(ASK) != 0)
        return 1;
    FILE *stream = popen(ASK, "r");
    if (stream == NULL || fgets(answer, sizeof(answer), stream) == NULL || pclose(stream) != 0)
        return 2;
    printf("popen %s", answer);
    fflush(stdout);

    char spawned[] = "spawned", executed[] = "executed";
    char *arguments[] = {shell, option, ask, spawned, NULL};
    pid_t child = 0;
    if (posix_spawn(&child, shell, NULL, NULL, arguments, environ) != 0)
        return 3;
    wait_for(child);
    child = fork();
    if (child == 0) {
        arguments[3] = executed;
        execv(shell, arguments);
        _exit(4);
    }
    wait_for(child);
    return 0;
}
