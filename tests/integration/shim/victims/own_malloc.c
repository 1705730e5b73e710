/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_malloc.c: an allocator that signal handlers may interrupt and call: lists of free blocks
 * by powers of two, changed by one compare-and-swap. It maps its memory itself, by libc's mmap.
 *
 * It begins and grows under a lock, as others do: who calls it meanwhile from the same thread waits
 * for ever.
 *
 * As a library, preloaded behind libvotrace, it lets handlers allocate in the middle of the
 * recorder; inside a program it is a malloc that no preloaded library ever sees.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
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

/*
 * What is accessible at first: all of it, or, inside a program, a little, so that it grows once. Free
 * waits for that as well.
 */
#ifdef GROWS
#define FIRST_BYTES ((size_t)16 << 10)
#else
#define FIRST_BYTES ARENA_BYTES
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic size_t arena_bytes;
static atomic_bool growing;

/* Reserve the addresses and make @bytes of them accessible. */
static void grow(size_t bytes) {
    pthread_mutex_lock(&lock);
    atomic_store(&growing, true);
    uintptr_t start = atomic_load(&arena);
    if (start == 0) {
        void *mapped = mmap(NULL, ARENA_BYTES, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        start = mapped != MAP_FAILED ? (uintptr_t)mapped : 0;
    }
    if (start != 0 && mprotect((void *)start, bytes, PROT_READ | PROT_WRITE) == 0) {
        atomic_store(&arena_bytes, bytes);
        atomic_store(&arena, start);
    }
    atomic_store(&growing, false);
    pthread_mutex_unlock(&lock);
}

static void *take_fresh(size_t bytes) {
    if (atomic_load(&arena) == 0)
        grow(FIRST_BYTES);
    uintptr_t start = atomic_load(&arena);
    size_t at = atomic_fetch_add(&arena_used, bytes);
    if (start == 0 || at + bytes > ARENA_BYTES)
        return NULL;
    if (at + bytes > atomic_load(&arena_bytes))
        grow(ARENA_BYTES);
    return at + bytes <= atomic_load(&arena_bytes) ? (void *)(start + at) : NULL;
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
    while (atomic_load(&growing))
        sched_yield();
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
