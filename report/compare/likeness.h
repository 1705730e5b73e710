/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * likeness.h: may the numbers of two runs be compared?
 *
 * What a program asks of the allocator depends on its architecture, its C library and its
 * allocator; how long it takes, on the processor, too. What is not known of a run is not taken
 * for different.
 */
#pragma once

#include "attributes.h"
#include "metric.h"
#include "run.h"

/*
 * Why @metric of @before and @after says nothing about a change: "another allocator: glibc
 * before, libjemalloc.so.2 after". "" when it does say something; NULL when there is no memory.
 * free() it.
 */
char *likeness_fault(const struct run *before, const struct run *after,
                     enum metric metric) _must_check_ _nonnull_;
