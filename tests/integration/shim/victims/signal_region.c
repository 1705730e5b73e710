/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not edited: it knows of no regions. Twice it is sent SIGUSR2 before and
 * after it allocates, 100 and 200 bytes; between them it reads from a pipe while a signal
 * comes, and the read goes on afterwards. errno is kept.
 */
#include "victim.h"

static int pipe_ends[2];

static void *interrupt(void *main_thread) {
    usleep(50000);
    pthread_kill(*(pthread_t *)main_thread, SIGUSR2);
    usleep(50000);
    return write(pipe_ends[1], "x", 1) == 1 ? main_thread : NULL;
}

int main(void) {
    struct sigaction found;
    sigaction(SIGUSR2, NULL, &found);
    /* Without the library the signal would end the program. */
    if (found.sa_handler == SIG_DFL)
        signal(SIGUSR2, SIG_IGN);
    pthread_t self = pthread_self(), thread;
    char byte = 0;
    void *ok = NULL;

    errno = 4711;
    raise(SIGUSR2);
    void *block = opaque(malloc(100));
    raise(SIGUSR2);
    opaque(malloc(1000));
    raise(SIGUSR2);
    free(block);
    opaque(malloc(200));
    if (errno != 4711 || pipe(pipe_ends) != 0 ||
        pthread_create(&thread, NULL, interrupt, &self) != 0)
        return 1;
    if (read(pipe_ends[0], &byte, 1) != 1)
        return 2;
    pthread_join(thread, &ok);
    printf("%c\n", byte);
    return ok == NULL;
}
