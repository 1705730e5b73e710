/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c: what dlopen_module, deep_bind and other_namespace load. */
#include <stdlib.h>

void *module_allocate(size_t bytes);
void module_free(void *block);

void *module_allocate(size_t bytes) {
    void *block = malloc(bytes);
    __asm__ volatile("" ::: "memory");
    return block;
}

void module_free(void *block) {
    free(block);
    __asm__ volatile("" ::: "memory");
}
