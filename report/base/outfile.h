/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outfile.h: a file for results that appears whole or not at all.
 *
 * What is written goes to a new file beside the wanted one, which takes its place at the end:
 * a full disk or a mistake on the way leaves what was there. Standard output, devices and pipes
 * are written directly.
 */
#pragma once

#include "attributes.h"
#include "fault.h"

#include <stdio.h>

struct outfile {
    FILE *stream;
    char *path;      /* to be replaced, links resolved; NULL: written directly */
    char *temporary; /* what is written until then */
};

/*
 * Open for @path, or standard output when it is NULL or "-". Returns 0, or a negative errno and
 * @fault. End with outfile_commit() or outfile_abandon().
 */
int outfile_open(const char *path, struct outfile *ret_file, struct fault *fault) _must_check_;

/* Put the file in place. 0; a negative errno and @fault, then what was there is unchanged. */
int outfile_commit(struct outfile *file, struct fault *fault) _must_check_ _nonnull_;

/* Close, and leave what was there. */
void outfile_abandon(struct outfile *file) _nonnull_;
