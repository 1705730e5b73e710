/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h: a file that appears whole or not at all.
 *
 * Bytes go to a new file beside the wanted one, which takes its place at the end. Standard
 * output, devices and pipes are written directly.
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>

#define OUTPUT_BUFFER_BYTES 65536

/* Errors stick: after the first one nothing is written, and output_commit() returns it. */
struct output {
    int fd;
    char *path;      /* to be replaced, links resolved; NULL: written directly */
    char *temporary; /* what is written until then */
    int error;       /* negative errno of the first failure, or 0 */
    size_t used;
    char buffer[OUTPUT_BUFFER_BYTES];
};

/* Open for @path, or standard output for "-". Returns 0, or a negative errno with a problem. */
int output_open(struct output *ret_output, const char *path,
                struct problem *problem) _must_check_ _nonnull_;

/* Write what is left and put the file in place. Returns as above. Abandon comes after it. */
int output_commit(struct output *output, struct problem *problem) _must_check_ _nonnull_;

/* Free everything, and remove the file when it was not committed. */
void output_abandon(struct output *output) _nonnull_;

/* Room for @bytes, at most OUTPUT_BUFFER_BYTES; what was put there is kept by output_keep(). */
char *output_room(struct output *output, size_t bytes) _nonnull_;

static inline void output_keep(struct output *output, size_t bytes) {
    output->used += bytes;
}

void output_text(struct output *output, const char *text, size_t length) _nonnull_;
void output_format(struct output *output, const char *format, ...) _printf_(2, 3) _nonnull_;
