/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free() by its other names, found at run time: three blocks of 100, 200 and 300 bytes go, two
 * of them named by their sizes. Prints nothing of what was found: without the library libc may
 * have none of them.
 */
#include <dlfcn.h>

#include "victim.h"

int main(void) {
    void (*cfree_found)(void *);
    void (*sized)(void *, size_t);
    void (*aligned)(void *, size_t, size_t);
    *(void **)&cfree_found = dlsym(RTLD_DEFAULT, "cfree");
    *(void **)&sized = dlsym(RTLD_DEFAULT, "free_sized");
    *(void **)&aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");

    votrace_region_begin("v");
    void *block = opaque(malloc(100));
    cfree_found != NULL ? cfree_found(block) : free(block);
    block = opaque(malloc(200));
    sized != NULL ? sized(block, 200) : free(block);
    block = opaque(aligned_alloc(64, 300));
    aligned != NULL ? aligned(block, 64, 300) : free(block);
    if (sized != NULL)
        sized(NULL, 0);
    votrace_region_end("v");
    return 0;
}
