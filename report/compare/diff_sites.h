/* SPDX-License-Identifier: BSD-3-Clause */
/* diff_sites.h: what made the difference of a row, by call site; for diff.c alone. */
#pragma once

#include "attributes.h"
#include "diff.h"

/*
 * Fill @row's sites with those that differ in @metric, which has a tree; both sides are there
 * and have rows. Returns 0 or -ENOMEM; diff_finish() frees what there is.
 */
int diff_sites_find(struct diff_row *row, enum metric metric) _must_check_ _nonnull_;
