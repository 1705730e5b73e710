/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h: a file that appears whole or not at all.
 *
 * Bytes go to a new file beside the wanted one, which takes its place at the end. Standard
 * output, devices and pipes are written directly. A name that ends in .gz is compressed.
 * Signals that end the program remove the new file.
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_BUFFER_BYTES 65536

/* Errors stick: after the first one nothing is written, and output_commit() returns it. */
struct output {
    int fd;
    struct output_gzip *gzip; /* NULL: as they come */
    uint64_t written;         /* bytes that left the buffer, before compression */
    char *path;               /* to be replaced, links resolved; NULL: written directly */
    char *temporary;          /* what is written until then */
    int error;                /* negative errno of the first failure, or 0 */
    size_t used;
    char buffer[OUTPUT_BUFFER_BYTES];
};

/* Open for @path, or standard output for "-". Returns 0, or a negative errno with a problem. */
int output_open(struct output *ret_output, const char *path,
                struct problem *problem) _must_check_ _nonnull_;

/* A file without a name, to be read back; it goes when it is abandoned. Returns as above. */
int output_open_spool(struct output *ret_output,
                      struct problem *problem) _must_check_ _nonnull_;

/* Hand all of a spool to @take, from the start. Returns 0 or the first error of the spool. */
int output_replay(struct output *spool,
                  void (*take)(void *context, const char *bytes, size_t length), void *context,
                  struct problem *problem) _must_check_ _nonnull_;

/* Write what is left and put the file in place. Returns as above. Abandon comes after it. */
int output_commit(struct output *output, struct problem *problem) _must_check_ _nonnull_;

/* Free everything, and remove the file when it was not committed. */
void output_abandon(struct output *output) _nonnull_;

/* Write out what the buffer holds. */
void output_flush(struct output *output) _nonnull_;

/* Room for @bytes, at most OUTPUT_BUFFER_BYTES; what was put there is kept by output_keep(). */
static inline char *output_room(struct output *output, size_t bytes) {
    if (sizeof(output->buffer) - output->used < bytes)
        output_flush(output);
    return output->buffer + output->used;
}

static inline void output_keep(struct output *output, size_t bytes) {
    output->used += bytes;
}

/* Not inlined where it is long: most texts are a few bytes. */
void output_long_text(struct output *output, const char *text, size_t length) _nonnull_;

static inline void output_text(struct output *output, const char *text, size_t length) {
    if (length > sizeof(output->buffer) - output->used) {
        output_long_text(output, text, length);
        return;
    }
    memcpy(output->buffer + output->used, text, length);
    output->used += length;
}

void output_format(struct output *output, const char *format, ...) _printf_(2, 3) _nonnull_;
