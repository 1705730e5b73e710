/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flame_svg.h: the call tree of one row at its peak as a picture that needs no script.
 *
 * Callers are above what they call; a box is as wide as the memory that it and all below it hold.
 * Every box has its numbers as a title, which viewers show under the pointer.
 */
#pragma once

#include "attributes.h"
#include "diff.h"

#include <stdio.h>

#define FLAME_SVG_WIDTH       1200
#define FLAME_SVG_WIDTH_LEAST 300
#define FLAME_SVG_WIDTH_MOST  20000

/*
 * Draw @row, @width pixels wide. With two sides wide is what changed, red what grew and blue
 * what shrank; with one, wide is what was added at the peak, in a color for each module.
 * 0; -ENODATA when call sites were not kept; -ENOMEM.
 */
int flame_svg_write(FILE *stream, const struct diff_row *row, int width) _must_check_ _nonnull_;
