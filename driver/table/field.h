/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * field.h: what a FIELD says about the cells of its column.
 *
 * VOTable 1.4, section 2.1 (primitives), 2.2 (arraysize), 4.1 (FIELD), 4.7 (VALUES).
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* VOTable's limit for the number of items in a cell, and for fixed cells ours as well. */
#define FIELD_ITEMS_MAX INT32_MAX

enum field_type {
    FIELD_BOOLEAN,
    FIELD_BIT,
    FIELD_UNSIGNED_BYTE,
    FIELD_SHORT,
    FIELD_INT,
    FIELD_LONG,
    FIELD_CHAR,
    FIELD_UNICODE_CHAR,
    FIELD_FLOAT,
    FIELD_DOUBLE,
    FIELD_FLOAT_COMPLEX,
    FIELD_DOUBLE_COMPLEX,
    FIELD_TYPES,
};

/*
 * arraysize      variable  items  string_items
 * (absent)          no       1
 * 4                 no       4
 * 2x3               no       6
 * * or 9*           yes      1                   the 9 is a bound for writers, not for readers
 * 2x3x* or 2x3x9*   yes      6
 * char 8            no       8        0          one string
 * char *            yes      1        0
 * char 8x4          no      32        8          four strings of at most 8
 * char 8x*          yes      8        8
 */
struct field {
    char *name; /* owned */
    enum field_type type;
    bool variable;
    uint64_t items;        /* in each cell; of variable ones a cell holds a multiple of it */
    uint64_t string_items; /* arrays of strings: characters of each, otherwise 0 */
    char *arraysize;       /* as written, owned; NULL when there is none or nobody kept it */
    bool has_null;         /* VALUES null is a number that cells can hold */
    int64_t null_integer;  /* for the integer types */
    double null_real;      /* for the floating types, the float ones rounded to float */
    bool guessed;          /* its datatype is missing or unknown, and taken to be char */
    bool skipped;          /* its cells are passed over: the column stays empty */
    char *null_text;       /* VALUES null as written, owned; NULL when there is none */
};

/* The datatype's name in a VOTable, and back. */
const char *field_type_name(enum field_type type);
int field_type_find(const char *text, size_t length, enum field_type *ret_type) _must_check_;

static inline bool field_is_string(const struct field *field) {
    return field->type == FIELD_CHAR || field->type == FIELD_UNICODE_CHAR;
}

static inline bool field_is_integer(const struct field *field) {
    return field->type >= FIELD_UNSIGNED_BYTE && field->type <= FIELD_LONG;
}

/* Bytes of one item in BINARY, in memory the same for all but strings. 0 for bits. */
uint64_t field_item_bytes(enum field_type type);

/* Bytes that @items items take in BINARY: bits are packed, eight to a byte. */
uint64_t field_wire_bytes(const struct field *field, uint64_t items) _nonnull_;

/*
 * Read an arraysize attribute into variable, items and string_items; @field->type is set.
 * Returns 0; -EINVAL when it has no meaning; -ERANGE beyond FIELD_ITEMS_MAX.
 */
int field_set_arraysize(struct field *field, const char *text,
                        size_t length) _must_check_ _nonnull_;

/* Take a VALUES null attribute. An empty one says nothing. Returns 0 or -ENOMEM. */
int field_set_null(struct field *field, const char *text, size_t length) _must_check_ _nonnull_;

/* Copy all of @from, strings too. Returns 0 or -ENOMEM; @ret_field can then be finished. */
int field_copy(const struct field *from, struct field *ret_field) _must_check_ _nonnull_;
void field_finish(struct field *field) _nonnull_;
