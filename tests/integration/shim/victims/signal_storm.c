/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_storm THREADS [maps]: threads allocate while signals hit them in the middle of the
 * recorder.
 *
 * With an allocator that permits handlers to allocate (own_malloc.c, preloaded), each handler
 * allocates and frees a block; those that come while the allocator runs are not the program's
 * events, so that the count lies between two. With "maps" it maps and unmaps a page instead,
 * which every handler may, and the blocks are exactly the threads'. The sums are exact: nothing
 * is left, and the last block, 100,000 bytes, is more than all ever held.
 */
#include "crew.h"

#define ROUNDS 2000

static _Atomic bool stop;
static _Atomic uint64_t blocks;
static _Atomic uint64_t handled;
static _Atomic uint64_t progress[CREW_MAX];

static void handle_with_page(int signal_number) {
    int saved_errno = errno;
    munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    errno = saved_errno;
}

static void handle(int signal_number) {
    uint64_t number = atomic_fetch_add(&handled, 1);
    free(opaque(malloc(24 + number % 1000)));
}

static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data;
    uint64_t mine = 0;
    crew_meet();
    while (!atomic_load(&stop)) {
        void *held = opaque(malloc(300));
        descend((unsigned)mine, 6, 50);
        held = opaque(realloc(held, 400));
        free(held);
        mine += 3;
        atomic_store(&progress[thread], mine);
    }
    atomic_fetch_add(&blocks, mine);
    crew_meet();
    return NULL;
}

/* To each thread that has come further since the last one. */
static void send_signals(void) {
    static uint64_t seen[CREW_MAX];
    for (uintptr_t thread = 0; thread < crew.count; thread++) {
        uint64_t now = atomic_load(&progress[thread]);
        if (now == seen[thread])
            continue;
        seen[thread] = now;
        pthread_kill(crew.threads[thread], SIGUSR1);
    }
}

int main(int argc, char **argv) {
    struct votrace_region_totals totals;
    uintptr_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    signal(SIGUSR1, argc > 2 ? handle_with_page : handle);
    crew_start(threads, work);
    votrace_region_begin("v");
    crew_meet();
    for (int i = 0; i < ROUNDS; i++) {
        send_signals();
        usleep(50);
    }
    stop = true;
    crew_meet();
    free(opaque(malloc(100000)));
    votrace_region_end("v");
    if (votrace_region_query("v", &totals, sizeof(totals)) == 0 &&
        (totals.allocations < blocks + 1 || totals.allocations > blocks + handled + 1 ||
         totals.allocations != totals.frees))
        printf("%lu blocks, %lu signals, %lu allocated, %lu freed\n", (unsigned long)blocks,
               (unsigned long)handled, (unsigned long)totals.allocations,
               (unsigned long)totals.frees);
    crew_join();
    puts("done");
    return 0;
}
