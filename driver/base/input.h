/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h: the bytes of a file, gunzipped where they need it. */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>

struct input {
    struct gzFile_s *gz; /* zlib's handle, owned */
};

/* Open @path, or standard input for "-". Returns 0, or a negative errno with a problem. */
int input_open(const char *path, struct input *ret_input,
               struct problem *problem) _must_check_ _nonnull_;

/* The same for what a document names: nothing but a regular file will do. */
int input_open_regular(const char *path, struct input *ret_input,
                       struct problem *problem) _must_check_ _nonnull_;
void input_close(struct input *input) _nonnull_;

/* Fill @buffer as far as there is anything; 0 bytes at the end. Errors as above. */
int input_read(struct input *input, char *buffer, unsigned size, size_t *ret_bytes,
               struct problem *problem) _must_check_ _nonnull_;
