/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys' destructors free, and allocate again: 20 threads, 3 blocks each, all freed. */
#include "victim.h"

static pthread_key_t key;

static void destroy(void *block) {
    static _Thread_local int again;
    free(block);
    if (again++ == 0)
        pthread_setspecific(key, opaque(malloc(300)));
    free(opaque(malloc(4000)));
}

static void *work(void *data) {
    pthread_setspecific(key, opaque(malloc(1000)));
    return data;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&key, destroy);
    votrace_region_begin("v");
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    votrace_region_end("v");
    puts("done");
    return 0;
}
