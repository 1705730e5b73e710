/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allocate_forever: allocate as fast as it goes in nested regions until somebody kills it.
 *
 *     allocate_forever THREADS
 *
 * A line is printed when the region "outer" has begun. It stays open; "inner" comes and goes.
 */
#include <votrace.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BLOCKS 500

static uint64_t next(uint64_t *random) {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* Stacks that share their outer frames. */
__attribute__((noinline)) static void *allocate(uint64_t way, size_t bytes) {
    void *block;
    if (way == 0)
        return malloc(bytes);
    if (way % 2 == 0) {
        block = allocate(way / 2, bytes);
        __asm__ volatile("" ::: "memory");
    } else {
        block = allocate(way / 2, bytes);
        __asm__ volatile("nop" ::: "memory");
    }
    return block;
}

static void *work(void *data) {
    uint64_t random = (uint64_t)(uintptr_t)data * UINT64_C(0x9e3779b97f4a7c15) + 1;
    void *blocks[BLOCKS] = {0};
    for (uint64_t i = 0;; i++) {
        uint64_t what = next(&random);
        void **block = &blocks[what / 16 % BLOCKS];
        if (what % 16 < 2 && *block != NULL) {
            *block = realloc(*block, 1 + what % 5000);
        } else {
            free(*block);
            *block = what % 16 < 8 ? NULL : allocate(what / 1024 % 256, what % 3000);
        }
        if (i % 64 == 0)
            munmap(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
        if (i % 100 == 50)
            votrace_region_begin("inner");
        if (i % 100 == 99)
            votrace_region_end("inner");
    }
    return NULL;
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    votrace_region_begin("outer");
    puts("begun");
    fflush(stdout);
    for (long i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 1;
    }
    work(NULL);
    return 0;
}
