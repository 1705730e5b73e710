/* SPDX-License-Identifier: BSD-3-Clause */
/* fits_headers.h: the cards of a FITS file on which everything else depends, before cfitsio. */
#pragma once

#include "attributes.h"
#include "fits_columns.h"
#include "problem.h"

#include <stdint.h>

/*
 * Look at the headers up to that of the table which source->extnum asks for: the mandatory cards
 * (FITS standard 4.0, section 4.4.1 and 7) are there, in their order, and make sense. @fd is the
 * file, -1 when it is in source->bytes; @file_bytes its length.
 *
 * Returns 0, also when there is no such table: cfitsio says that better. Otherwise a negative errno
 * with a problem.
 */
int fits_headers_check(const struct fits_source *source, int fd, uint64_t file_bytes,
                       struct problem *problem) _must_check_ _nonnull_;
