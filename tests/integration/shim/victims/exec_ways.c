/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec_ways WAY: first an exec that fails, then the program becomes itself again by another
 * function of the family, with two arguments and an environment of one's own, and prints what
 * arrived.
 */
#include <fcntl.h>

#include "victim.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* As much of the environment as is needed to be traced again. */
static void copy_variable(const char *name, char ret[PATH_MAX]) {
    const char *value = getenv(name);
    snprintf(ret, PATH_MAX, "%s=%s", name, value != NULL ? value : "");
}

int main(int argc, char **argv) {
    votrace_region_begin("v");
    opaque(malloc(argc == 2 ? 111 : 222));
    if (argc != 2) {
        printf("%d %s %s\n", argc, argv[2], getenv("WAY") != NULL ? getenv("WAY") : "-");
        return 0;
    }
    setenv("WAY", "inherited", 1);
    static char given[] = "WAY=given", preload[PATH_MAX], output[PATH_MAX], stacks[PATH_MAX];
    char *environment[] = {given, preload, output, stacks, NULL};
    copy_variable("LD_PRELOAD", preload);
    copy_variable("VOTRACE_OUTPUT", output);
    copy_variable("VOTRACE_STACKS", stacks);
    static char again[] = "again";
    char *arguments[] = {argv[0], argv[1], again, NULL};
    const char *way = argv[1];
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    execl("/nonexistent", "nonexistent", (char *)NULL);
    if (errno != ENOENT)
        return 1;
    opaque(malloc(1000));
    /* What follows is of no region: the end of the process is known in another way then. */
    votrace_region_end("v");
    for (int i = 0; i < 1000; i++)
        free(opaque(malloc(64)));
    opaque(malloc(64));
    if (strcmp(way, "execve") == 0)
        execve(argv[0], arguments, environment);
    else if (strcmp(way, "execv") == 0)
        execv(argv[0], arguments);
    else if (strcmp(way, "execvp") == 0)
        execvp(argv[0], arguments);
    else if (strcmp(way, "execvpe") == 0)
        execvpe(argv[0], arguments, environment);
    else if (strcmp(way, "execl") == 0)
        execl(argv[0], argv[0], way, "again", (char *)NULL);
    else if (strcmp(way, "execlp") == 0)
        execlp(argv[0], argv[0], way, "again", (char *)NULL);
    else if (strcmp(way, "execle") == 0)
        execle(argv[0], argv[0], way, "again", (char *)NULL, environment);
    else if (strcmp(way, "fexecve") == 0)
        fexecve(self, arguments, environment);
    else if (strcmp(way, "execveat") == 0)
        execveat(self, "", arguments, environment, AT_EMPTY_PATH);
    return 2;
}
