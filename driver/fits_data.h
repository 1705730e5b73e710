/* SPDX-License-Identifier: BSD-3-Clause */
/* fits_data.h: the FITS file of a STREAM, in memory or beside the document, becomes rows. */
#pragma once

#include "attributes.h"
#include "consumer.h"
#include "problem.h"
#include "votable.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Read the extension @extnum, from 1; 0 is the first that is a table. @lineno is the STREAM's.
 * The bytes may be gzipped. Return 0, or a negative errno with a problem.
 */
int fits_data_read_memory(const unsigned char *bytes, size_t length, unsigned extnum,
                          uint64_t lineno, struct table *table, const struct consumer *consumer,
                          struct problem *problem) _must_check_ _nonnull_;
int fits_data_read_file(const char *path, unsigned extnum, uint64_t lineno, struct table *table,
                        const struct consumer *consumer,
                        struct problem *problem) _must_check_ _nonnull_;
