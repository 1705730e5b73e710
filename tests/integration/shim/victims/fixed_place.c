/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked to a fixed address, and takes the address of malloc: the loader says that malloc is in the
 * program, and 1 allocation of 123457 bytes is seen all the same. Regions are not marked in
 * such code, see votrace.h.
 */
#include "victim.h"

static void *(*volatile allocate)(size_t) = malloc;

int main(void) {
    void *block = opaque(allocate(123457));
    printf("%d\n", block != NULL);
    free(block);
    return 0;
}
