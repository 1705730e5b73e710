/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that waits for its signals itself, blocked as they are: 1000 of them to the process,
 * each of which it must get, and between them blocks from many stacks. It has one thread.
 */
#include "victim.h"

#include <dirent.h>

static int count_threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count - 2;
}

int main(void) {
    struct timespec second = {1, 0};
    sigset_t set;
    int got = 0;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    votrace_region_begin("v");
    for (unsigned i = 0; i < 1000; i++) {
        kill(getpid(), i % 2 == 0 ? SIGUSR1 : SIGTERM);
        descend(i, 10, 40);
        int wanted = i % 2 == 0 ? SIGUSR1 : SIGTERM;
        got += sigtimedwait(&set, NULL, &second) == wanted;
    }
    votrace_region_end("v");
    printf("%d %d\n", got, count_threads());
    return 0;
}
