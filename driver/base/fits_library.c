/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_library.c: by the name that the linker would have noted, so that it is found where
 * linked libraries are. It is never unloaded: its libraries do not all bear that.
 */
#include "fits_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define TEXT_OF(value) #value
#define TEXT(value)    TEXT_OF(value)
#define FITS_SONAME    "libcfitsio.so." TEXT(CFITSIO_SONAME)

/* Names of fitsio.h are macros for those that the library has. */
static int find_functions(void *handle, struct fits_library *library) {
    void *function;
#define X(name)                                                                                \
    function = dlsym(handle, TEXT(name));                                                      \
    if (function == NULL)                                                                      \
        return -ENOTSUP;                                                                       \
    memcpy(&library->name, &function, sizeof(function));
    FITS_LIBRARY_FUNCTIONS(X)
#undef X
    return 0;
}

int fits_library_load(uint64_t lineno, const struct fits_library **ret_library,
                      struct problem *problem) {
    static struct fits_library library;
    static void *handle;
    if (handle == NULL)
        handle = dlopen(FITS_SONAME, RTLD_NOW | RTLD_LOCAL);
    const char *words = handle == NULL ? dlerror() : NULL;
    if (words != NULL && (strstr(words, "memory") != NULL ||
                          strstr(words, "cannot create shared object descriptor") != NULL))
        return problem_set_memory(problem);
    if (handle == NULL || find_functions(handle, &library) < 0)
        return problem_set(problem, -ENOTSUP, lineno,
                           "FITS needs the library " FITS_SONAME
                           ", which is not here, install cfitsio");
    *ret_library = &library;
    return 0;
}
