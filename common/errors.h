/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors.h: how a votrace program speaks to its user.
 *
 * One line on stderr, `PROGRAM: what is wrong, what to do`, for input mistakes
 * `PROGRAM: FILE:LINE: ...`. Only main and the commands print; libraries return codes.
 */
#pragma once

#include "attributes.h"

#include <stdint.h>

/* Exit statuses of every program here; the man pages list them. */
enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_REGRESSION = 1, /* gate: it ran, and memory grew beyond the limits */
    EXIT_CODE_TROUBLE = 2,    /* the question could not be answered: usage, input, system */
};

/* Set the name in front of every message; borrowed for the life of the program. */
void errors_set_program(const char *name) _nonnull_;

/* Print `PROGRAM: message`, one line whatever is in the arguments: control bytes become `?`. */
void complain(const char *format, ...) _printf_(1, 2);

/* Print `PROGRAM: FILE:LINE: message`; @lineno counts from 1, and 0 leaves it out. */
void complain_at(const char *file, uint64_t lineno, const char *format, ...) _printf_(3, 4);
