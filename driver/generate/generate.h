/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.h: tables out of a number.
 *
 * The same options give the same bytes on every machine; the same columns, rows, seed and
 * fraction of nulls give the same values in every format.
 */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stdint.h>

#define GENERATE_NULLS_UNSAID (-1.0)

struct generate_options {
    const char *preset; /* NULL with a schema */
    const char *schema; /* "name:datatype[arraysize],..."; NULL with a preset */
    uint64_t rows;
    enum serialization format; /* not SERIALIZATION_NONE */
    uint64_t seed;
    double null_fraction;     /* of cells that can be null, 0 to 1; or GENERATE_NULLS_UNSAID */
    uint64_t line_characters; /* of base64, a multiple of 4; 0: one line */
    bool cdata;
    const char *path;        /* "-" is standard output */
    const char *stream_file; /* name of a file beside it that has the STREAM's data; or NULL */
};

/* The presets' names in order; NULL behind the last. */
const char *generate_preset_name(unsigned index);

/*
 * Returns 0, or a negative errno with a problem; -EINVAL for what is wrong with the options:
 * the problem is then not about the file. @ret_bad_path is the file that could not be written.
 */
int generate_run(const struct generate_options *options, const char **ret_bad_path,
                 struct problem *problem) _must_check_ _nonnull_;
