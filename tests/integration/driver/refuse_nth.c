/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refuse_nth.c: preloaded, it refuses one allocation of the whole process, whichever library asks
 * for it: the REFUSE_NTH-th, from 1, or with REFUSE_ON that one and all that follow.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* What malloc and its kin are called inside glibc. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static long left; /* until one is refused; 0: none is */
static bool goes_on;

__attribute__((constructor)) static void start(void) {
    const char *nth = getenv("REFUSE_NTH");
    goes_on = getenv("REFUSE_ON") != NULL;
    left = nth != NULL ? strtol(nth, NULL, 10) : 0;
}

static bool refuse(void) {
    if (left == 0 || (left > 1 && left-- > 1))
        return false;
    if (!goes_on)
        left = 0;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size) {
    return refuse() ? NULL : __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size) {
    return refuse() ? NULL : __libc_realloc(ptr, size);
}
