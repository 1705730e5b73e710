/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load_late [LIBVOTRACE]: the library is opened by the program, not preloaded, and called by its
 * addresses: 1 block of 100 bytes, and 5 frees of blocks that were allocated before.
 */
#include "victim.h"

#include <dlfcn.h>

int main(int argc, char **argv) {
    void *(*allocate)(size_t) = malloc;
    void (*give_back)(void *) = free;
    void (*begin)(const char *) = NULL;
    void (*end)(const char *) = NULL;
    void *blocks[5];
    for (int i = 0; i < 5; i++)
        blocks[i] = opaque(malloc(50));
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
        if (library == NULL) {
            puts(dlerror());
            return 1;
        }
        *(void **)&allocate = dlsym(library, "malloc");
        *(void **)&give_back = dlsym(library, "free");
        *(void **)&begin = dlsym(library, "votrace_region_begin");
        *(void **)&end = dlsym(library, "votrace_region_end");
        begin("v");
    }
    give_back(opaque(allocate(100)));
    for (int i = 0; i < 5; i++)
        give_back(blocks[i]);
    if (end != NULL)
        end("v");
    puts("done");
    return 0;
}
