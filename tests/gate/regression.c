/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regression.c: what test_gate.sh wants to see found: a byte for each row, kept for ever.
 *
 * Linked into a votdriver of its own in front of the two functions that every format and strategy
 * tells of its rows (-Wl,--wrap). Nothing of it is in the shipped one.
 */
#include "consumer.h"

#include <stdlib.h>

int __real_consumer_rows_done(const struct consumer *consumer, struct table *table,
                              struct problem *problem);
int __wrap_consumer_rows_done(const struct consumer *consumer, struct table *table,
                              struct problem *problem);
int __real_consumer_rows_flush(const struct consumer *consumer, struct table *table,
                               struct problem *problem);
int __wrap_consumer_rows_flush(const struct consumer *consumer, struct table *table,
                               struct problem *problem);

static unsigned char *marks;

static void keep_a_byte_for_each(uint64_t rows) {
    unsigned char *grown = rows > 0 ? realloc(marks, rows) : NULL;
    if (grown != NULL)
        marks = grown;
}

int __wrap_consumer_rows_done(const struct consumer *consumer, struct table *table,
                              struct problem *problem) {
    keep_a_byte_for_each(table->rows);
    return __real_consumer_rows_done(consumer, table, problem);
}

int __wrap_consumer_rows_flush(const struct consumer *consumer, struct table *table,
                               struct problem *problem) {
    keep_a_byte_for_each(table->rows);
    return __real_consumer_rows_flush(consumer, table, problem);
}
