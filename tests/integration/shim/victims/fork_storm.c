/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 1000 forks while 3 threads allocate. Each child allocates, in the state that the
 * others' locks happened to be in, and exits. The threads count their blocks themselves: 200
 * bytes each at most, and main's 5000 at the end are the peak.
 */
#include "crew.h"

#define FORKS 1000

static _Atomic bool stop;
static _Atomic uint64_t blocks;

static void *work(void *data) {
    uint64_t mine = 0;
    crew_meet();
    while (!atomic_load(&stop)) {
        void *one = opaque(malloc(100));
        free(opaque(descend_to((unsigned)mine, 4, 100)));
        free(one);
        mine += 2;
        if (mine % 64 == 0)
            usleep(1); /* or two processors are too few for all of this */
    }
    atomic_fetch_add(&blocks, mine);
    crew_meet();
    return data;
}

static int fork_one(void) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < 20; i++)
            descend(i, 4, 100);
        _exit(7);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

int main(void) {
    struct votrace_region_totals totals;
    int failed = 0;
    alarm(50);
    crew_start(3, work);
    votrace_region_begin("v");
    crew_meet();
    for (int i = 0; i < FORKS; i++)
        failed += fork_one();
    stop = true;
    crew_meet();
    free(opaque(malloc(5000)));
    votrace_region_end("v");
    crew_join();
    if (votrace_region_query("v", &totals, sizeof(totals)) == 0 &&
        totals.allocations != blocks + 1)
        printf("%lu blocks, %lu counted\n", (unsigned long)blocks + 1,
               (unsigned long)totals.allocations);
    printf("%d\n", failed);
    return 0;
}
