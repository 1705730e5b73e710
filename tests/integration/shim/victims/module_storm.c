/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads load and unload two libraries 300 times each and have them allocate, 33 bytes a
 * time, while two others allocate, and one asks the loader for its list and allocates inside.
 */
#include <dlfcn.h>
#include <link.h>

#include "victim.h"

#define ROUNDS 300

static volatile bool done;
static char folder[PATH_MAX];

static void *load(void *twin) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/libvictim_%s.so", folder, (const char *)twin);
    for (int i = 0; i < ROUNDS; i++) {
        void *(*allocate)(size_t);
        void *handle = dlopen(path, RTLD_NOW);
        if (handle == NULL)
            return NULL;
        *(void **)&allocate = dlsym(handle, "twin_allocate");
        free(allocate(33));
        if (dlclose(handle) != 0)
            return NULL;
    }
    return twin;
}

static void *churn(void *data) {
    for (unsigned i = 0; !done; i++)
        descend(i, 5, 50);
    return data;
}

static int allocate_inside(struct dl_phdr_info *info, size_t bytes, void *data) {
    free(opaque(malloc(20)));
    return 0;
}

static void *ask(void *data) {
    while (!done) {
        dl_iterate_phdr(allocate_inside, NULL);
        usleep(100);
    }
    return data;
}

int main(void) {
    static char alpha[] = "alpha", gamma_name[] = "gamma";
    pthread_t loaders[2], others[3];
    void *results[2] = {NULL};
    ssize_t got = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[got > 0 ? got : 0] = '\0';
    *strrchr(folder, '/') = '\0';

    votrace_region_begin("v");
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, i < 2 ? churn : ask, NULL);
    pthread_create(&loaders[0], NULL, load, alpha);
    pthread_create(&loaders[1], NULL, load, gamma_name);
    for (int i = 0; i < 2; i++)
        pthread_join(loaders[i], &results[i]);
    done = true;
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    votrace_region_end("v");
    puts("done");
    return results[0] == NULL || results[1] == NULL;
}
