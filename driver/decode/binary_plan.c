/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary_plan.c: whole rows, the short way.
 *
 * A row is measured first: only its variable cells need a look. Then each cell is stored, the
 * frequent kinds here (numbers and plain strings that find room in the last chunk of their
 * column), all others by the functions that the state machine uses.
 */
#include "binary_plan.h"

#include "binary_items.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum cell_way {
    WAY_ITEMS, /* by the datatype's own function */
    WAY_BYTES, /* whole cells of 1, 2, 4 or 8 bytes each, in a fixed column */
    WAY_SHORTS,
    WAY_WORDS,
    WAY_LONGS,
    WAY_CHARS, /* one string */
    WAY_UNITS, /* one string of unicodeChar */
    WAY_SKIPPED,
};

struct cell_plan {
    struct column *column;
    enum cell_way way;
    bool variable;
    uint64_t item_bytes; /* 0 for bits */
    uint64_t bytes;      /* of a fixed cell */
    uint64_t gap_bytes;  /* fixed cells since the last variable one, or the start of the row */
};

struct binary_plan {
    size_t column_count;
    size_t flags_bytes;
    size_t last_variable; /* cells behind it, and bytes_after of them, are all fixed */
    bool has_variable;
    uint64_t bytes_after;
    struct cell_plan cells[];
};

static enum cell_way find_way(const struct column *column) {
    const struct field *field = column->field;
    if (field->skipped)
        return WAY_SKIPPED;
    if (field->type == FIELD_CHAR && field->string_items == 0)
        return WAY_CHARS;
    if (field->type == FIELD_UNICODE_CHAR && field->string_items == 0)
        return WAY_UNITS;
    if (!column->fixed)
        return WAY_ITEMS;
    switch (field->type) {
    case FIELD_UNSIGNED_BYTE:
        return WAY_BYTES;
    case FIELD_SHORT:
        return WAY_SHORTS;
    case FIELD_INT:
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        return WAY_WORDS;
    case FIELD_LONG:
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        return WAY_LONGS;
    default:
        return WAY_ITEMS;
    }
}

struct binary_plan *binary_plan_new(struct column *columns, size_t column_count,
                                    bool with_flags) {
    struct binary_plan *plan = malloc(sizeof(*plan) + column_count * sizeof(plan->cells[0]));
    if (plan == NULL)
        return NULL;
    *plan = (struct binary_plan){
        .column_count = column_count,
        .flags_bytes = with_flags ? (column_count + 7) / 8 : 0,
    };
    uint64_t before = plan->flags_bytes;
    for (size_t i = 0; i < column_count; i++) {
        const struct field *field = columns[i].field;
        plan->cells[i] = (struct cell_plan){
            .column = &columns[i],
            .way = find_way(&columns[i]),
            .variable = field->variable,
            .item_bytes = field_item_bytes(field->type),
            .bytes = field->variable ? 0 : field_wire_bytes(field, field->items),
            .gap_bytes = before,
        };
        before += plan->cells[i].bytes;
        if (!field->variable)
            continue;
        before = 0;
        plan->has_variable = true;
        plan->last_variable = i;
    }
    plan->bytes_after = before;
    return plan;
}

void binary_plan_free(struct binary_plan *plan) {
    free(plan);
}

static uint64_t wire_bytes(const struct cell_plan *cell, uint64_t items) {
    return cell->item_bytes > 0 ? items * cell->item_bytes : (items + 7) / 8;
}

static uint32_t count_at(const unsigned char *bytes) {
    uint32_t count;
    memcpy(&count, bytes, sizeof(count));
    return be32toh(count);
}

static bool may_count(const struct field *field, uint32_t count) {
    return count <= INT32_MAX &&
           (field->items == 1 || field_is_string(field) || count % field->items == 0);
}

size_t binary_plan_measure(const struct binary_plan *plan, const unsigned char *bytes,
                           size_t length) {
    uint64_t at = 0;
    if (plan == NULL)
        return 0;
    for (size_t i = 0; plan->has_variable && i <= plan->last_variable; i++) {
        const struct cell_plan *cell = &plan->cells[i];
        if (!cell->variable)
            continue;
        at += cell->gap_bytes;
        if (at > length || length - at < 4)
            return 0;
        uint32_t count = count_at(bytes + at);
        if (!may_count(cell->column->field, count))
            return 0;
        at += 4 + wire_bytes(cell, count);
    }
    at += plan->bytes_after;
    return at <= length ? (size_t)at : 0;
}

static void turn_shorts(unsigned char *to, const unsigned char *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += 2) {
        uint16_t item;
        memcpy(&item, from + i, 2);
        item = be16toh(item);
        memcpy(to + i, &item, 2);
    }
}

static void turn_words(unsigned char *to, const unsigned char *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += 4) {
        uint32_t item;
        memcpy(&item, from + i, 4);
        item = be32toh(item);
        memcpy(to + i, &item, 4);
    }
}

