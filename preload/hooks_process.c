/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_process.c: the library's load and unload, libraries that are unloaded, and the ends of
 * a process that run no destructors.
 */
#include "hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

bool hooks_resolve(void **place) {
    real_resolve();
    recorder_start();
    return *place != NULL;
}

/* Unloading, and ends without destructors */

EXPORT int dlclose(void *handle) {
    if (MISSING(dlclose))
        return -1;
    int r = real.dlclose(handle);
    recorder_module_unloaded();
    return r;
}

EXPORT void _exit(int status) {
    recorder_exiting();
    if (real._exit != NULL)
        real._exit(status);
    __builtin_trap();
}

EXPORT void _Exit(int status) {
    recorder_exiting();
    if (real._Exit != NULL)
        real._Exit(status);
    __builtin_trap();
}

/* What at_quick_exit() runs afterwards still counts. */
EXPORT void quick_exit(int status) {
    recorder_exiting();
    if (!MISSING(quick_exit))
        real.quick_exit(status);
    __builtin_trap();
}

/* Load and exit */

static __attribute__((constructor)) void library_loaded(void) {
    real_resolve();
    recorder_start();
    pthread_atfork(recorder_fork_prepare, recorder_fork_parent, recorder_fork_child);
}

static __attribute__((destructor)) void library_unloaded(void) {
    recorder_exiting();
}
