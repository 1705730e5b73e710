/* SPDX-License-Identifier: BSD-3-Clause */
/* one_run.h: what the commands about one run have in common: which run, which of its regions. */
#pragma once

#include "command.h"

#include <stddef.h>

/* What the command line says; texts are borrowed from it. */
struct one_run_choice {
    size_t id;          /* 0: the newest */
    const char *name;   /* of this benchmark; NULL: of all */
    const char *region; /* NULL: not said */
    bool native;        /* with the interpreter's frames between two functions of its code */
};

/* Codes of the long options; a command's own begin at ONE_RUN_OWN. */
enum one_run_option {
    ONE_RUN_ID = COMMAND_OWN,
    ONE_RUN_NAME,
    ONE_RUN_REGION,
    ONE_RUN_NATIVE,
    ONE_RUN_OWN,
};

// clang-format off
#define ONE_RUN_OPTIONS                                   \
    COMMAND_OUTPUT_OPTIONS,                               \
    {"run",    required_argument, NULL, ONE_RUN_ID},      \
    {"name",   required_argument, NULL, ONE_RUN_NAME},    \
    {"region", required_argument, NULL, ONE_RUN_REGION},  \
    {"native", no_argument,       NULL, ONE_RUN_NATIVE}
// clang-format on

/*
 * Handle an option of these, with getopt's optarg. Returns -1 when the command goes on, else the
 * exit status to end with.
 */
int one_run_option(const struct command *command, int option, char *const *arguments,
                   struct one_run_choice *choice,
                   struct command_output *output) _must_check_ _nonnull_;

/*
 * Load the chosen run of the store of @where, STORE or STORE@WHAT (selection.h): that with the
 * id, or the newest of those runs. 0; a negative errno and @fault. End with run_finish().
 */
int one_run_load(const char *where, const struct one_run_choice *choice, struct run *ret_run,
                 struct fault *fault) _must_check_ _nonnull_;

/*
 * The instance of the region @name that added most at its peak; of all marked regions when it is
 * NULL, of "process" where none is marked. NULL when there is no such region.
 */
const struct profile_region *one_run_region(const struct run *run,
                                            const char *name) _must_check_;
