/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.h: what is wrong with an input, where, and what to do about it. */
#pragma once

#include "attributes.h"

#include <stdint.h>

#define PROBLEM_TEXT_BYTES 512

/*
 * The first problem that was met. All zero means none.
 *
 * code    negative errno: -EBADMSG for what the file says wrongly, -ENOTSUP for what is right
 *         but not read here, -ENOMEM, or what the system call returned
 * lineno  from 1; 0 when it is about the whole file
 * text    "what is wrong, what to do", without the file's name
 */
struct problem {
    int code;
    uint64_t lineno;
    char text[PROBLEM_TEXT_BYTES];
};

/* Keep this problem unless there is one already. Returns the code of the one that is kept. */
int problem_set(struct problem *problem, int code, uint64_t lineno, const char *format, ...)
    _printf_(4, 5) _nonnull_;

/* The problem of having no memory left, in the same words everywhere. Returns -ENOMEM. */
int problem_set_memory(struct problem *problem) _nonnull_;
