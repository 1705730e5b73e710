/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_victim: a short run whose trace has something of everything, for damage to spoil.
 *
 *     damage_victim exit|kill THREADS INSTANCES STEPS
 *
 * Threads allocate by some dozen stacks, and map. Half of the steps are done before the first
 * region; then "outer" begins, and inside of it "inner" as often as INSTANCES says. Half-way
 * the trace (VOTRACE_OUTPUT) is copied to a file with .early behind its name. At last the
 * program exits, or kills itself while the other threads still work.
 */
#include <votrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 64

struct worker {
    uint64_t random;
    void *blocks[BLOCKS];
};

static atomic_bool stop;

static uint64_t next(uint64_t *random) {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* Stacks that share their outer frames: one for each `way` of 1 to 31. */
__attribute__((noinline)) static void *allocate(uint64_t way, size_t bytes) {
    void *block;
    if (way <= 1)
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

static void work(struct worker *worker, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t what = next(&worker->random);
        void **block = &worker->blocks[what / 16 % BLOCKS];
        if (what % 16 < 2 && *block != NULL) {
            void *moved = realloc(*block, 1 + what / 4096 % 5000);
            *block = moved != NULL ? moved : *block;
        } else {
            free(*block);
            *block = what % 16 < 7 ? NULL : allocate(what / 1024 % 32, what / 65536 % 3000);
        }
        if (i % 100 == 99) {
            void *pages = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (pages != MAP_FAILED)
                munmap(pages, 8192);
        }
    }
}

static void *work_on(void *data) {
    struct worker worker = {.random = (uint64_t)(uintptr_t)data * 7919 + 1};
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        work(&worker, 100);
    for (unsigned i = 0; i < BLOCKS; i += 2) /* the others leak: something is live at the end */
        free(worker.blocks[i]);
    return NULL;
}

/* Not through stdio, whose buffers would be in the trace. */
static void copy_trace(void) {
    const char *path = getenv("VOTRACE_OUTPUT");
    char early[4096], buffer[4096];
    if (path == NULL)
        return;
    snprintf(early, sizeof(early), "%s.early", path);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = open(early, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t count;
    while ((count = read(from, buffer, sizeof(buffer))) > 0)
        if (write(to, buffer, (size_t)count) != count)
            break;
    close(from);
    close(to);
}

int main(int argc, char **argv) {
    static struct worker worker = {.random = 12345};
    pthread_t threads[16];
    if (argc != 5)
        return 2;
    long thread_count = strtol(argv[2], NULL, 10);
    long instances = strtol(argv[3], NULL, 10);
    uint64_t steps = strtoull(argv[4], NULL, 10);
    if (thread_count < 1 || thread_count > 16 || instances < 1)
        return 2;

    for (long i = 1; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work_on, (void *)i) != 0)
            return 1;
    work(&worker, steps / 2);
    votrace_region_begin("outer");
    for (long i = 0; i < instances; i++) {
        if (i == instances / 2)
            copy_trace();
        votrace_region_begin("inner");
        work(&worker, steps / 2 / (uint64_t)instances);
        votrace_region_end("inner");
    }
    if (strcmp(argv[1], "kill") == 0) {
        votrace_region_begin("last");
        work(&worker, 100);
        kill(getpid(), SIGKILL);
    }
    votrace_region_end("outer");
    work(&worker, 100);
    atomic_store(&stop, true);
    for (long i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
