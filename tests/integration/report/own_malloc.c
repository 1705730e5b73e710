/* SPDX-License-Identifier: BSD-3-Clause */
/* own_malloc.c: a program that brings its own malloc, for everybody to use. */
#include <stddef.h>

void *malloc(size_t bytes);
void free(void *block);

static _Alignas(16) unsigned char heap[1 << 20];
static size_t used;

void *malloc(size_t bytes) {
    size_t room = (bytes + 15) & ~(size_t)15;
    if (room < bytes || room > sizeof(heap) - used)
        return NULL;
    used += room;
    return heap + used - room;
}

void free(void *block) {
    (void)block;
}

int main(void) {
    return malloc(1000) == NULL;
}
