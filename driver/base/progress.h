/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: a bar on a terminal, nothing anywhere else. */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;
    const char *unit; /* borrowed */
    uint64_t total;
    uint64_t next_ns; /* not drawn again before */
};

/* On stderr, when that is a terminal; @total 0 is never shown. */
void progress_begin(struct progress *ret_progress, const char *unit, uint64_t total) _nonnull_;
void progress_show(struct progress *progress, uint64_t done) _nonnull_;

/* Clear the line. */
void progress_end(struct progress *progress) _nonnull_;
