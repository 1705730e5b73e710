/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem.c: the first problem wins, because those that follow are mostly its consequences.
 *
 * Never allocates: one of the problems is that there is no memory.
 */
#include "problem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int problem_set(struct problem *problem, int code, uint64_t lineno, const char *format, ...) {
    if (problem->code != 0)
        return problem->code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    problem->code = code;
    problem->lineno = lineno;
    return code;
}

int problem_set_memory(struct problem *problem) {
    return problem_set(problem, -ENOMEM, 0,
                       "memory ran out, free some or parse it with --strategy stream");
}
