/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain_rows.h: rows of TABLEDATA that are nothing but TR, TD and text, found in text as it is.
 *
 *     <TR> <TD>text</TD> <TD/> ... </TR>       white space anywhere between the tags
 *
 * That is what writers write, but for a row now and then: no attribute, prefix, comment, CDATA
 * section or entity. Such a row means the same to every XML parser; one that is anything else,
 * or is not there to its end, is none of these and left to a real parser.
 */
#pragma once

#include "attributes.h"

#include <stddef.h>
#include <stdint.h>

/* Where in a row a walk over its cells is. */
struct plain_cursor {
    const char *at;
    uint64_t lines; /* newlines that are still to come in the row */
};

/*
 * Is there a plain row of @cells cells between @from and @end, after white space? Returns what
 * follows it, and the newlines that it and the white space have; NULL if not. All its text is
 * UTF-8 and legal in XML.
 */
const char *plain_row_find(const char *from, const char *end, size_t cells,
                           uint64_t *ret_lines) _must_check_ _nonnull_;

/* To the cells of the row that was found at @from, with so many newlines. */
void plain_row_enter(struct plain_cursor *cursor, const char *from, uint64_t lines) _nonnull_;

/*
 * The next cell, as often as there are cells: its text, behind which a '<' is. @ret_lines are
 * the newlines of the row from its TD on.
 */
const char *plain_row_cell(struct plain_cursor *cursor, size_t *ret_length,
                           uint64_t *ret_lines) _must_check_ _nonnull_;

/*
 * Where text from @from on is no longer plain: at the first '<', '&' or '>', control character
 * or byte beyond ASCII, or at @end; and the newlines before that.
 */
const char *plain_text_end(const char *from, const char *end,
                           uint64_t *ret_lines) _must_check_ _nonnull_;
