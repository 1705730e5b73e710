/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c: what dlopen_module loads. */
#include <stdlib.h>

void *module_allocate(size_t bytes);

void *module_allocate(size_t bytes) {
    void *block = malloc(bytes);
    __asm__ volatile("" ::: "memory");
    return block;
}
