/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h: what the commands that draw have in common: one store or two, and a file. */
#pragma once

#include "attributes.h"
#include "command.h"
#include "comparison.h"

struct picture_options {
    const char *output; /* NULL: standard output */
    const char *stores[2];
    size_t store_count;
    struct comparison_settings settings;
};

/* One store's runs as the side `after`, or two stores. */
struct picture {
    struct comparison comparison;
    bool two_sides;
};

enum { PICTURE_OUTPUT = 'o' };

// clang-format off
#define PICTURE_OPTIONS                                 \
    {"help",   no_argument,       NULL, COMMAND_HELP},  \
    {"output", required_argument, NULL, PICTURE_OUTPUT},\
    COMPARISON_OPTIONS,                                 \
    COMPARISON_NATIVE_OPTION
// clang-format on

/*
 * Take @option, which getopt_long() returned and the command itself does not know. Returns -1
 * when the command goes on, else the exit status.
 */
int picture_option(const struct command *command, int option, char *const *arguments,
                   struct picture_options *options) _must_check_ _nonnull_;

/* Take what is behind the options: one store or two. Returns as above. */
int picture_stores(const struct command *command, int count, char *const *arguments,
                   struct picture_options *options) _must_check_ _nonnull_;

/*
 * Load what @options name, and let @draw (0 or a negative errno) write it to the file. @context
 * is handed to @draw. Complains, and returns the exit status.
 */
int picture_write(const struct picture_options *options,
                  int (*draw)(FILE *stream, const struct picture *picture, void *context,
                              struct fault *fault),
                  void *context) _must_check_;
