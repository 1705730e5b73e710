/* SPDX-License-Identifier: BSD-3-Clause */
/* 100,000 frames, a block at every 1000th: 101 blocks of 9 bytes. */
#include "victim.h"

__attribute__((noinline)) static void recurse(int levels) {
    void *block = levels % 1000 == 0 ? opaque(malloc(9)) : NULL;
    if (levels > 0)
        recurse(levels - 1);
    free(block);
    STAY_ON_STACK();
}

static void *work(void *data) {
    recurse(100000);
    return data;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
    votrace_region_begin("v");
    recurse(50000);
    votrace_region_end("v");
    votrace_region_begin("thread");
    pthread_create(&thread, &attributes, work, NULL);
    pthread_join(thread, NULL);
    votrace_region_end("thread");
    puts("done");
    return 0;
}
