/* SPDX-License-Identifier: BSD-3-Clause */
/* cell_text.h: the text of a TD becomes a cell. VOTable 1.4, section 5.1 and table 2. */
#pragma once

#include "columns.h"
#include "problem.h"
#include "warnings.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Append the cell that [@text, @text + @length) means to @column. The byte behind it must be
 * readable and no part of a number: NUL, or the '<' of the next tag. An empty text is null; blanks
 * are too, except in strings.
 *
 * What is no value of the datatype, is beyond its range, or is not as many items as arraysize
 * says, is a warning: the item or cell is null, items are cut off or null ones added. With
 * @warnings NULL it is an error.
 *
 * Returns 0; -EBADMSG and a problem for what is wrong beyond that; -ENOMEM and a problem.
 */
int cell_text_store(struct column *column, const char *text, size_t length, uint64_t lineno,
                    struct warnings *warnings, struct problem *problem) _must_check_;
