/* SPDX-License-Identifier: BSD-3-Clause */
/* page_data.h: all that a page's script draws, as JSON for a <script> element. */
#pragma once

#include "attributes.h"
#include "diff.h"

#include <stdio.h>

/*
 * A page opens fast, and in a browser on a small machine: beyond this, the graph and the table of
 * the rows that come last are left out, and the page says so.
 */
#define PAGE_DATA_BYTES (700L * 1024)

/* Write the data of @diff as in page_write(). 0 or -ENOMEM. */
int page_data_write(FILE *stream, const struct diff *diff,
                    bool two_sides) _must_check_ _nonnull_;
