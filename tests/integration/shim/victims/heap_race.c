/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads hand blocks on to each other, resize and free them: 200,000 steps, no block left.
 */
#include <stdatomic.h>

#include "victim.h"

static _Atomic(void *) slots[64];

static _Atomic uint64_t calls;

static void *work(void *data) {
    unsigned seed = (unsigned)(uintptr_t)data + 1;
    uint64_t own_calls = 0;
    for (int i = 0; i < 50000; i++) {
        void *block = atomic_exchange(&slots[rand_r(&seed) % 64], NULL);
        size_t bytes = 1 + (size_t)rand_r(&seed) % (i % 100 == 0 ? 300000 : 600);
        if (block == NULL || rand_r(&seed) % 2 == 0) {
            block = realloc(block, bytes);
            own_calls++;
        }
        free(atomic_exchange(&slots[rand_r(&seed) % 64], block));
    }
    calls += own_calls;
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    votrace_region_begin("v");
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 64; i++)
        free(slots[i]);
    votrace_region_end("v");
    struct votrace_region_totals totals;
    bool measured = votrace_region_query("v", &totals, sizeof(totals)) == 0;
    /* Four descriptors of threads may stay in libc's cache of stacks. */
    int wrong =
        measured && (totals.allocations - calls > 4 || totals.allocations - totals.frees > 4);
    printf("%d\n", wrong);
    return wrong;
}
