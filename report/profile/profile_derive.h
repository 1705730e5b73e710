/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_derive.h: what profile_*.c share while a trace becomes a profile; for them alone. */
#pragma once

#include "profile.h"

struct derivation {
    const struct trace *trace;
    struct profile *profile;
    struct fault *fault;
    struct profile_pair *process_live; /* by site */
    bool *touched;                     /* by site, in the region at hand */
    size_t next_rows;                  /* index into trace->rows: regions come in order */
    int lag_space; /* where rows were found ahead of a record, by one event; -1: nowhere */
    struct profile_pair lag;
};

/* All regions. 0; -EBADMSG or -ENOMEM and the derivation's fault. */
int profile_regions_derive(struct derivation *d) _must_check_ _nonnull_;

/*
 * What region @id has beside its totals and rows, which are there: sizes, timeline, usable
 * bytes, the time of its peak. 0; -EBADMSG or -ENOMEM and the derivation's fault.
 */
int profile_extras_derive(struct derivation *d, uint32_t id,
                          struct profile_region *region) _must_check_ _nonnull_;
