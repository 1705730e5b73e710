/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consumer.h: who takes what is read from a document, while it is read.
 *
 *     element TABLE > element FIELD ... > table_begin > rows, rows, ... > table_end > element INFO
 *     > element_end TABLE                        everything comes in document order
 *
 * Every reader of rows (TABLEDATA, BINARY, BINARY2, FITS) and every strategy feeds a consumer.
 * One without rows() keeps all values: they stay in the columns of their tables, and the whole
 * votable is there after the read. One with rows() sees a batch at a time, and the columns are
 * emptied after each.
 *
 * All functions may be NULL. Those that are not return 0, or a negative errno with a problem
 * set, which ends the read. What they are given is borrowed until they return.
 */
#pragma once

#include "attributes.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A batch is complete when its values take this much, or at the end of its table. */
#define CONSUMER_BATCH_BYTES 262144

struct consumer_attribute {
    const char *name;  /* as written, with its prefix; xmlns and xmlns:prefix are here too */
    const char *value; /* UTF-8, entities resolved; not NUL-terminated */
    size_t length;
};

struct consumer_element {
    const char *name;       /* as written, with its prefix */
    const char *local_name; /* without it */
    bool foreign;           /* of a namespace that is not VOTable's, or inside such a one */
    uint64_t lineno;
    const struct consumer_attribute *attributes;
    size_t attribute_count;
};

struct consumer {
    void *context; /* handed to each function */

    /*
     * Once for each TABLE: when its serialization begins, with table->columns there and empty;
     * for one without DATA at its end, SERIALIZATION_NONE and columns NULL. table_end() comes
     * after the last batch, table->rows is final then. What was read of a problem that comes
     * later has been given already: a consumer that writes must be able to take it back.
     */
    int (*table_begin)(void *context, struct table *table, struct problem *problem);
    int (*table_end)(void *context, struct table *table, struct problem *problem);

    /*
     * The columns hold the rows [first_row, first_row + row_count) of the table and no other:
     * a cursor begins at the first of them. Columns of fields that were not asked for
     * (field->skipped) are empty.
     */
    int (*rows)(void *context, struct table *table, uint64_t first_row, uint64_t row_count,
                struct problem *problem);

    /*
     * What is not data: every element but DATA and all below it except its INFOs, foreign ones
     * too, and the text between, white space included, in any number of pieces.
     */
    int (*element_begin)(void *context, const struct consumer_element *element,
                         struct problem *problem);
    int (*element_end)(void *context, const struct consumer_element *element,
                       struct problem *problem); /* without attributes */
    int (*text)(void *context, const char *text, size_t length, struct problem *problem);
};

/*
 * For readers of rows: table->rows has grown, the rows up to there are complete in the columns.
 * Hands a batch over when there is one, and empties the columns. Call it at least once for every
 * CONSUMER_BATCH_BYTES that were stored; flush at the end of the rows.
 * Return 0, or a negative errno with a problem.
 */
int consumer_rows_done(const struct consumer *consumer, struct table *table,
                       struct problem *problem) _must_check_ _nonnull_;
int consumer_rows_flush(const struct consumer *consumer, struct table *table,
                        struct problem *problem) _must_check_ _nonnull_;
