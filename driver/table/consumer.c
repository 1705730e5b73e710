/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consumer.c: when a batch is complete, and what is left of it afterwards.
 *
 * Measured in bytes of values, not in rows: a row may hold one number or a million. A row is
 * never split, so that one of a gigabyte is a batch of a gigabyte.
 */
#include "consumer.h"

static uint64_t held_bytes(const struct table *table) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < table->field_count; i++)
        bytes += column_stored_bytes(&table->columns[i]);
    return bytes;
}

int consumer_rows_done(const struct consumer *consumer, struct table *table,
                       struct problem *problem) {
    if (consumer->rows == NULL || held_bytes(table) < CONSUMER_BATCH_BYTES)
        return 0;
    return consumer_rows_flush(consumer, table, problem);
}

int consumer_rows_flush(const struct consumer *consumer, struct table *table,
                        struct problem *problem) {
    if (consumer->rows == NULL || table->rows == table->taken_rows)
        return 0;
    int r = consumer->rows(consumer->context, table, table->taken_rows,
                           table->rows - table->taken_rows, problem);
    if (r < 0)
        return r;
    for (size_t i = 0; i < table->field_count; i++)
        column_clear(&table->columns[i]);
    table->taken_rows = table->rows;
    return 0;
}
