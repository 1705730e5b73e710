/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collector that stops the world: two threads allocate and are stopped by a signal wherever
 * they are, in the recorder too; the third maps and unmaps meanwhile, and lets them go.
 */
#include "victim.h"

#include <semaphore.h>

#define ROUNDS 150

static sem_t answer;
static volatile sig_atomic_t stopped;
static volatile bool done;
static sigset_t but_going_on;

static void stop(int signal_number) {
    sem_post(&answer);
    while (stopped)
        sigsuspend(&but_going_on);
    sem_post(&answer);
}

static void go_on(int signal_number) {
}

static void *churn(void *data) {
    void *blocks[64] = {0};
    for (unsigned i = 0; !done; i++) {
        free(blocks[i % 64]);
        blocks[i % 64] = malloc(16 + i % 200);
    }
    for (unsigned i = 0; i < 64; i++)
        free(blocks[i]);
    return NULL;
}

static void signal_both(const pthread_t threads[2], int number) {
    pthread_kill(threads[0], number);
    pthread_kill(threads[1], number);
    sem_wait(&answer);
    sem_wait(&answer);
}

int main(void) {
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = stop};
    sem_init(&answer, 0, 0);
    sigfillset(&but_going_on);
    sigdelset(&but_going_on, SIGUSR2);
    action.sa_mask = but_going_on;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = go_on;
    sigaction(SIGUSR2, &action, NULL);
    free(malloc(1 << 20));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, churn, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        usleep(300);
        stopped = 1;
        signal_both(threads, SIGUSR1);
        void *place = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(place, 65536);
        stopped = 0;
        signal_both(threads, SIGUSR2);
    }
    done = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
