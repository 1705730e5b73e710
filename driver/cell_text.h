/* SPDX-License-Identifier: BSD-3-Clause */
/* cell_text.h: the text of a TD becomes a cell. VOTable 1.4, section 5.1 and table 2. */
#pragma once

#include "columns.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Append the cell that [@text, @text + @length) means to @column. The byte behind it must be
 * readable and NUL. An empty text is null; blanks are too, except in strings.
 *
 * Returns 0; -EBADMSG and a problem when the text is no value of the column's datatype, or has
 * not the number of items that arraysize says; -ENOMEM and a problem.
 */
int cell_text_store(struct column *column, const char *text, size_t length, uint64_t lineno,
                    struct problem *problem) _must_check_ _nonnull_;
