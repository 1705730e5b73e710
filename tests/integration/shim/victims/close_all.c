/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon closes every descriptor, by close_range() or as the argument says, then allocates
 * from 20,000 stacks: the trace still grows.
 */
#include "victim.h"

#include <fcntl.h>

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "closefrom") == 0)
        closefrom(0);
    else if (strcmp(way, "loop") == 0)
        for (int fd = (int)sysconf(_SC_OPEN_MAX); fd >= 0; fd--)
            close(fd);
    else
        syscall(SYS_close_range, 0U, ~0U, 0U);
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    return open("/dev/null", O_RDONLY);
}
