/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 2000 signals mark regions at any moment, also in the middle of the recorder, while the
 * program allocates as fast as it can. At the end it has freed all and sends one more where the
 * number is odd.
 */
#include <sys/time.h>
#include <time.h>

#include "victim.h"

static volatile bool done;

static void *send_signals(void *main_thread) {
    for (int i = 0; i < 2000; i++) {
        struct timespec pause = {.tv_nsec = 20000};
        pthread_kill(*(pthread_t *)main_thread, SIGUSR2);
        nanosleep(&pause, NULL);
    }
    done = true;
    return NULL;
}

int main(void) {
    struct sigaction found;
    sigaction(SIGUSR2, NULL, &found);
    if (found.sa_handler == SIG_DFL)
        signal(SIGUSR2, SIG_IGN);
    pthread_t self = pthread_self(), thread;
    if (pthread_create(&thread, NULL, send_signals, &self) != 0)
        return 1;
    void *blocks[16] = {NULL};
    for (unsigned i = 0; !done; i++) {
        free(blocks[i % 16]);
        blocks[i % 16] = opaque(malloc(i % 1000));
    }
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 16; i++)
        free(blocks[i]);
    puts("done");
    return 0;
}
