/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.h: what a document says wrongly, but is understood all the same.
 *
 * Counted by kind, told once for each kind and table: a million cells with the same mistake are
 * one line. With `strict` the first of them is an error. Numbers are for users to look up in
 * votdriver(1) and never change their meaning.
 */
#pragma once

#include "attributes.h"
#include "base64.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stdint.h>

enum warning_number {
    WARNING_LITERAL = 1,   /* a cell that is no value of its datatype is null */
    WARNING_RANGE,         /* a number that its datatype cannot hold is null */
    WARNING_COMMAS,        /* items with commas between them */
    WARNING_ITEMS,         /* not as many items as arraysize says: cut, or filled with nulls */
    WARNING_CELLS_FEW,     /* TDs that are missing are null */
    WARNING_CELLS_MANY,    /* TDs without a FIELD are passed over */
    WARNING_DATATYPE,      /* no datatype, or an unknown one: char */
    WARNING_SEPARATOR,     /* an arraysize ends in a separator, "s," */
    WARNING_NROWS,         /* nrows is not the number of rows */
    WARNING_PADDING,       /* base64 without its padding */
    WARNING_STRING_LENGTH, /* text longer than arraysize; it is kept whole */
    WARNING_NUMBERS,
};

struct warnings {
    void (*warn)(void *context, const struct warning *warning); /* NULL: in silence */
    void *context;
    bool strict;
    uint64_t counts[WARNING_NUMBERS];
    uint64_t linenos[WARNING_NUMBERS];                   /* of the first of each */
    char texts[WARNING_NUMBERS][PROBLEM_TEXT_BYTES / 2]; /* the same */
};

/*
 * Count one. Returns 0, or with `strict`, and where @warnings is NULL, -EBADMSG and a problem
 * of these words.
 */
int warnings_add(struct warnings *warnings, struct problem *problem, enum warning_number number,
                 uint64_t lineno, const char *format, ...) _printf_(5, 6) _must_check_;

/* The text of a stream or a TD is over: base64_decoder_rest() and base64_decoder_end(). */
int warnings_end_base64(struct warnings *warnings, struct problem *problem,
                        struct base64_decoder *decoder, unsigned char *out,
                        size_t *ret_bytes) _must_check_ _nonnull_;

/* Tell what was counted, in the order of the numbers, and forget it. */
void warnings_flush(struct warnings *warnings) _nonnull_;
