/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 1 kHz timer's handler allocates on one thread, which maps, unmaps and marks regions without
 * pause, while main allocates: 500 blocks of 24 bytes by the handler, each counted. When all is
 * quiet main's block of 1 MiB beside the handler's last is the peak: 1,048,600 bytes.
 */
#include "crew.h"

#include <sys/time.h>

#define TICKS 500

static _Atomic int ticks;
static void *last;

static void tick(int signal_number) {
    int saved_errno = errno;
    if (atomic_load(&ticks) < TICKS) {
        void *block = malloc(24);
        free(last);
        last = block;
        atomic_fetch_add(&ticks, 1);
    }
    errno = saved_errno;
}

static void *work(void *data) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    crew_meet();
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    while (atomic_load(&ticks) < TICKS) {
        votrace_region_begin("inner");
        void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page, 4096);
        votrace_region_end("inner");
        usleep(20);
    }
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    crew_meet();
    return data;
}

int main(void) {
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    struct votrace_region_totals totals;
    uint64_t blocks = 0;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    signal(SIGALRM, tick);
    crew_start(1, work);
    votrace_region_begin("v");
    crew_meet();
    setitimer(ITIMER_REAL, &timer, NULL);
    while (atomic_load(&ticks) < TICKS)
        descend((unsigned)blocks++, 5, 100);
    timer = (struct itimerval){.it_value = {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    crew_meet();
    free(opaque(malloc((size_t)1 << 20)));
    votrace_region_end("v");
    if (votrace_region_query("v", &totals, sizeof(totals)) == 0 &&
        totals.allocations != blocks + TICKS + 1)
        printf("%lu blocks, %lu counted\n", (unsigned long)(blocks + TICKS + 1),
               (unsigned long)totals.allocations);
    crew_join();
    free(last);
    puts("done");
    return 0;
}
