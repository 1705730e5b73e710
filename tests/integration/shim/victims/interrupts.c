/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A storm of SIGALRM and SIGCHLD, without SA_RESTART, while the trace grows by 30,000 stacks:
 * system calls of the recorder that are interrupted are made again.
 */
#include "victim.h"

#include <sys/time.h>

static volatile sig_atomic_t signals;

static void count(int signal_number) {
    signals++;
}

int main(void) {
    struct itimerval timer = {{0, 100}, {0, 100}};
    struct sigaction action = {.sa_handler = count};
    int reaped = 0;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    votrace_region_begin("v");
    for (int i = 0; i < 50; i++)
        if (fork() == 0)
            _exit(0);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (unsigned i = 0; i < 30000; i++)
        descend(i, 15, 20);
    /* A fast machine is through with that before the storm has begun. */
    while (signals <= 20)
        descend(0, 15, 20);
    timer = (struct itimerval){.it_value = {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    votrace_region_end("v");
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        reaped++;
    printf("%d %d\n", reaped >= 50, signals > 0);
    return 0;
}
