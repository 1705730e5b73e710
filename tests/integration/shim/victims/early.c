/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early.c: a library that allocates and maps before libvotrace has begun: libraries that a program
 * names are initialised before those that are preloaded.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int early_works(void);

static void *block, *mapped, *end;

static __attribute__((constructor)) void begin(void) {
    block = malloc(100);
    end = sbrk(0);
    /* The next look-up that works frees what this one leaves for dlerror(). */
    dlsym(RTLD_DEFAULT, "a function that is not there");
    free(malloc(100000));
    mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED && mprotect(mapped, 4096, PROT_READ | PROT_WRITE) != 0)
        mapped = MAP_FAILED;
}

int early_works(void) {
    return block != NULL && end != (void *)-1 && mapped != MAP_FAILED;
}
