/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * family.h: the runs of what a program left traces of besides itself: its children, and the
 * programs that it was before an exec.
 */
#pragma once

#include "attributes.h"
#include "importer.h"
#include "launch.h"

struct family {
    struct run *runs; /* count, oldest first */
    size_t count;
    size_t left_out;          /* traces that could not be read */
    struct fault first_fault; /* why, of the first */
    char *first_path;         /* of that trace; NULL when there is none */
};

/*
 * Read the other traces that @launch found. Their benchmarks are called after @settings->name
 * and the program: "make/cc1", the second of it "make/cc1#2"; parameters, set and repeat are
 * those of @program, which is the run they belong to.
 *
 * A trace that cannot be read is left out, and counted. Returns 0, or -ENOMEM. End with
 * family_finish().
 */
int family_read(const struct launch *launch, const struct importer_settings *settings,
                const struct run *program, struct family *ret_family) _must_check_ _nonnull_;

void family_finish(struct family *family) _nonnull_;
