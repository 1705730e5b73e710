/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv.h: write comma-separated values (RFC 4180), a cell at a time.
 *
 * Text is quoted where it has to be. Names come from files that may be hostile: bytes that no
 * terminal should get become `?`, and before text that a spreadsheet would take for a formula
 * stands an apostrophe. Numbers are exact integers; what is not known is an empty cell.
 */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
    FILE *stream;
    bool has_cells; /* of the row that is being written */
    bool failed;    /* no memory for a text: csv_finish() says so */
};

void csv_text(struct csv *csv, const char *text) _nonnull_;
void csv_int(struct csv *csv, int64_t value) _nonnull_;
/* As many decimals as a double needs to come back the same; empty when @value is not finite. */
void csv_real(struct csv *csv, double value) _nonnull_;
void csv_empty(struct csv *csv) _nonnull_;
void csv_row_end(struct csv *csv) _nonnull_;

/* A row of @count constant names. */
void csv_header(struct csv *csv, const char *const *names, size_t count) _nonnull_;

/* 0, -ENOMEM, or -EIO when the stream failed. */
int csv_finish(const struct csv *csv) _must_check_ _nonnull_;
