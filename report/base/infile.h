/* SPDX-License-Identifier: BSD-3-Clause */
/* infile.h: what a descriptor has to read, into memory. */
#pragma once

#include "attributes.h"

#include <stddef.h>

/*
 * Read on until @most bytes or the end, through interruptions and short reads. Returns 0 or a
 * negative errno.
 */
int infile_take(int fd, void *ret_bytes, size_t most, size_t *ret_taken) _must_check_ _nonnull_;
