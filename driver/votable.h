/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * votable.h: a VOTable document as its tables, and the ways to parse one.
 *
 *     struct votable votable = {0};
 *     struct problem problem = {0};
 *     if (votable_read("t.vot", STRATEGY_STREAM, &votable, &problem) < 0)
 *         complain_at("t.vot", problem.lineno, "%s", problem.text);
 *     votable_finish(&votable);
 *
 * Whatever the strategy, the tables that come out are the same to the bit. What differs is what
 * is in memory on the way.
 */
#pragma once

#include "attributes.h"
#include "columns.h"
#include "field.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>

enum serialization {
    SERIALIZATION_NONE, /* a TABLE without DATA: fields, no rows */
    SERIALIZATION_TABLEDATA,
    SERIALIZATION_BINARY,
    SERIALIZATION_BINARY2,
    SERIALIZATIONS,
};

enum strategy {
    STRATEGY_STREAM, /* rows are decoded while the XML arrives; nothing waits */
    STRATEGY_BUFFER, /* a STREAM's text is collected, then decoded, then unpacked */
    STRATEGY_DOM,    /* libxml2's tree of the whole document is built, then walked */
    STRATEGIES,
};

struct table {
    char *name; /* owned; the ID where there is no name; NULL where there is neither */
    char *id;   /* owned, or NULL */
    enum serialization serialization;
    struct field **fields; /* owned, each on its own: columns point to them */
    size_t field_count;
    struct column *columns; /* one for each field, from the start of DATA on; otherwise NULL */
    uint64_t rows;
};

struct votable {
    struct table **tables; /* owned; in document order, nested RESOURCEs too */
    size_t table_count;
    uint64_t file_bytes; /* of XML, after gunzip */
};

/*
 * Read the file at @path, gzipped or not; "-" is standard input.
 *
 * Returns 0; otherwise a negative errno with @problem set, and the tables so far are not to be
 * used. @ret_votable must be all zero before and be finished afterwards in either case.
 */
int votable_read(const char *path, enum strategy strategy, struct votable *ret_votable,
                 struct problem *problem) _must_check_ _nonnull_;
void votable_finish(struct votable *votable) _nonnull_;

/* Set up and tear down the XML library, once each in a program's life, before and after all. */
void votable_library_init(void);
void votable_library_finish(void);

const char *serialization_name(enum serialization serialization);
const char *strategy_name(enum strategy strategy);
int strategy_find(const char *name, enum strategy *ret_strategy) _must_check_ _nonnull_;

/* Append an empty table or field; NULL when memory ran out. The owner finishes it. */
struct table *votable_add_table(struct votable *votable) _must_check_ _nonnull_;
struct field *table_add_field(struct table *table) _must_check_ _nonnull_;

/* Make the columns of the fields so far, once. Returns 0 or -ENOMEM. */
int table_begin_data(struct table *table,
                     enum serialization serialization) _must_check_ _nonnull_;
