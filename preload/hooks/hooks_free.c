/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_free.c: the other names of free(): cfree() of old programs, free_sized() and
 * free_aligned_sized() of C23.
 *
 * They are here whether libc has them or not: which it is cannot be known when this library is
 * linked. Behind one that libc lacks is free(), which is what the standard asks of it; a
 * program that looks for such a function at run time finds it and is served rightly.
 */
#include "hooks.h"

#include <malloc.h>

/* By other names in C: a libc that declares them would declare them twice. */
EXPORT void hook_cfree(void *block) __asm__("cfree");
EXPORT void hook_free_sized(void *block, size_t bytes) __asm__("free_sized");
EXPORT void hook_free_aligned_sized(void *block, size_t alignment,
                                    size_t bytes) __asm__("free_aligned_sized");

/* Whether it is for free(): not known to libc, or nothing that libc allocated. */
static bool is_plain(bool known, const void *block) {
    return !known || block == NULL || real_bootstrap_owns(block);
}

static bool freeing(void *block) {
    bool nested = real_begin();
    if (!nested && recorder_awake())
        recorder_freed((uintptr_t)block);
    return nested;
}

void hook_cfree(void *block) {
    if (is_plain(real.cfree != NULL, block)) {
        free(block);
        return;
    }
    bool nested = freeing(block);
    real.cfree(block);
    real_end(nested);
}

void hook_free_sized(void *block, size_t bytes) {
    if (is_plain(real.free_sized != NULL, block)) {
        free(block);
        return;
    }
    bool nested = freeing(block);
    real.free_sized(block, bytes);
    real_end(nested);
}

void hook_free_aligned_sized(void *block, size_t alignment, size_t bytes) {
    if (is_plain(real.free_aligned_sized != NULL, block)) {
        free(block);
        return;
    }
    bool nested = freeing(block);
    real.free_aligned_sized(block, alignment, bytes);
    real_end(nested);
}
