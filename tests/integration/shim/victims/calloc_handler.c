/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A signal handler allocates 100 times while its thread is in calloc(), where libc clears a large
 * block and no lock is held: what it allocates is the program's, not the allocator's.
 */
#include <malloc.h>

#include "victim.h"

#define LARGE_BYTES  ((size_t)24 << 20)
#define HANDLER_RUNS 100

static volatile unsigned char *volatile place; /* where calloc() is going to put its block */
static pthread_t main_thread;
static volatile sig_atomic_t runs;

/* Only where the beginning is cleared and the end is not. */
static bool is_clearing(void) {
    volatile unsigned char *block = place;
    return block != NULL && block[4096] == 0 && block[LARGE_BYTES - 4096] != 0;
}

static void handler(int number) {
    if (runs == HANDLER_RUNS || !is_clearing())
        return;
    opaque(malloc(24));
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped, 4096);
    runs++;
}

static void *send_signals(void *data) {
    while (runs < HANDLER_RUNS)
        if (is_clearing())
            pthread_kill(main_thread, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    /* What keeps the large block from the end of the heap, and the handler from its place. */
    unsigned char *block = malloc(LARGE_BYTES);
    void *behind = opaque(malloc(100000));
    if (pthread_create(&thread, NULL, send_signals, NULL) != 0)
        return 1;
    votrace_region_begin("v");
    while (runs < HANDLER_RUNS) {
        memset(block, 0xaa, LARGE_BYTES);
        place = block;
        free(block);
        unsigned char *cleared = calloc(1, LARGE_BYTES);
        place = NULL;
        if (cleared != block)
            printf("elsewhere\n");
        block = cleared;
    }
    votrace_region_end("v");
    pthread_join(thread, NULL);
    free(block);
    free(behind);
    printf("%d\n", runs);
    return 0;
}
