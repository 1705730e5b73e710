/* SPDX-License-Identifier: BSD-3-Clause */
/* selection.h: which tables and columns of a document are wanted: "1,3", "ra,dec". */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>

/* Is @name one of the comma-separated @list? NULL is never. */
bool selection_has(const char *list, const char *name) _must_check_;

/* Is the table, the @number-th from 1, one of @list by number, name or ID? NULL lists all. */
bool selection_has_table(const char *list, const struct table *table,
                         size_t number) _must_check_;

/*
 * Mark the fields that are not in @list as skipped. Returns 0; -EINVAL with a problem when the
 * list names one that the table has not. NULL lists all.
 */
int selection_mark_fields(const char *list, struct table *table,
                          struct problem *problem) _must_check_;

/* Does every entry of the list name a table? -EINVAL with a problem when one does not. */
int selection_check_tables(const char *list, const struct votable *votable,
                           struct problem *problem) _must_check_;
