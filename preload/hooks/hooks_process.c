/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_process.c: the library's load and unload, libraries that are unloaded, and the ends of
 * a process that run no destructors.
 */
#include "environment.h"
#include "hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void start_library(void) {
    if (!real_resolve() || real_is_thread_sanitizer())
        return;
    recorder_offer_usable_size(real_usable_size);
    recorder_start();
}

bool hooks_resolve(void **place) {
    start_library();
    return *place != NULL;
}

/* From its first byte to its last, as the linker names them in every library. */
extern const char library_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char library_end[] __asm__("_end") __attribute__((visibility("hidden")));

/*
 * Whose malloc the program calls: an executable's own comes first, and what dlopen() opens
 * last. The loader tells, when it binds the name here as everywhere: it must not be asked by
 * dlsym(), which frees the error of an earlier call.
 */
static void *(*const volatile bound_malloc)(size_t) = malloc;

/*
 * In a program that does not run at any address and takes the address of malloc, that is a jump
 * in the program itself, wherever it leads. A call is not: free(NULL) does nothing in any
 * allocator, and where it comes by here, so does malloc.
 */
extern void called_free(void *block) __asm__("free");

static bool malloc_is_ours(void) {
    uintptr_t found = (uintptr_t)bound_malloc;
    if (found - (uintptr_t)library_start < (uintptr_t)(library_end - library_start))
        return true;
    hooks_saw_free_null = false;
    called_free(NULL);
    return hooks_saw_free_null;
}

bool hooks_resolve_mapping(void **place) {
    if (malloc_is_ours())
        start_library();
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

/*
 * What happens around it is pthread_atfork()'s, which libc's own forks obey, too: children.c.
 */
EXPORT pid_t fork(void) {
    if (MISSING(fork)) {
        errno = ENOSYS;
        return -1;
    }
    pid_t child = real.fork();
    if (child < 0)
        recorder_fork_failed();
    return child;
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

static void keep_from_children(void) {
    Dl_info self;
    if (dladdr(library_start, &self) != 0 && self.dli_fname != NULL)
        environment_drop_preload(environ, self.dli_fname);
}

static __attribute__((constructor)) void library_loaded(void) {
    start_library();
    if (!malloc_is_ours())
        recorder_malloc_elsewhere();
    if (recorder_hides_from_children())
        keep_from_children();
    pthread_atfork(recorder_fork_prepare, recorder_fork_parent, recorder_fork_child);
}

static __attribute__((destructor)) void library_unloaded(void) {
    recorder_exiting();
}
