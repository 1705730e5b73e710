/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * commands.h: votdriver's commands that have a file of their own, and what they share.
 *
 * A command is given its arguments with the program's name in front, and returns an
 * enum exit_code.
 */
#pragma once

#include "attributes.h"
#include "votable.h"

#include <getopt.h>
#include <stdint.h>

int cmd_check(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_stats(int argc, char **argv);

/* Say @what, unless NULL: getopt has said it. And where help is. Returns the exit code. */
int command_usage(const char *what);

/*
 * The options that say how much a document may ask for, for getopt_long(): what they return has
 * its bits beyond all characters.
 */
enum command_limit {
    COMMAND_MAX_FIELDS = 0x1000,
    COMMAND_MAX_DEPTH,
    COMMAND_MAX_TAG_BYTES,
};

#define COMMAND_LIMIT_OPTIONS                                                                  \
    {"max-fields", required_argument, NULL, COMMAND_MAX_FIELDS},                               \
        {"max-depth", required_argument, NULL, COMMAND_MAX_DEPTH}, {                           \
        "max-tag-bytes", required_argument, NULL, COMMAND_MAX_TAG_BYTES                        \
    }

/*
 * Take the option @choice, one of these, with its argument. Returns 0, or -1 after a message:
 * also for what is none of them, and for the '?' of getopt_long().
 */
int command_limit(int choice, const char *text, struct read_limits *limits) _must_check_;

/* A whole number from 1, the argument of --@option. Returns 0, or -1 after a message. */
int command_number(const char *option, const char *text,
                   uint64_t *ret_number) _must_check_ _nonnull_;

/* The serialization of this name. Returns 0, or -1 after a message. */
int command_format(const char *name, enum serialization *ret_format) _must_check_ _nonnull_;

/* Print a warning of the file whose path @context is, for read_options.warn. */
void command_warn(void *context, const struct warning *warning);

/* All that was printed must have arrived. Returns the exit code. */
int command_end_report(void) _must_check_;
