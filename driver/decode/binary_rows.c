/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary_rows.c: a state machine over bytes.
 *
 * Whatever a count claims, memory grows only by bytes that have arrived: a cell of 2^31 items
 * in a stream of 100 bytes costs 100 bytes and an error. Items go straight from the caller's
 * bytes into the column, turned to the machine's byte order on the way.
 *
 * Rows that are there as a whole go by the plan, binary_plan.h, which does not ask for each cell
 * what it is; the state machine is for those that are cut by the end of a piece, and for all
 * that is wrong.
 */
#include "binary_rows.h"

#include "binary_items.h"
#include "binary_plan.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL_BYTES 16384 /* of the stream, between two calls of rows_done() */

int binary_rows_init(struct binary_rows *rows, struct column *columns, size_t column_count,
                     bool with_flags, uint64_t lineno, struct problem *problem) {
    *rows = (struct binary_rows){
        .columns = columns,
        .column_count = column_count,
        .lineno = lineno,
        .problem = problem,
        .row_limit = UINT64_MAX,
    };
    if (column_count == 0)
        return 0;
    rows->plan = binary_plan_new(columns, column_count, with_flags);
    if (rows->plan == NULL)
        return problem_set_memory(problem);
    if (!with_flags)
        return 0;
    rows->flags_bytes = (column_count + 7) / 8;
    rows->flags = calloc(rows->flags_bytes, 1);
    return rows->flags == NULL ? problem_set_memory(problem) : 0;
}

void binary_rows_finish(struct binary_rows *rows) {
    binary_plan_free(rows->plan);
    rows->plan = NULL;
    free(rows->flags);
    rows->flags = NULL;
}

static const struct field *field_at(const struct binary_rows *rows) {
    return rows->columns[rows->at].field;
}

/* Is the cell's content of no interest? Null ones have bytes that mean nothing. */
static bool passes_over(const struct binary_rows *rows) {
    return field_at(rows)->skipped ||
           (rows->flags != NULL && (rows->flags[rows->at / 8] & (0x80 >> rows->at % 8)) != 0);
}

static bool is_null(const struct binary_rows *rows) {
    return rows->flags != NULL && (rows->flags[rows->at / 8] & (0x80 >> rows->at % 8)) != 0;
}

static void begin_items(struct binary_rows *rows, uint64_t items) {
    rows->phase = BINARY_ITEMS;
    rows->cell_items = items;
    rows->phase_bytes = field_wire_bytes(field_at(rows), items);
    if (field_is_string(field_at(rows)))
        string_cell_begin(&rows->string, &rows->columns[rows->at]);
}

static void begin_cell(struct binary_rows *rows) {
    if (field_at(rows)->variable) {
        rows->phase = BINARY_COUNT;
        rows->phase_bytes = 4;
    } else {
        begin_items(rows, field_at(rows)->items);
    }
}

static void begin_row(struct binary_rows *rows) {
    rows->at = 0;
    rows->row_start = rows->offset;
    if (rows->flags != NULL) {
        rows->phase = BINARY_FLAGS;
        rows->phase_bytes = rows->flags_bytes;
    } else {
        begin_cell(rows);
    }
}

static int end_cell(struct binary_rows *rows) {
    struct column *column = &rows->columns[rows->at];
    int r = 0;
    if (column->field->skipped)
        r = 0;
    else if (is_null(rows))
        r = column_end_null(column);
    else if (field_is_string(column->field))
        r = string_cell_end(&rows->string) < 0 ? -ENOMEM : column_end_cell(column);
    else
        r = column_end_cell(column);
    if (r < 0)
        return problem_set_memory(rows->problem);
    if (++rows->at < rows->column_count) {
        begin_cell(rows);
        return 0;
    }
    rows->rows++;
    rows->phase = BINARY_BETWEEN_ROWS;
    return 0;
}

static int end_count(struct binary_rows *rows) {
    const struct field *field = field_at(rows);
    uint32_t count;
    memcpy(&count, rows->carry, 4);
    count = be32toh(count);
    rows->carried = 0;
    if (count > INT32_MAX)
        return problem_set(rows->problem, -EBADMSG, rows->lineno,
                           "row %" PRIu64 " has a negative array length (0x%08" PRIX32
                           ") in column '%s', the stream is damaged, fetch or write it again",
                           rows->rows + 1, count, field->name);
    if (!field_is_string(field) && count % field->items != 0)
        return problem_set(rows->problem, -EBADMSG, rows->lineno,
                           "the number of items in row %" PRIu64 ", column '%s', is %" PRIu32
                           ", arraysize asks for a multiple of %" PRIu64
                           ", correct the stream or the arraysize",
                           rows->rows + 1, field->name, count, field->items);
    begin_items(rows, count);
    return 0;
}

/* What follows a phase whose bytes are all there. */
static int end_phase(struct binary_rows *rows) {
    switch (rows->phase) {
    case BINARY_FLAGS:
        begin_cell(rows);
        return 0;
    case BINARY_COUNT:
        return end_count(rows);
    case BINARY_ITEMS:
        return end_cell(rows);
    case BINARY_BETWEEN_ROWS:
        break;
    }
    return 0;
}

