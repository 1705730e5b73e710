/* SPDX-License-Identifier: BSD-3-Clause */
/* load_module.h: finding module.c's library, which lies beside the program. */
#pragma once

#include "victim.h"

#include <dlfcn.h>

struct module {
    void *handle;
    void *(*allocate)(size_t);
    void (*free)(void *);
};

/* @flags < 0: in a namespace of its own. Ends the program when there is no such library. */
static inline struct module load_module(int flags) {
    struct module module = {0};
    char path[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", path, sizeof(path) - 32);
    path[got > 0 ? got : 0] = '\0';
    strcpy(strrchr(path, '/') + 1, "libvictim_module.so");
    module.handle = flags < 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, flags);
    if (module.handle == NULL) {
        puts(dlerror());
        exit(1);
    }
    *(void **)&module.allocate = dlsym(module.handle, "module_allocate");
    *(void **)&module.free = dlsym(module.handle, "module_free");
    return module;
}
