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

int cmd_convert(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_stats(int argc, char **argv);

/* Say @what, unless NULL: getopt has said it. And where help is. Returns the exit code. */
int command_usage(const char *what);

/* The serialization of this name. Returns 0, or -1 after a message. */
int command_format(const char *name, enum serialization *ret_format) _must_check_ _nonnull_;

/* Print a warning of the file whose path @context is, for read_options.warn. */
void command_warn(void *context, const struct warning *warning);

/* All that was printed must have arrived. Returns the exit code. */
int command_end_report(void) _must_check_;
