/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split.h: one region of a profile as a profile of its own.
 *
 * A test suite marks a region for each test: thousands in one process. Apart, each is a benchmark
 * that can be compared alone, whatever ran before it, and in which process.
 */
#pragma once

#include "attributes.h"
#include "profile.h"

/*
 * Make @ret_part of @whole: the process and region @index (not 0) of it. The process keeps its
 * totals, but has one nameless site for each kind of memory and no timeline; of stacks there are
 * those of the region. It borrows strings, modules and timelines from @whole, which must outlive
 * it. 0 or -ENOMEM. End with profile_finish().
 */
int profile_split(const struct profile *whole, size_t index,
                  struct profile *ret_part) _must_check_ _nonnull_;
