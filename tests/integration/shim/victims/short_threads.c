/* SPDX-License-Identifier: BSD-3-Clause */
/* 10,000 threads, one block of 10 bytes each; what libc allocates for them goes as well. */
#include "victim.h"

static void *work(void *data) {
    free(opaque(malloc(10)));
    return data;
}

int main(void) {
    votrace_region_begin("v");
    for (int i = 0; i < 1250; i++) {
        pthread_t threads[8];
        for (int t = 0; t < 8; t++)
            if (pthread_create(&threads[t], NULL, work, NULL) != 0)
                return 1;
        for (int t = 0; t < 8; t++)
            pthread_join(threads[t], NULL);
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
