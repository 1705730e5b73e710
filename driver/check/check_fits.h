/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_fits.h: the FITS file of a STREAM against the FIELDs of its TABLE.
 *
 * Its bytes are kept in a file without a name, in TMPDIR: what is looked at are its headers, which
 * may lie anywhere in it.
 */
#pragma once

#include "attributes.h"
#include "check_cell.h"
#include "check_findings.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_fits;

/* Returns 0, or a negative errno with a problem. */
int check_fits_new(struct check_fits **ret_fits,
                   struct problem *problem) _must_check_ _nonnull_;
void check_fits_free(struct check_fits *fits);

void check_fits_take(struct check_fits *fits, const unsigned char *bytes,
                     size_t length) _nonnull_;

/* Where the FIELDs come from. */
struct check_fits_place {
    struct findings *findings;
    const struct check_field *fields;
    size_t field_count;
    uint64_t extnum; /* of the FITS element; 0: the first table */
    uint64_t lineno; /* of the STREAM */
};

/*
 * All bytes were there: tell what does not fit. True and the rows of the table when their number
 * is known. A problem is set when it is none of the document's.
 */
bool check_fits_end(struct check_fits *fits, const struct check_fits_place *place,
                    uint64_t *ret_rows, struct problem *problem) _must_check_ _nonnull_;
