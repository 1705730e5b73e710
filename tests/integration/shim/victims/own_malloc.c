/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_malloc.c: an allocator that signal handlers may interrupt and call: lists of free blocks
 * by powers of two, changed by one compare-and-swap. It maps its memory itself, by libc's mmap.
 *
 * It begins under a lock, as others do: what calls it meanwhile from the same thread waits for ever.
 *
 * As a library, preloaded behind libvotrace, it lets handlers allocate in the middle of the
 * recorder; inside a program it is a malloc that no preloaded library ever sees.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES ((size_t)8 << 30) /* of addresses */
#define CLASSES     34
#define TAG_SHIFT   48
#define ADDRESS     ((UINT64_C(1) << TAG_SHIFT) - 1)

/* In front of each block; @next is the next free one while it is free itself. */
struct head {
    _Atomic uint64_t next;
    uint64_t class;
};

static _Atomic uint64_t lists[CLASSES]; /* address, and a count against ABA above it */
static _Atomic uintptr_t arena;
static _Atomic size_t arena_used;

static uintptr_t begin(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (atomic_load(&arena) == 0) {
        void *mapped = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped != MAP_FAILED)
            atomic_store(&arena, (uintptr_t)mapped);
    }
    pthread_mutex_unlock(&lock);
    return atomic_load(&arena);
}

static void *take_fresh(size_t bytes) {
    uintptr_t start = atomic_load(&arena);
    if (start == 0)
        start = begin();
    if (start == 0)
        return NULL;
    size_t at = atomic_fetch_add(&arena_used, bytes);
    return at + bytes <= ARENA_BYTES ? (void *)(start + at) : NULL;
}

/* libc's own parameter names are reserved. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

void *malloc(size_t bytes) {
    uint64_t class = 5;
    while (class < CLASSES && (UINT64_C(1) << class) < bytes)
        class ++;
    if (class == CLASSES) {
        errno = ENOMEM;
        return NULL;
    }
    uint64_t first = atomic_load(&lists[class]);
    while ((first & ADDRESS) != 0) {
        struct head *head = (struct head *)(uintptr_t)(first & ADDRESS);
        uint64_t tag = (first >> TAG_SHIFT) + 1;
        uint64_t next = (atomic_load(&head->next) & ADDRESS) | tag << TAG_SHIFT;
        if (atomic_compare_exchange_weak(&lists[class], &first, next))
            return head + 1;
    }
    struct head *head = take_fresh(sizeof(*head) + ((size_t)1 << class));
    if (head == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    head->class = class;
    return head + 1;
}

void free(void *block) {
    if (block == NULL)
        return;
    struct head *head = (struct head *)block - 1;
    uint64_t first = atomic_load(&lists[head->class]);
    uint64_t mine;
    do {
        atomic_store(&head->next, first & ADDRESS);
        mine = (uintptr_t)head | ((first >> TAG_SHIFT) + 1) << TAG_SHIFT;
    } while (!atomic_compare_exchange_weak(&lists[head->class], &first, mine));
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = malloc(bytes);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

void *realloc(void *block, size_t bytes) {
    void *copy = malloc(bytes);
    if (block == NULL || copy == NULL)
        return copy;
    size_t old_bytes = (size_t)1 << ((struct head *)block - 1)->class;
    memcpy(copy, block, old_bytes < bytes ? old_bytes : bytes);
    free(block);
    return copy;
}

/* Without it libc's is there, and knows nothing of these blocks. */
#ifndef WITHOUT_USABLE_SIZE
size_t malloc_usable_size(void *block) {
    return block == NULL ? 0 : (size_t)1 << ((struct head *)block - 1)->class;
}
#endif

/* Aligned to 16 only, which is all that the victims ask for. */
void *aligned_alloc(size_t alignment, size_t bytes) {
    return alignment <= 16 ? malloc(bytes) : NULL;
}

void *memalign(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, bytes);
}

int posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
    void *block = aligned_alloc(alignment, bytes);
    if (block == NULL)
        return ENOMEM;
    *ret_block = block;
    return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
