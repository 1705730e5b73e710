/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_memory.c: the wrappers that the linker's --wrap leads to. They count what is asked
 * for, and blocks that are not given back, and change nothing.
 */
#include "damage.h"

static struct {
    uint64_t requested_bytes;
    int64_t blocks;
} memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void __wrap_free(void *block);

static void *counted(void *block, size_t size) {
    memory.requested_bytes += size;
    memory.blocks += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size) {
    return counted(__real_malloc(size), size);
}

/* A product that overflows is refused by the real one, and small here. */
void *__wrap_calloc(size_t count, size_t size) {
    return counted(__real_calloc(count, size), count * size);
}

void *__wrap_realloc(void *block, size_t size) {
    void *other = __real_realloc(block, size);
    memory.requested_bytes += size;
    memory.blocks += block == NULL && other != NULL;
    return other;
}

void *__wrap_reallocarray(void *block, size_t count, size_t size) {
    void *other = __real_reallocarray(block, count, size);
    memory.requested_bytes += count * size;
    memory.blocks += block == NULL && other != NULL;
    return other;
}

void __wrap_free(void *block) {
    memory.blocks -= block != NULL;
    __real_free(block);
}

void damage_memory_begin(void) {
    memory.requested_bytes = 0;
    memory.blocks = 0;
}

uint64_t damage_memory_requested(void) {
    return memory.requested_bytes;
}

int64_t damage_memory_blocks(void) {
    return memory.blocks;
}
