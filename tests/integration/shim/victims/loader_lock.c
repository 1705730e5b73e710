/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread allocates inside dl_iterate_phdr(), with the loader's lock, while another unwinds
 * for the first time and wants it: both must come to an end.
 */
#include <link.h>

#include "victim.h"

static pthread_barrier_t barrier;

static int inside(struct dl_phdr_info *info, size_t bytes, void *data) {
    int *first = data;
    if ((*first)++ > 0)
        return 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 200; i++) {
        usleep(500);
        free(opaque(malloc(50)));
    }
    return 0;
}

static void *iterate(void *data) {
    int first = 0;
    dl_iterate_phdr(inside, &first);
    return data;
}

static void *unwind(void *data) {
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < 200; i++)
        descend(i, 8, 60);
    return data;
}

int main(void) {
    pthread_t threads[2];
    alarm(30);
    pthread_barrier_init(&barrier, NULL, 2);
    votrace_region_begin("v");
    pthread_create(&threads[0], NULL, iterate, NULL);
    pthread_create(&threads[1], NULL, unwind, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    votrace_region_end("v");
    puts("done");
    return 0;
}
