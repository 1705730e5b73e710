/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.h: run a program under libvotrace.so and find the trace it left.
 *
 * The environment is changed for the program alone. Traces go to a private folder that
 * launch_finish() removes, whatever happened.
 */
#pragma once

#include "attributes.h"
#include "fault.h"
#include "vector.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_settings {
    const char *library;  /* absolute path of libvotrace.so */
    const char *stacks;   /* VOTRACE_STACKS, NULL: as the environment says */
    const char *depth;    /* VOTRACE_DEPTH, likewise */
    const char *children; /* VOTRACE_CHILDREN, likewise */
    const char *usable;   /* VOTRACE_USABLE, likewise */
    const char *region;   /* VOTRACE_REGION, likewise */
    const char *signal;   /* VOTRACE_SIGNAL, likewise */
};

/* A trace that the program left besides that of its own end. */
struct launch_other {
    char *path;
    uint64_t start_ns; /* since 1970 */
};

struct launch {
    char program[PATH_MAX]; /* absolute path of what is executed */
    char folder[PATH_MAX];  /* "" when there is none */
    char trace[PATH_MAX];   /* of the program itself; "" until it was found */
    int wait_status;        /* as of waitpid() */
    /*
     * Largest resident size of the process, ru_maxrss of wait4(2). The kernel lets a process
     * begin with the largest size of the one that started it, so that what is not above our own
     * is ours: then it is 0, not known.
     */
    int64_t max_rss_bytes;
    int pid;
    size_t replaced_count; /* traces of programs that the same process was before an exec */
    size_t other_count;    /* traces of other processes */
    struct vector others;  /* struct launch_other, oldest first: those of both kinds that begin
                              like a trace */
    bool blocked;          /* signals are: from the start of the program to launch_finish() */
    sigset_t mask_before;
};

/*
 * Find libvotrace.so: $VOTRACE_LIBRARY, else where it is installed or built, relative to this
 * executable. 0, or -ENOENT and @fault.
 */
int launch_find_library(char ret_path[PATH_MAX], struct fault *fault) _must_check_ _nonnull_;

/*
 * Find @program like a shell does, and see whether votrace can be preloaded into it: it exists,
 * may be executed, is dynamically linked for the architecture of @library, and gains no
 * privileges. Scripts are judged by their interpreter. Changes nothing.
 *
 * 0 and @ret_path, or a negative errno and @fault.
 */
int launch_check(const char *program, const char *library, char ret_path[PATH_MAX],
                 struct fault *fault) _must_check_ _nonnull_;

/*
 * Does @program, as launch_check() found it, bring its own malloc? Then what it allocates by
 * that is not seen. Only the executable itself is looked at, a script's interpreter for it.
 */
bool launch_brings_malloc(const char *program) _nonnull_;

/*
 * Have the kernel give what we start from now on, and what that starts, the same addresses each
 * time, or random ones, as it does otherwise. 0, or a negative errno when that may not be changed:
 * a container's filter of system calls may forbid it.
 */
int launch_set_addresses(bool fixed) _must_check_;

/* Has what we start fixed addresses? Also when whoever started us saw to that. */
bool launch_addresses_are_fixed(void);

/*
 * Run @arguments (ended by NULL, [0] as typed) and wait. Terminal interrupts are left to the
 * program; termination signals to us are passed on to it. 0, or a negative errno and @fault
 * when it could not be started.
 */
int launch_run(struct launch *launch, const struct launch_settings *settings,
               char *const *arguments, struct fault *fault) _must_check_ _nonnull_;

/* The status a shell would report: the exit status, or 128 + the signal. */
int launch_exit_code(const struct launch *launch) _nonnull_;

/*
 * Find the trace of the process that ran, and the others. 0; -ENOENT and @fault when it
 * left none.
 */
int launch_find_trace(struct launch *launch, struct fault *fault) _must_check_ _nonnull_;

/*
 * Forget the others; remove the folder and every trace in it, unless @keep. Signals that came
 * since the program started are delivered after that.
 */
void launch_finish(struct launch *launch, bool keep) _nonnull_;
