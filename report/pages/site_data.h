/* SPDX-License-Identifier: BSD-3-Clause */
/* site_data.h: the call sites of a row as data of a page. */
#pragma once

#include "attributes.h"
#include "context.h"

/*
 * Write the call sites of @row under @key, those that count most, and how many more there are
 * under "KEY_left_out": of a row with two sides those that changed. null where they were not
 * kept. 0 or -ENOMEM.
 */
int site_data_write(struct context *context, const char *key,
                    const struct diff_row *row) _must_check_ _nonnull_;

/*
 * The call sites of one side, by what they added at the peak, largest first; without those that
 * have nothing to do with it. 0 or -ENOMEM; free ret_list->items.
 */
int site_data_collect(const struct diff_value *value,
                      struct callsite_list *ret_list) _must_check_ _nonnull_;
