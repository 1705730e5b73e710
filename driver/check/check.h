/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h: all that is wrong with a VOTable, by the standard of the document's version. */
#pragma once

#include "attributes.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>

struct check_options {
    bool json;
    bool all; /* every finding; otherwise one of each kind and a count */
    struct read_limits limits;
};

/*
 * Check one file ("-" is standard input) and print its findings on stdout, unreadable ones with
 * a line on stderr. Returns an enum exit_code: EXIT_CODE_REGRESSION is 1, there are findings.
 */
int check_run(const char *path, const struct check_options *options) _must_check_ _nonnull_;

/* Print every code with its severity and what it means, a line each. */
void check_print_codes(void);
