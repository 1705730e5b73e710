/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step_events: run a program one instruction at a time and check its trace after each of them.
 *
 *     step_events LIBVOTRACE TRACE PROGRAM [ARGUMENT...]
 *
 * A kill can come between any two instructions: this is all of them. The program says by two
 * SIGSTOPs from where to where. Exit status 0 when every state held, 77 where ptrace() is not
 * allowed.
 */
#include "trace_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_BYTES_MAX ((size_t)64 << 20)

struct tally {
    unsigned long steps;
    unsigned long checks;
    unsigned long in_event;
    unsigned long lagging;
};

static int start_stopped(char **command, const char *lib, const char *trace, pid_t *ret_child) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_PRELOAD", lib, 1);
        setenv("VOTRACE_OUTPUT", trace, 1);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        execv(command[0], command);
        _exit(127);
    }
    /* Stopped at exec; then on to the first SIGSTOP. */
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSTOP) {
            *ret_child = child;
            return 0;
        }
        ptrace(PTRACE_CONT, child, NULL, NULL);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? -EPERM : -ECHILD;
}

/* The file grows under the mapping, which reaches far enough. */
static int check_now(int fd, const unsigned char *bytes, struct tally *tally) {
    struct trace_check check;
    struct stat status;
    if (fstat(fd, &status) != 0 || (size_t)status.st_size > TRACE_BYTES_MAX)
        return -1;
    int r = trace_check(&check, bytes, (size_t)status.st_size);
    tally->checks++;
    tally->in_event += check.header->updating != 0;
    tally->lagging += check.lag_space >= 0;
    if (r < 0)
        printf("# after %lu instructions: %s\n", tally->steps, check.fault);
    trace_check_finish(&check);
    return r;
}

/* What of the trace an instruction can have changed: small enough to compare every time. */
static uint64_t fingerprint(const unsigned char *bytes) {
    const struct trace_header *header = (const void *)bytes;
    uint64_t sum = 0;
    for (uint64_t at = 0; at + 8 <= header->used_bytes; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static int step_through(pid_t child, int fd, const unsigned char *bytes, struct tally *tally) {
    uint64_t before = 0;
    int status;
    for (;;) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
            waitpid(child, &status, 0) != child)
            return -1;
        if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP)
            return 0;
        tally->steps++;
        uint64_t now = fingerprint(bytes);
        if (now == before)
            continue;
        before = now;
        if (check_now(fd, bytes, tally) < 0)
            return -1;
    }
}

int main(int argc, char **argv) {
    struct tally tally = {0};
    pid_t child = 0;
    if (argc < 4)
        return 2;
    int r = start_stopped(argv + 3, argv[1], argv[2], &child);
    if (r < 0)
        return r == -EPERM ? 77 : 1;
    int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
    unsigned char *bytes = mmap(NULL, TRACE_BYTES_MAX, PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || bytes == MAP_FAILED) {
        puts("# no trace");
        kill(child, SIGKILL);
        return 1;
    }
    r = step_through(child, fd, bytes, &tally);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("# %lu instructions, %lu states of the trace, %lu inside an event, %lu of them with "
           "totals behind the rows\n",
           tally.steps, tally.checks, tally.in_event, tally.lagging);
    /* A run that never saw the inside of an event has shown nothing. */
    return r < 0 || tally.in_event == 0 || tally.lagging == 0;
}