/* Fill the carry up to @wanted bytes. Returns how many were taken. */
static size_t carry_bytes(struct binary_rows *rows, const unsigned char *bytes, size_t length,
                          size_t wanted) {
    size_t taken = wanted - rows->carried < length ? wanted - rows->carried : length;
    memcpy(rows->carry + rows->carried, bytes, taken);
    rows->carried += taken;
    return taken;
}

/*
 * Items of the cell: first the one that was cut, then whole ones, then the start of the next.
 */
static int take_items(struct binary_rows *rows, const unsigned char *bytes, size_t length,
                      size_t *ret_taken) {
    size_t item_bytes = binary_items_kinds[field_at(rows)->type].item_bytes;
    if (length > rows->phase_bytes)
        length = (size_t)rows->phase_bytes;
    *ret_taken = length;
    if (passes_over(rows))
        return 0;
    if (rows->carried > 0 || length < item_bytes) {
        *ret_taken = carry_bytes(rows, bytes, length, item_bytes);
        if (rows->carried < item_bytes)
            return 0;
        rows->carried = 0;
        return binary_items_kinds[field_at(rows)->type].store(rows, rows->carry, item_bytes);
    }
    *ret_taken = length - length % item_bytes;
    return binary_items_kinds[field_at(rows)->type].store(rows, bytes, *ret_taken);
}

static int take_bytes(struct binary_rows *rows, const unsigned char *bytes, size_t length,
                      size_t *ret_taken) {
    switch (rows->phase) {
    case BINARY_FLAGS:
        if (length > rows->phase_bytes)
            length = (size_t)rows->phase_bytes;
        memcpy(rows->flags + (rows->flags_bytes - rows->phase_bytes), bytes, length);
        *ret_taken = length;
        return 0;
    case BINARY_COUNT:
        *ret_taken = carry_bytes(rows, bytes, length, 4);
        return 0;
    default:
        return take_items(rows, bytes, length, ret_taken);
    }
}

/* Bytes of the shortest row. 0: any stream would hold rows without end. */
static uint64_t shortest_row(const struct binary_rows *rows) {
    uint64_t bytes = rows->flags_bytes;
    for (size_t i = 0; i < rows->column_count; i++) {
        const struct field *field = rows->columns[i].field;
        bytes += field->variable ? 4 : field_wire_bytes(field, field->items);
    }
    return bytes;
}

/* Between two rows: may there be another one, and is it time to tell of those so far? */
static int prepare_row(struct binary_rows *rows) {
    if (rows->rows >= rows->row_limit) {
        rows->enough = true;
        return 0;
    }
    if (rows->offset == 0 && shortest_row(rows) == 0)
        return problem_set(rows->problem, -EBADMSG, rows->lineno,
                           "the stream has bytes but the table's FIELDs take none, add "
                           "the FIELDs or empty the stream");
    if (rows->rows_done == NULL || rows->offset - rows->told < TELL_BYTES)
        return 0;
    rows->told = rows->offset;
    return rows->rows_done(rows->context, rows->rows);
}

int binary_rows_push(struct binary_rows *rows, const unsigned char *bytes, size_t length) {
    while (length > 0) {
        if (rows->phase == BINARY_BETWEEN_ROWS) {
            int r = prepare_row(rows);
            if (r < 0 || rows->enough)
                return r;
            size_t row_bytes = binary_plan_measure(rows->plan, bytes, length);
            if (row_bytes > 0) {
                r = binary_plan_store(rows, bytes);
                if (r < 0)
                    return r;
                bytes += row_bytes;
                length -= row_bytes;
                rows->offset += row_bytes;
                rows->rows++;
                continue;
            }
            begin_row(rows);
        }
        size_t taken = 0;
        if (rows->phase_bytes > 0) {
            int r = take_bytes(rows, bytes, length, &taken);
            if (r < 0)
                return r;
        }
        bytes += taken;
        length -= taken;
        rows->offset += taken;
        rows->phase_bytes -= taken;
        /* Cells without bytes end as they begin. */
        while (rows->phase != BINARY_BETWEEN_ROWS && rows->phase_bytes == 0) {
            int r = end_phase(rows);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

int binary_rows_end(struct binary_rows *rows) {
    if (rows->phase == BINARY_BETWEEN_ROWS)
        return 0;
    if (rows->phase == BINARY_ITEMS && field_at(rows)->variable)
        return problem_set(rows->problem, -EBADMSG, rows->lineno,
                           "the stream ends in row %" PRIu64
                           ", column '%s': an array of %" PRIu64 " items lacks %" PRIu64
                           " bytes, the stream is cut short or the length is wrong, fetch or "
                           "write it again",
                           rows->rows + 1, field_at(rows)->name, rows->cell_items,
                           rows->phase_bytes);
    return problem_set(rows->problem, -EBADMSG, rows->lineno,
                       "the stream ends in row %" PRIu64 ", column '%s', at byte %" PRIu64
                       " of the row, the stream is cut short or does not fit its FIELDs, fetch "
                       "or write it again",
                       rows->rows + 1, field_at(rows)->name, rows->offset - rows->row_start);
}
