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

/*
 * The base64 text of an inline STREAM, decoded into a file without a name while it arrives:
 * FITS must be read here and there, and not all of it has room in memory.
 */
struct fits_spool;
struct warnings;

/* @warnings and @problem are borrowed. Returns 0, or a negative errno with a problem. */
int fits_spool_new(uint64_t lineno, struct warnings *warnings, struct problem *problem,
                   struct fits_spool **ret_spool) _must_check_ _nonnull_;
int fits_spool_push(struct fits_spool *spool, const char *text,
                    size_t length) _must_check_ _nonnull_;

/* The text is over: read the table. A stream without data has no rows. */
int fits_spool_read(struct fits_spool *spool, unsigned extnum, struct table *table,
                    const struct consumer *consumer) _must_check_ _nonnull_;
void fits_spool_free(struct fits_spool *spool);