static void turn_longs(unsigned char *to, const unsigned char *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t item;
        memcpy(&item, from + i, 8);
        item = be64toh(item);
        memcpy(to + i, &item, 8);
    }
}

/* Any cell, by the functions of the state machine. rows->at is its column. */
static int store_items(struct binary_rows *rows, const unsigned char *bytes, uint64_t length,
                       uint64_t items) {
    struct column *column = &rows->columns[rows->at];
    bool string = field_is_string(column->field);
    rows->cell_items = items;
    if (string)
        string_cell_begin(&rows->string, column);
    int r = length == 0
                ? 0
                : binary_items_kinds[column->field->type].store(rows, bytes, (size_t)length);
    if (r < 0)
        return r;
    if (string && string_cell_end(&rows->string) < 0)
        return problem_set_memory(rows->problem);
    return column_end_cell(column) < 0 ? problem_set_memory(rows->problem) : 0;
}

/* A fixed cell of numbers. */
static int store_numbers(struct binary_rows *rows, const struct cell_plan *cell,
                         const unsigned char *bytes) {
    struct column *column = cell->column;
    uint64_t room;
    unsigned char *to = column_room_now(column, cell->bytes);
    if (to == NULL) {
        /* Chunks of a fixed column hold whole cells, so that a new one has room for this. */
        if (column_room(column, cell->bytes, cell->bytes, &room) == NULL)
            return problem_set_memory(rows->problem);
        to = column_room_now(column, cell->bytes);
    }
    switch (cell->way) {
    case WAY_SHORTS:
        turn_shorts(to, bytes, cell->bytes);
        break;
    case WAY_WORDS:
        turn_words(to, bytes, cell->bytes);
        break;
    case WAY_LONGS:
        turn_longs(to, bytes, cell->bytes);
        break;
    default:
        memcpy(to, bytes, cell->bytes);
        break;
    }
    column_keep(column, cell->bytes);
    column->rows++;
    return 0;
}

static int end_string(struct binary_rows *rows, struct column *column) {
    return column_end_variable(column) < 0 ? problem_set_memory(rows->problem) : 0;
}

static int store_chars(struct binary_rows *rows, struct column *column,
                       const unsigned char *bytes, uint64_t length) {
    const unsigned char *nul = length > 0 ? memchr(bytes, '\0', (size_t)length) : NULL;
    if (nul != NULL)
        length = (uint64_t)(nul - bytes);
    unsigned char *to = column_room_now(column, length);
    if (to != NULL) {
        memcpy(to, bytes, (size_t)length);
        column_keep(column, length);
    } else if (length > 0 && column_store_text(column, (const char *)bytes, length) < 0) {
        return problem_set_memory(rows->problem);
    }
    return end_string(rows, column);
}

/* ASCII is stored here; a string with anything else in it goes the long way from its start. */
static int store_units(struct binary_rows *rows, struct column *column,
                       const unsigned char *bytes, uint64_t length) {
    unsigned char *to = column_room_now(column, length / 2);
    uint64_t characters = 0;
    if (to == NULL)
        return store_items(rows, bytes, length, length / 2);
    for (uint64_t at = 0; at < length; at += 2, characters++) {
        if (bytes[at] != 0 || bytes[at + 1] >= 0x80)
            return store_items(rows, bytes, length, length / 2);
        if (bytes[at + 1] == '\0')
            break;
        to[characters] = bytes[at + 1];
    }
    if (characters > 0)
        column_keep(column, characters);
    return end_string(rows, column);
}

static bool is_null(const unsigned char *flags, size_t i) {
    return (flags[i / 8] & (0x80 >> i % 8)) != 0;
}

int binary_plan_store(struct binary_rows *rows, const unsigned char *bytes) {
    const struct binary_plan *plan = rows->plan;
    const unsigned char *flags = bytes;
    bytes += plan->flags_bytes;
    for (size_t i = 0; i < plan->column_count; i++) {
        const struct cell_plan *cell = &plan->cells[i];
        const struct field *field = cell->column->field;
        uint64_t items = field->items;
        uint64_t length = cell->bytes;
        int r = 0;
        if (cell->variable) {
            items = count_at(bytes);
            bytes += 4;
            length = wire_bytes(cell, items);
        }
        rows->at = i;
        if (cell->way == WAY_SKIPPED)
            r = 0;
        else if (plan->flags_bytes > 0 && is_null(flags, i))
            r = column_end_null(cell->column) < 0 ? problem_set_memory(rows->problem) : 0;
        else if (cell->way == WAY_CHARS)
            r = store_chars(rows, cell->column, bytes, length);
        else if (cell->way == WAY_UNITS)
            r = store_units(rows, cell->column, bytes, length);
        else if (cell->way == WAY_ITEMS)
            r = store_items(rows, bytes, length, items);
        else
            r = store_numbers(rows, cell, bytes);
        if (r < 0)
            return r;
        bytes += length;
    }
    return 0;
}
