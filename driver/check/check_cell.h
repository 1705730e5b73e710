/* SPDX-License-Identifier: BSD-3-Clause */
/* check_cell.h: is a text a value of a FIELD, by the letter of the standard? */
#pragma once

#include "attributes.h"
#include "check_findings.h"
#include "check_schema.h"
#include "field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_field {
    struct field field; /* owned; the name is never NULL */
    bool usable;        /* datatype and arraysize have a meaning */
    bool scalar;        /* no arraysize */
    bool timestamp;     /* xtype */
    uint64_t bound;     /* items at most, by arraysize; UINT64_MAX: any */
};

void check_field_finish(struct check_field *field) _nonnull_;

/* FIELDs of a TABLE. All zero is none. */
struct check_fields {
    struct check_field *items; /* owned */
    size_t count;
    size_t room;
};

/* The new one is all zero. NULL when memory ran out. */
struct check_field *check_fields_add(struct check_fields *fields) _must_check_ _nonnull_;
void check_fields_finish(struct check_fields *fields) _nonnull_;

/*
 * What is wrong with [@text, @text + @length), which has a NUL behind it, as a cell of @field
 * in TABLEDATA. Returns one of the codes C01 to C10 with words about it, or FINDING_CODES when
 * nothing is. @field is usable.
 */
enum finding_code check_cell_text(const struct check_field *field, enum schema_version version,
                                  const char *text, size_t length,
                                  char ret_words[FINDING_TEXT_BYTES]) _nonnull_;
