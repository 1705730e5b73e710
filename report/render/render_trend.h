/* SPDX-License-Identifier: BSD-3-Clause */
/* render_trend.h: a number over commits, for people and for scripts. */
#pragma once

#include "attributes.h"
#include "term.h"
#include "trend.h"

struct render_trend {
    const char *benchmark;
    const char *region;
    enum metric metric;
    size_t last; /* commits listed of each series, the newest */
};

/* Returns 0 or -ENOMEM; the other two -EIO, too. */
int render_trend_text(const struct term *term, const struct trend *trends, size_t count,
                      const struct render_trend *options) _must_check_ _nonnull_;

/* Every commit of every series. */
int render_trend_json(FILE *stream, const struct trend *trends, size_t count,
                      const struct render_trend *options) _must_check_ _nonnull_;
int render_trend_csv(FILE *stream, const struct trend *trends, size_t count,
                     const struct render_trend *options) _must_check_ _nonnull_;
