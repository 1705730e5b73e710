/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors are the program's: those that are open, and the next that are given. A byte
 * waits in one pipe and none in another while 200 blocks come from a stack that no table
 * describes, so that the unwinder looks for what it may read.
 */
#include "victim.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <ucontext.h>

static ucontext_t home, other;
static char stack[64 << 10];

static void run(void) {
    for (unsigned i = 0; i < 100; i++)
        descend(i, 5, 50);
}

static void run_aside(void) {
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof(stack);
    other.uc_link = &home;
    makecontext(&other, run, 0);
    swapcontext(&home, &other);
}

/* Bytes that wait in @fd. */
static int waiting(int fd) {
    int bytes = -1;
    ioctl(fd, FIONREAD, &bytes);
    return bytes;
}

int main(void) {
    int full[2], empty[2];
    int count = 0;
    votrace_region_begin("v");
    run_aside();
    for (int fd = 3; fd < 1000; fd++)
        count += fcntl(fd, F_GETFD) >= 0 && close(fd) == 0;
    if (pipe(full) != 0 || pipe(empty) != 0 || write(full[1], "x", 1) != 1)
        return 1;
    run_aside();
    votrace_region_end("v");
    printf("%d open, then %d %d %d %d, with %d and %d bytes\n", count, full[0], full[1],
           empty[0], empty[1], waiting(full[0]), waiting(empty[0]));
    return 0;
}
