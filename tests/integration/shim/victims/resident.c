/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Touches 64 MiB, gives them back, and becomes itself, which touches nothing: what was resident in
 * one program is not the other's.
 */
#include "victim.h"

#define BYTES ((size_t)64 << 20)

int main(int count, char **arguments) {
    if (count > 1) {
        puts("done");
        return 0;
    }
    void *memory =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 1, BYTES);
    munmap(memory, BYTES);
    execl("/proc/self/exe", arguments[0], "again", NULL);
    return 1;
}
