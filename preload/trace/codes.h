/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codes.h: functions of interpreted code, noted in the trace as they appear in stacks.
 *
 * A function is known by its name, its file and the line it begins at, not by where the
 * interpreter keeps it: it has one id however often it is made. Not thread-safe: the recorder's
 * lock guards it.
 */
#pragma once

#include "tracefile.h"

#include <stddef.h>
#include <stdint.h>

#define CODES_TEXT_MAX 4096u /* bytes of a name or a path; the rest is cut */

struct code_place {
    uint64_t hash;
    const struct trace_code *record; /* in the trace; NULL: a free place */
    uint32_t id;
};

struct codes {
    struct tracefile *file;
    struct code_place *places;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
    char function[CODES_TEXT_MAX]; /* scratch: the stack may be a signal handler's */
    char path[CODES_TEXT_MAX];
};

/* What a function is called, in UTF-8, not terminated. */
struct code_names {
    const char *function;
    const char *path;
    uint32_t function_bytes;
    uint32_t path_bytes;
    uint32_t first_line;
};

/* Nothing is known; or no longer, for a trace that is begun anew. */
void codes_restart(struct codes *codes, struct tracefile *file);

/* The id of that function, from 1; 0 when no memory is to be had. */
uint32_t codes_id(struct codes *codes, const struct code_names *names);

/* The address that a frame of code @id at @line has in the trace. */
static inline uint64_t codes_address(uint32_t id, uint32_t line) {
    if (line > TRACE_CODE_LINE_MAX)
        line = 0;
    return TRACE_CODE_FRAME | (uint64_t)id << TRACE_CODE_LINE_BITS | line;
}
