/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * convert.h: the same document with its tables in another serialization.
 *
 * Rows stream through in constant memory. What is not DATA is written as it was read:
 * elements and attributes with their prefixes and namespaces, and text. Comments, processing
 * instructions and the DOCTYPE are no part of a document's content and are left out.
 */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stdint.h>

/* What the format cannot say. As warnings of the reader, and never another meaning. */
enum convert_warning {
    CONVERT_NULL = 51, /* a null that has no form: BINARY and FITS have none for bits, BINARY
                          none for integers without VALUES null */
    CONVERT_LENGTH,    /* a string longer than its arraysize, cut */
    CONVERT_ENCODING,  /* a char that is no UTF-8, taken as ISO-8859-1 */
    CONVERT_CONTROL,   /* a character that XML cannot hold, written as U+FFFD */
    CONVERT_UNICODE,   /* FITS: characters beyond ASCII, as UTF-8 */
    CONVERT_MAGIC,     /* FITS: a value that is what had to be chosen for null */
    CONVERT_ROWS,      /* BINARY and BINARY2: rows without cells */
};

struct convert_options {
    const char *path;        /* "-" is standard input */
    const char *output_path; /* "-" is standard output */
    enum serialization format;
    bool strict;
    struct read_limits limits;
    void (*warn)(void *context, const struct warning *warning);
    void *warn_context;
};

/*
 * Between votable_library_init() and _finish().
 * Returns 0, or a negative errno with a problem and the path of the file it is about. The
 * output then is as if nothing had been done.
 */
int convert_run(const struct convert_options *options, const char **ret_bad_path,
                struct problem *problem) _must_check_ _nonnull_;
