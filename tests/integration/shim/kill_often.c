/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kill_often: run a program and kill it with SIGKILL at a random moment, many times; check what
 * each time is left in its trace.
 *
 *     kill_often LIBVOTRACE FOLDER TIMES STACKS PROGRAM [ARGUMENT...]
 *
 * The program prints a line when it is under way. Prints one TAP line, and as a comment how
 * often the kill hit the middle of an event.
 */
#include "trace_check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct outcome {
    unsigned in_event;
    unsigned lagging;
    char fault[512];
};

static uint64_t next(uint64_t *random) {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* Run the program, wait for its line, then for @delay_ns, and kill it. Returns 0 or -1. */
static int run_and_kill(char **command, const char *lib, const char *stacks, const char *trace,
                        long delay_ns) {
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        setenv("LD_PRELOAD", lib, 1);
        setenv("VOTRACE_STACKS", stacks, 1);
        setenv("VOTRACE_OUTPUT", trace, 1);
        execv(command[0], command);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &byte, 1);
    nanosleep(&(struct timespec){.tv_nsec = delay_ns}, NULL);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    return got == 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -1;
}

static const void *map_trace(const char *path, size_t *ret_size) {
    struct stat status;
    void *bytes = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return NULL;
    *ret_size = (size_t)status.st_size;
    return bytes;
}

/* "outer" is region 1, open, with a peak; the process is running as far as the trace knows. */
static void check_story(const struct trace_check *check, struct outcome *outcome) {
    const struct trace_header *header = check->header;
    const struct trace_completeness *completeness = &header->completeness;
    const struct trace_region *outer = header->region_count > 1 ? check->regions[1] : NULL;
    if (header->state != TRACE_RUNNING)
        snprintf(outcome->fault, sizeof(outcome->fault), "state %u", header->state);
    else if (outer == NULL || strcmp(outer->name, "outer") != 0 || !outer->open)
        snprintf(outcome->fault, sizeof(outcome->fault), "the region is not open");
    else if (outer->space[TRACE_HEAP].peak.bytes == 0)
        snprintf(outcome->fault, sizeof(outcome->fault), "no peak");
    else if (completeness->events_lost + completeness->unknown_frees +
                 completeness->file_refused + completeness->table_refused !=
             0)
        snprintf(outcome->fault, sizeof(outcome->fault), "not complete");
    outcome->in_event += header->updating != 0;
    outcome->lagging += check->lag_space >= 0;
}

static void check_trace(const char *path, struct outcome *outcome) {
    struct trace_check check;
    size_t size = 0;
    const void *bytes = map_trace(path, &size);
    if (bytes == NULL) {
        snprintf(outcome->fault, sizeof(outcome->fault), "no trace");
        return;
    }
    if (trace_check(&check, bytes, size) < 0)
        snprintf(outcome->fault, sizeof(outcome->fault), "%s", check.fault);
    else
        check_story(&check, outcome);
    trace_check_finish(&check);
    munmap((void *)(uintptr_t)bytes, size);
}

int main(int argc, char **argv) {
    struct outcome outcome = {0};
    char trace[1024];
    if (argc < 6)
        return 2;
    unsigned times = (unsigned)strtoul(argv[3], NULL, 10);
    uint64_t random = (uint64_t)time(NULL) * 7919 + (uint64_t)getpid();
    printf("# first random number %llu\n", (unsigned long long)random);
    for (unsigned i = 0; i < times && outcome.fault[0] == '\0'; i++) {
        snprintf(trace, sizeof(trace), "%s/killed.%u.vtr", argv[2], i);
        long delay_ns = (long)(next(&random) % 12000000);
        if (run_and_kill(argv + 5, argv[1], argv[4], trace, delay_ns) < 0)
            snprintf(outcome.fault, sizeof(outcome.fault), "the program ended by itself");
        else
            check_trace(trace, &outcome);
        if (outcome.fault[0] == '\0')
            unlink(trace);
    }
    printf("# %u of %u kills inside an event, %u of them with totals behind the rows\n",
           outcome.in_event, times, outcome.lagging);
    if (outcome.fault[0] != '\0')
        printf("# %s: %s\n", trace, outcome.fault);
    return outcome.fault[0] != '\0';
}
