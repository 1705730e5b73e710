/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection.h: which runs of a store speak for it: of every benchmark the newest, and with it
 * the repeats that were started together with it.
 */
#pragma once

#include "attributes.h"
#include "store.h"

struct selection {
    struct run *runs; /* loaded, in order of benchmarks */
    size_t count;
};

/* 0; -ENODATA when the store holds no runs; other negative errno. On failure @fault. */
int selection_load_newest(struct store *store, struct selection *ret_selection,
                          struct fault *fault) _must_check_ _nonnull_;

void selection_finish(struct selection *selection) _nonnull_;
