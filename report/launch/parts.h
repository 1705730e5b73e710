/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parts.h: a run whose regions are benchmarks of their own, by a list of which is which.
 *
 * The list is text: a line for each region has its name, a tab, and the name of the benchmark.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "fault.h"
#include "run.h"
#include "vector.h"

struct parts {
    struct arena arena;
    struct vector names; /* struct part_name */
};

/*
 * 0; -EINVAL and @fault with the line that is none, or the region of two benchmarks; another
 * negative errno. parts_finish().
 */
int parts_read(const char *path, struct parts *ret_parts,
               struct fault *fault) _must_check_ _nonnull_;

/*
 * Add to @runs (struct run) one for each region of the list that @whole has, the last instance of
 * each, which borrow from @whole. 0 or a negative errno; run_finish() those that were added either
 * way.
 */
int parts_split(const struct parts *parts, const struct run *whole,
                struct vector *runs) _must_check_ _nonnull_;

void parts_finish(struct parts *parts) _nonnull_;
