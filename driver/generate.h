/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.h: tables out of a number.
 *
 * The same preset, rows, seed and format give the same bytes on every machine; the same preset,
 * rows and seed give the same values in every format.
 */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdint.h>

struct generate_options {
    const char *preset;
    uint64_t rows;
    enum serialization format; /* not SERIALIZATION_NONE */
    uint64_t seed;
    const char *path; /* "-" is standard output */
};

/* The presets' names in order; NULL behind the last. */
const char *generate_preset_name(unsigned index);

/* Returns 0; -EINVAL when there is no such preset; otherwise a negative errno. */
int generate_run(const struct generate_options *options,
                 struct problem *problem) _must_check_ _nonnull_;
