/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 1 kHz timer allocates, frees, maps and unmaps in its handler while the program is busy with
 * mappings, so that handlers land inside the recorder. Every one of them is counted.
 */
#include <sys/time.h>

#include "victim.h"

static volatile sig_atomic_t ticks;
static void *last;

static void tick(int signal_number) {
    int saved_errno = errno;
    free(last);
    last = malloc(24);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    errno = saved_errno;
    ticks++;
}

int main(void) {
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    struct itimerval off = {{0, 0}, {0, 0}};
    struct votrace_region_totals totals;
    signal(SIGALRM, tick);
    votrace_region_begin("v");
    setitimer(ITIMER_REAL, &timer, NULL);
    while (ticks < 1500) {
        void *pages = mmap(NULL, 12288, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pages = mremap(pages, 12288, 16384, MREMAP_MAYMOVE);
        munmap((char *)pages + 4096, 4096);
        munmap(pages, 16384);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    votrace_region_end("v");
    if (votrace_region_query("v", &totals, sizeof(totals)) == 0 &&
        (totals.allocations != (uint64_t)ticks || totals.frees != (uint64_t)ticks - 1 ||
         totals.live_peak_bytes - totals.live_start_bytes != 24)) {
        printf("%d ticks, %lu allocations, %lu frees\n", (int)ticks,
               (unsigned long)totals.allocations, (unsigned long)totals.frees);
        return 1;
    }
    free(last);
    puts("done");
    return 0;
}
