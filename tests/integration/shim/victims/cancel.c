/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is to be cancelled already allocates from 20,000 stacks: nothing on the way may
 * act on it, as open() or close() would. Then it asks, and is cancelled, and frees a block of
 * 500 bytes; as does another that is cancelled while it waits in read().
 */
#include "crew.h"

#include <fcntl.h>

static int ends[2];

static void *work(void *data) {
    void *block;
    char byte;
    crew_meet();
    block = opaque(malloc(500));
    pthread_cleanup_push(free, block);
    if (data == NULL) {
        pthread_cancel(pthread_self());
        for (unsigned i = 0; i < 20000; i++) {
            descend(i, 15, 20);
            if (i % 100 == 0) {
                votrace_region_begin("inner");
                munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
                votrace_region_end("inner");
            }
        }
        pthread_testcancel();
    } else if (read(ends[0], &byte, 1) > 0) {
        crew_meet();
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* Run both, and say how many were cancelled. */
static int run(void) {
    int cancelled = 0;
    crew_start(2, work);
    crew_meet();
    pthread_cancel(crew.threads[1]);
    for (int i = 0; i < 2; i++) {
        void *result = NULL;
        pthread_join(crew.threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    return cancelled;
}

int main(void) {
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 1;
    int cancelled = run(); /* loads what cancelling needs */
    votrace_region_begin("v");
    cancelled += run();
    votrace_region_end("v");
    printf("%d\n", cancelled);
    return 0;
}
