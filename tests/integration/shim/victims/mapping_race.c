/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads map, remap and unmap at once, so that the kernel hands a hole on before its
 * unmapping is booked: in the end nothing is mapped.
 */
#include "victim.h"

static void *work(void *data) {
    unsigned seed = (unsigned)(uintptr_t)data;
    for (int i = 0; i < 20000; i++) {
        size_t bytes = 4096 * (1 + (size_t)rand_r(&seed) % 3);
        char *pages = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (rand_r(&seed) % 4 == 0) {
            pages = mremap(pages, bytes, bytes * 2, MREMAP_MAYMOVE);
            bytes *= 2;
        }
        if (rand_r(&seed) % 4 == 0 && bytes > 4096) {
            munmap(pages, 4096);
            pages += 4096;
            bytes -= 4096;
        }
        munmap(pages, bytes);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    votrace_region_begin("v");
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    votrace_region_end("v");
    puts("done");
    return 0;
}
