/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h: a comparison, or one store's runs, as an HTML page in one file.
 *
 * The page asks nothing of the network and runs no script but its own: its Content-Security-Policy
 * names the digests of what is in it. Its data is JSON in an element of its own; names in it can
 * neither end that element nor become markup.
 */
#pragma once

#include "attributes.h"
#include "diff.h"

#include <stdio.h>

/*
 * Write the page about @diff. With @two_sides it says what changed, else what was measured: then
 * @diff has the side `after` only. 0, -ENOMEM; what @stream cannot take is for the caller to see.
 */
int page_write(FILE *stream, const struct diff *diff, bool two_sides) _must_check_ _nonnull_;
