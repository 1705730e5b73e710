/* SPDX-License-Identifier: BSD-3-Clause */
/* workload.h: measured parses of one file, and what is told about them. */
#pragma once

#include "attributes.h"
#include "votable.h"

#include <stdbool.h>
#include <stdint.h>

struct workload_options {
    char *path;               /* "-" is standard input */
    struct read_options read; /* consumer and warn are set here */
    bool json;
    bool discard;     /* decode, keep nothing */
    bool no_checksum; /* of what was kept */
    uint64_t
        repeat; /* parses of the same file, at least 1; each is an instance of the region */
};

/* Parse and report on stdout; problems and warnings go to stderr. Returns an enum exit_code. */
int workload_run(const struct workload_options *options) _must_check_ _nonnull_;
