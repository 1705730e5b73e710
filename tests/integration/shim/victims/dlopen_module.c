/* SPDX-License-Identifier: BSD-3-Clause */
/* A module comes and goes 50 times and allocates each time: 50 blocks of 33 bytes among others. */
#include <dlfcn.h>

#include "victim.h"

int main(int argc, char **argv) {
    char path[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", path, sizeof(path) - 32);
    path[got > 0 ? got : 0] = '\0';
    strcpy(strrchr(path, '/') + 1, "libvictim_module.so");
    votrace_region_begin("v");
    for (int i = 0; i < 50; i++) {
        void *module = dlopen(path, RTLD_NOW);
        if (module == NULL) {
            puts(dlerror());
            return 1;
        }
        void *(*allocate)(size_t);
        *(void **)&allocate = dlsym(module, "module_allocate");
        free(allocate(33));
        if (dlsym(module, "not_there") != NULL)
            return 1;
        dlclose(module);
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
