/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two libraries come and go at one address, by turns: alpha, gamma, alpha, alpha, gamma. Each
 * time they allocate as many bytes as the turn's power of two, through one and the same call.
 */
#include <dlfcn.h>

#include "victim.h"

static uintptr_t place;

static void load(const char *twin, size_t bytes) {
    char path[PATH_MAX];
    void *(*allocate)(size_t);
    const char *(*name)(void);
    ssize_t got = readlink("/proc/self/exe", path, sizeof(path) - 32);
    path[got > 0 ? got : 0] = '\0';
    sprintf(strrchr(path, '/') + 1, "libvictim_%s.so", twin);
    void *handle = dlopen(path, RTLD_NOW);
    if (handle == NULL)
        exit(2);
    *(void **)&allocate = dlsym(handle, "twin_allocate");
    *(void **)&name = dlsym(handle, "twin_name");
    if (place == 0) {
        place = (uintptr_t)allocate;
        /* The hole that the library leaves shall not be part of a larger one. */
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    votrace_region_begin("v");
    opaque(allocate(bytes));
    votrace_region_end("v");
    puts(name());
    dlclose(handle);
    if ((uintptr_t)allocate != place)
        exit(3);
}

int main(void) {
    static const char *const twins[] = {"alpha", "gamma", "alpha", "alpha", "gamma"};
    for (unsigned i = 0; i < 5; i++)
        load(twins[i], (size_t)1 << i);
    return 0;
}
