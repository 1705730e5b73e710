/* SPDX-License-Identifier: BSD-3-Clause */
/* exec keeps the process id, and here the name: the second trace must not overwrite the first. */
#include "victim.h"

int main(int argc, char **argv) {
    votrace_region_begin("v");
    opaque(malloc(argc > 1 ? 222 : 111));
    if (argc > 1)
        return 0;
    execl(argv[0], argv[0], "again", (char *)NULL);
    return 1;
}
