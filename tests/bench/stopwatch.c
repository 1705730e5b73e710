/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopwatch.c: run a program and write how long it took, and how much of it was resident.
 *
 * Linked statically, so that it can stand between a profiler's launcher and the program:
 * LD_PRELOAD passes through it without taking effect on it. Started inside `heaptrack`, it
 * gives the program's own time, while one around `heaptrack` gives the time until its data is
 * whole.
 *
 * The resident peak is the kernel's ru_maxrss of the one child, the largest that the process
 * ever was. A child inherits it from whoever started it, through exec(): this program is
 * smaller than any that is linked dynamically, so that what is inherited never shows.
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static double in_seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int write_figures(const char *path, int64_t elapsed_ns, const struct rusage *usage) {
    FILE *file = fopen(path, "w");
    if (!file)
        return -errno;
    fprintf(file, "%.6f %ld %.6f\n", (double)elapsed_ns / 1e9, usage->ru_maxrss,
            in_seconds(usage->ru_utime) + in_seconds(usage->ru_stime));
    return fclose(file) == 0 ? 0 : -errno;
}

/* Exit status as a shell gives it: 128 + the signal for a program that was killed. */
static int shell_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    if (argc < 3 || argv[1][0] == '-') {
        fprintf(stderr, "Usage: stopwatch FILE PROGRAM [ARGUMENT...]\n"
                        "Run the program and write to FILE the seconds it took, the KiB that\n"
                        "were resident at its peak, and the seconds of processor time.\n");
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }

    pid_t pid;
    int64_t began_ns = now_ns();
    int error = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
    if (error != 0) {
        fprintf(stderr, "stopwatch: cannot run %s: %s\n", argv[2], strerror(error));
        return 127;
    }
    int status;
    struct rusage usage;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return 2;
    int64_t elapsed_ns = now_ns() - began_ns;

    int result = write_figures(argv[1], elapsed_ns, &usage);
    if (result < 0) {
        fprintf(stderr, "stopwatch: cannot write %s: %s\n", argv[1], strerror(-result));
        return 2;
    }
    return shell_status(status);
}
