/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storing.h: what the commands that store runs have in common: where they go, and what they are
 * called.
 */
#pragma once

#include "command.h"
#include "run.h"
#include "vector.h"

struct storing {
    const char *db;
    const char *name;     /* of the benchmark; NULL: not said */
    struct vector params; /* struct run_param */
    const char *commit;   /* NULL: find it, likewise branch */
    const char *branch;
};

/* Codes of their long options; a command's own begin at STORING_OWN. */
enum storing_option {
    STORING_DB = COMMAND_OWN,
    STORING_NAME,
    STORING_PARAM,
    STORING_COMMIT,
    STORING_BRANCH,
    STORING_OWN,
};

// clang-format off
#define STORING_OPTIONS                                   \
    {"help",   no_argument,       NULL, COMMAND_HELP},    \
    {"db",     required_argument, NULL, STORING_DB},      \
    {"name",   required_argument, NULL, STORING_NAME},    \
    {"param",  required_argument, NULL, STORING_PARAM},   \
    {"commit", required_argument, NULL, STORING_COMMIT},  \
    {"branch", required_argument, NULL, STORING_BRANCH}
// clang-format on

/* Nothing said yet. End with storing_finish(). */
void storing_init(struct storing *storing) _nonnull_;

/*
 * Handle an option of these, with getopt's optarg, or of all commands. Returns -1 when the command
 * goes on, else the exit status to end with.
 */
int storing_option(const struct command *command, int option, char *const *arguments,
                   struct storing *storing) _must_check_ _nonnull_;

/* After the last option: complain about what is missing or empty. Returns like the other. */
int storing_check(const struct command *command,
                  const struct storing *storing) _must_check_ _nonnull_;

void storing_finish(struct storing *storing) _nonnull_;
