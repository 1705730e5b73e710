/* SPDX-License-Identifier: BSD-3-Clause */
/* store_series.h: lists of numbers in one column of a region; only store_*.c include it. */
#pragma once

#include "profile.h"
#include "store_sql.h"

/* What goes into region.sizes and region_timeline.packed; NULL: nothing is known. */
struct store_series {
    char *sizes;
    unsigned char *timeline;
    size_t timeline_bytes;
};

/* 0 or -ENOMEM. */
int store_series_write(const struct profile_region *region,
                       struct store_series *ret_series) _must_check_ _nonnull_;
void store_series_finish(struct store_series *series) _nonnull_;

/*
 * The other way round, into @arena. Returns 0; -EBADMSG when it is no such list; -ENOMEM. A
 * timeline is packed; before version 3 it was text as sizes are.
 */
int store_series_read_sizes(const char *text, struct arena *arena,
                            struct profile_region *region) _must_check_ _nonnull_;
int store_series_read_timeline(const unsigned char *packed, size_t size, struct arena *arena,
                               struct profile_region *region) _must_check_ _nonnull_;
int store_series_read_old_timeline(const char *text, struct arena *arena,
                                   struct profile_region *region) _must_check_ _nonnull_;
