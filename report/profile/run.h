/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.h: one stored measurement: a benchmark's name and parameters, where and how the program
 * ran, and its profile.
 */
#pragma once

#include "attributes.h"
#include "origin.h"
#include "profile.h"

#include <stdbool.h>
#include <stdio.h>

#define RUN_UUID_BYTES 37 /* with its NUL */

struct run_param {
    const char *key;
    const char *value;
};

/* How the program ended, as far as the launcher or the trace could tell. */
enum run_outcome {
    RUN_UNKNOWN,  /* imported: its exit status was never seen */
    RUN_EXITED,   /* status is the exit status */
    RUN_SIGNALED, /* status is the signal's number */
};

struct run {
    int64_t id;        /* in its store; 0 before it is stored */
    int64_t parent_id; /* the run in the same store that started its process; 0: none known */
    char uuid[RUN_UUID_BYTES];
    char set_uuid[RUN_UUID_BYTES]; /* shared by the repeats that were started together */
    uint32_t repeat;               /* from 1 */
    const char *benchmark;
    const struct run_param *params; /* param_count, by key */
    size_t param_count;
    const char *host;
    const char *kernel;
    const char *machine; /* its architecture */
    struct origin origin;
    enum run_outcome outcome;
    int status;
    bool pruned; /* its sites and timelines were dropped from the store, its totals kept */
    int64_t max_rss_bytes; /* most that was resident of the process, as its trace says, else the
                              launcher (launch.h); 0: not known */
    struct profile profile; /* its arena owns all the strings above */
};

/* Write a new random uuid (version 4). Returns 0 or a negative errno. */
int run_uuid_make(char ret_uuid[RUN_UUID_BYTES]) _must_check_ _nonnull_;

/*
 * Give @run, whose profile is there, its name, its parameters (copied, sorted by key) and the
 * facts of this machine. @params may be NULL when there are none. Returns 0, -EEXIST when a key
 * comes twice, -ENOMEM.
 */
int run_describe(struct run *run, const char *benchmark, const struct run_param *params,
                 size_t param_count) _must_check_;

/*
 * Why its numbers are not those of a whole, successful run: NULL when they are. Constant text.
 */
const char *run_is_unfit(const struct run *run) _nonnull_;

/* "(format=binary, rows=20000)", with its parentheses; nothing without parameters. */
void run_params_write(FILE *stream, const struct run_param *params, size_t count);

/* Order by benchmark name, then by parameters; 0 when both are the same. */
int run_compare_benchmark(const struct run *a, const struct run *b) _nonnull_;

void run_finish(struct run *run) _nonnull_;
