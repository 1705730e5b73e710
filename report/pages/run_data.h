/* SPDX-License-Identifier: BSD-3-Clause */
/* run_data.h: the runs behind a page's rows, as its data: facts, gaps, regions, live heap over time. */
#pragma once

#include "attributes.h"
#include "context.h"

/* Write all runs that context_run() has seen. 0 or -ENOMEM. */
int run_data_write(struct context *context, const char *key) _must_check_ _nonnull_;

/*
 * Write the timeline of @region: [ns, bytes, then differences of both ...], in as many points as
 * a picture can show; null where none was kept.
 */
void run_data_write_timeline(struct json *json, const char *key,
                             const struct profile_region *region) _nonnull_;
