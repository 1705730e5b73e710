/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h: one command of votreport each, and what all of them do alike. */
#pragma once

#include "attributes.h"
#include "errors.h"
#include "fault.h"
#include "run.h"
#include "store.h"
#include "term.h"

#include <getopt.h>

struct command {
    const char *name;
    const char *summary; /* one line in votreport --help */
    const char *help;    /* all of votreport NAME --help */
    /* @arguments[0] is the command's name. Returns an exit status. */
    int (*run)(int argument_count, char **arguments);
};

extern const struct command cmd_check;
extern const struct command cmd_diff;
extern const struct command cmd_dump;
extern const struct command cmd_export;
extern const struct command cmd_flame;
extern const struct command cmd_gate;
extern const struct command cmd_html;
extern const struct command cmd_import;
extern const struct command cmd_list;
extern const struct command cmd_merge;
extern const struct command cmd_prune;
extern const struct command cmd_run;
extern const struct command cmd_show;
extern const struct command cmd_sql;
extern const struct command cmd_top;
extern const struct command cmd_trend;

/* Codes of the long options that several commands have; their own begin at COMMAND_OWN. */
enum command_option {
    COMMAND_HELP = 'h',
    COMMAND_JSON = 256,
    COMMAND_COLOR,
    COMMAND_BYTES,
    COMMAND_OWN,
};

// clang-format off
#define COMMAND_OUTPUT_OPTIONS                          \
    {"help",  no_argument,       NULL, COMMAND_HELP},   \
    {"json",  no_argument,       NULL, COMMAND_JSON},   \
    {"color", required_argument, NULL, COMMAND_COLOR},  \
    {"bytes", no_argument,       NULL, COMMAND_BYTES}
// clang-format on

/* How a listing is to look. */
struct command_output {
    bool json;
    bool exact_bytes;
    enum term_when color;
};

/*
 * Handle an option that all commands share. Returns -1 when the command goes on, else the exit
 * status to end with. @option is what getopt_long() returned.
 */
int command_common_option(const struct command *command, int option, char *const *arguments,
                          struct command_output *output) _must_check_ _nonnull_;

/* Complain about the command line and return EXIT_CODE_TROUBLE. */
int command_usage(const struct command *command, const char *format, ...) _printf_(2, 3);

/* Complain about @path with the words of @fault and return EXIT_CODE_TROUBLE. */
int command_fault(const char *path, const struct fault *fault) _nonnull_;

/* One line about @path when its recorder missed what can make a sum wrong. */
void command_note_gaps(const char *path, const struct profile *profile) _nonnull_;

/* The exit status after output: trouble when stdout could not take it (a full disk). */
int command_flush(int status) _must_check_;

/*
 * A number of the command line from 1 to @most. Returns -1 when the command goes on; complains and
 * returns the exit status when @text is none.
 */
int command_count(const struct command *command, const char *option, const char *text,
                  size_t most, size_t *ret_count) _must_check_ _nonnull_;
