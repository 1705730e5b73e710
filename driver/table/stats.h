/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h: what the cells of a table come to, column by column, in memory that does not grow
 * with rows.
 *
 * The figures of one table are the same in every serialization, as far as those can say it:
 * BINARY has no null flags, and TABLEDATA cannot tell null from empty.
 */
#pragma once

#include "attributes.h"
#include "consumer.h"
#include "exact_sum.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 stats_integer;

/*
 * nulls     cells that are null: an empty TD, a flag of BINARY2; a scalar that equals VALUES
 *           null (or a boolean that is '?') in BINARY, BINARY2 and FITS
 * items     in the cells that are not null; of char and unicodeChar the number of those cells
 * magic     of the items, those that equal VALUES null, or are '?' in a boolean
 * nan, inf  of the items; of complex numbers each part by itself
 * sum, low, high  of all other items: true and 1 are one, complex numbers their parts, which
 *           have no low and high; the sum is exact and rounded once
 * bytes     of all strings as UTF-8; each string of an array by itself
 * crc       zlib's crc32 of the strings, each followed by a newline
 */
struct column_stats {
    uint64_t nulls;
    uint64_t items;
    uint64_t magic;
    uint64_t nan;
    uint64_t inf;
    uint64_t numbers; /* that are in sum, low and high */
    bool real;        /* real_sum and the doubles have them */
    stats_integer integer_sum;
    int64_t integer_low, integer_high;
    struct exact_sum real_sum;
    double real_low, real_high;
    uint64_t bytes;
    uint32_t crc;
};

struct table_stats {
    const struct table *table;    /* borrowed */
    struct column_stats *columns; /* owned; one for each field */
};

struct stats {
    struct table_stats *tables; /* owned, in document order */
    size_t table_count;
};

/* Make @ret_consumer count into @ret_stats; both outlive the scan. Finish the stats. */
void stats_init(struct stats *ret_stats, struct consumer *ret_consumer) _nonnull_;
void stats_finish(struct stats *stats) _nonnull_;

/* The sum of a column of reals; infinite beyond the largest double. */
static inline double column_stats_sum(const struct column_stats *column) {
    return exact_sum_value(&column->real_sum);
}
