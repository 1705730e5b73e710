/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.c: blocks in a list, the youngest first; small pieces are cut from the youngest.
 *
 * A piece larger than a block gets a block of its own, put behind the youngest so that the room
 * left there is not lost.
 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)32 * 1024)

struct arena_block {
    struct arena_block *next;
    size_t used_bytes;
    size_t room_bytes;
    _Alignas(max_align_t) unsigned char data[];
};

static struct arena_block *block_new(size_t room_bytes) {
    struct arena_block *block = calloc(1, sizeof(*block) + room_bytes);
    if (block)
        block->room_bytes = room_bytes;
    return block;
}

static void *arena_take(struct arena *arena, size_t bytes) {
    struct arena_block *young = arena->blocks;
    bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);

    if (bytes > BLOCK_BYTES / 4) {
        struct arena_block *own = block_new(bytes);
        if (!own)
            return NULL;
        own->used_bytes = bytes;
        own->next = young ? young->next : NULL;
        if (young)
            young->next = own;
        else
            arena->blocks = own;
        return own->data;
    }
    if (!young || young->room_bytes - young->used_bytes < bytes) {
        young = block_new(BLOCK_BYTES);
        if (!young)
            return NULL;
        young->next = arena->blocks;
        arena->blocks = young;
    }
    void *piece = young->data + young->used_bytes;
    young->used_bytes += bytes;
    return piece;
}

void *arena_array(struct arena *arena, size_t count, size_t item_bytes) {
    size_t bytes;
    if (__builtin_mul_overflow(count, item_bytes, &bytes) || bytes > PTRDIFF_MAX - 4096)
        return NULL;
    return arena_take(arena, bytes > 0 ? bytes : 1);
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
    if (length >= PTRDIFF_MAX - 4096)
        return NULL;
    char *copy = arena_take(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void arena_finish(struct arena *arena) {
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
