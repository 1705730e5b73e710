/* SPDX-License-Identifier: BSD-3-Clause */
/* store_series.h: lists of numbers in one column of a region; only store_*.c include it. */
#pragma once

#include "profile.h"
#include "store_sql.h"

/* What goes into the columns `sizes` and `timeline`; NULL: nothing is known. free() both. */
struct store_series {
    char *sizes;
    char *timeline;
};

/* 0 or -ENOMEM. */
int store_series_write(const struct profile_region *region,
                       struct store_series *ret_series) _must_check_ _nonnull_;
void store_series_finish(struct store_series *series) _nonnull_;

/*
 * The other way round, into @arena. NULL for @sizes or @timeline leaves @region as it is.
 * Returns 0; -EBADMSG when they are no such lists; -ENOMEM.
 */
int store_series_read(const char *sizes, const char *timeline, struct arena *arena,
                      struct profile_region *region) _must_check_;
