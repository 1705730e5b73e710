/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * headline.h: what a page says in words: what changed, by how much, where, whether to worry.
 *
 * Plain text, made fit for people; the writer of a format escapes it.
 */
#pragma once

#include "attributes.h"
#include "diff.h"

enum headline_tone {
    HEADLINE_PLAIN,  /* nothing is compared, or nothing changed */
    HEADLINE_BETTER, /* memory was saved */
    HEADLINE_WORSE,  /* look at it */
};

struct headline {
    enum headline_tone tone;
    const char *verdict; /* two or three words; constant text */
    char *title;         /* one sentence without a full stop */
    char *lead;          /* by how much, and where */
    char *advice;        /* whether to worry */
};

/*
 * About all rows of @diff; with @two_sides about the difference, else about what is after. 0 or
 * -ENOMEM. End with headline_finish().
 */
int headline_make(const struct diff *diff, bool two_sides,
                  struct headline *ret_headline) _must_check_ _nonnull_;

/* About one row alone: by how much, and where. NULL when there is no memory, else free() it. */
char *headline_row(const struct diff_row *row) _must_check_ _nonnull_;

/* Did @row grow beyond the limits that gate has when it is told none? */
bool headline_is_alarming(const struct diff_row *row) _nonnull_;

void headline_finish(struct headline *headline) _nonnull_;
