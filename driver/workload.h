/* SPDX-License-Identifier: BSD-3-Clause */
/* workload.h: one measured parse, and what is told about it. */
#pragma once

#include "attributes.h"
#include "votable.h"

#include <stdbool.h>

struct workload_options {
    const char *path; /* "-" is standard input */
    enum strategy strategy;
    bool json;
};

/* Parse and report on stdout; problems go to stderr. Returns an enum exit_code. */
int workload_run(const struct workload_options *options) _must_check_ _nonnull_;
