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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct consumer;

enum serialization {
    SERIALIZATION_NONE, /* a TABLE without DATA: fields, no rows */
    SERIALIZATION_TABLEDATA,
    SERIALIZATION_BINARY,
    SERIALIZATION_BINARY2,
    SERIALIZATION_FITS,
    SERIALIZATIONS,
};

enum strategy {
    STRATEGY_STREAM, /* rows are decoded while the XML arrives; nothing waits */
    STRATEGY_BUFFER, /* a STREAM's text is collected, then decoded, then unpacked */
    STRATEGY_DOM,    /* libxml2's tree of the whole document is built, then walked */
    STRATEGY_READER, /* libxml2's xmlTextReader: one node after the other, each in a tree */
    STRATEGIES,
};

struct table {
    char *name; /* owned; the ID where there is no name; NULL where there is neither */
    char *id;   /* owned, or NULL */
    enum serialization serialization;
    struct field **fields; /* owned, each on its own: columns point to them */
    size_t field_count;
    struct column *columns; /* one for each field, from the start of DATA on; otherwise NULL */
    uint64_t rows;          /* read so far, whether they are still in the columns or not */
    uint64_t taken_rows;    /* of these, no longer in the columns: a consumer has taken them */
    uint64_t row_limit;     /* no more than this many rows are read */
    bool skipped;           /* not asked for: its data are passed over */
    bool has_nrows;
    uint64_t nrows; /* what the attribute says; advice, no promise */
    uint64_t lineno;
};

struct votable {
    struct table **tables; /* owned; in document order, nested RESOURCEs too */
    size_t table_count;
    uint64_t file_bytes; /* of XML, after gunzip */
};

/*
 * A document says something that it should not, but what it means is known (votdriver(1) lists
 * the kinds). Once for each kind and table, after the table: @count times, the first at @lineno.
 */
struct warning {
    unsigned number; /* as in W07 */
    uint64_t lineno;
    uint64_t count;
    const char *text; /* about the first, without the file's name; borrowed */
};

struct read_limits {
    uint64_t fields;    /* of one table */
    uint64_t depth;     /* of elements in elements */
    uint64_t tag_bytes; /* of a tag, an attribute or a comment */
};

/* What a document may ask for unless something else is said. */
#define READ_LIMITS ((struct read_limits){65536, 256, 10000000})

struct read_options {
    enum strategy strategy;
    const struct consumer *consumer; /* NULL: keep all */
    const char *columns;             /* names of FIELDs, "a,b"; NULL: all */
    const char *tables;              /* numbers from 1 or names, "1,3"; NULL: all */
    uint64_t row_limit;              /* of each table; 0: none */
    bool strict;                     /* a warning is an error */
    struct read_limits limits;
    void (*warn)(void *context, const struct warning *warning); /* NULL: in silence */
    void *warn_context;
};

/*
 * Read the file at @path, gzipped or not; "-" is standard input.
 *
 * Returns 0; otherwise a negative errno with @problem set, and the tables so far are not to be
 * used. @ret_votable must be all zero before and be finished afterwards in either case.
 */
int votable_read(const char *path, enum strategy strategy, struct votable *ret_votable,
                 struct problem *problem) _must_check_ _nonnull_;

/* The same with more to say, and a consumer: consumer.h. */
int votable_scan(const char *path, const struct read_options *options,
                 struct votable *ret_votable, struct problem *problem) _must_check_ _nonnull_;
void votable_finish(struct votable *votable) _nonnull_;

/* Set up and tear down the XML library, once each in a program's life, before and after all. */
void votable_library_init(void);
void votable_library_finish(void);

const char *serialization_name(enum serialization serialization);
const char *strategy_name(enum strategy strategy);

/* Who parses like this and what it holds, in a line. */
const char *strategy_summary(enum strategy strategy);
int strategy_find(const char *name, enum strategy *ret_strategy) _must_check_ _nonnull_;

/* Append an empty table or field; NULL when memory ran out. The owner finishes it. */
struct table *votable_add_table(struct votable *votable) _must_check_ _nonnull_;
struct field *table_add_field(struct table *table) _must_check_ _nonnull_;

/* Make the columns of the fields so far, once. Returns 0 or -ENOMEM. */
int table_begin_data(struct table *table,
                     enum serialization serialization) _must_check_ _nonnull_;
