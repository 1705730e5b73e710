/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 100 generations of 20 threads. Each thread frees 5 blocks that the generation before left, one
 * of them in the destructor of a key, and leaves 5 of its own, of 40 bytes. When they are gone,
 * main holds a block that makes live one byte more than at any time before: two generations'
 * blocks can be live at once, 2 * 100 * 40, and then a byte more each time: 8100 bytes.
 * Allocations: 2000 * 5 + 100. Threads whose stacks libc has cached cost no allocation.
 */
#include "victim.h"

#define GENERATIONS 100
#define THREADS     20
#define BLOCKS      5
#define SIZE        ((size_t)40)

static pthread_key_t key;
static void *left[THREADS][BLOCKS];

static void *work(void *data) {
    void **mine = data;
    if (data == NULL)
        return NULL;
    pthread_setspecific(key, mine[0]);
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (i > 0)
            free(mine[i]);
        mine[i] = opaque(descend_to(i, 3, SIZE));
    }
    return NULL;
}

static void run_generation(bool idle) {
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)128 << 10);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &attributes, work, idle ? NULL : left[i]) != 0)
            _exit(99);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
}

int main(void) {
    pthread_key_create(&key, free);
    run_generation(true);
    votrace_region_begin("v");
    for (size_t i = 1; i <= GENERATIONS; i++) {
        run_generation(false);
        free(opaque(malloc(THREADS * BLOCKS * SIZE + i)));
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
