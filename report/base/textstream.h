/* SPDX-License-Identifier: BSD-3-Clause */
/* textstream.h: a text that is written by stdio, piece by piece, and taken as one string. */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdio.h>

struct textstream {
    FILE *stream;
    char *bytes;
    size_t size;
};

/* The stream to write to, or NULL when there is no memory. End with textstream_take(). */
FILE *textstream_begin(struct textstream *text) _must_check_ _nonnull_;

/* Close. Returns what was written, for free(); NULL when there was no memory for all of it. */
char *textstream_take(struct textstream *text) _must_check_ _nonnull_;
