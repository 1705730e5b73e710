/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns.c: chunked storage.
 *
 * A new chunk is a 64th of what the column already holds, between 1 and 64 KiB: small tables
 * stay small, and large ones waste less than 2 percent. Growing by realloc would hold the old
 * and the new column at once, which is what this program is here to show, not to do.
 */
#include "columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES_MIN 1024
#define CHUNK_BYTES_MAX 65536
#define GROWTH_DIVISOR  64

/* How the values of one kind of null item look. */
static const double real_null = __builtin_nan("");
static const float float_null = __builtin_nanf("");

/* Not inlined: this is the call site that a memory report names for the table itself. */
__attribute__((noinline)) static int columns_append_chunk(struct column_bytes *bytes) {
    uint64_t capacity = bytes->total / GROWTH_DIVISOR;
    if (capacity < CHUNK_BYTES_MIN)
        capacity = CHUNK_BYTES_MIN;
    if (capacity > CHUNK_BYTES_MAX)
        capacity = CHUNK_BYTES_MAX;
    capacity -= capacity % bytes->granule;

    struct column_chunk *chunk = malloc(sizeof(*chunk) + capacity);
    if (chunk == NULL)
        return -ENOMEM;
    chunk->next = NULL;
    chunk->used = 0;
    chunk->capacity = capacity;
    if (bytes->last == NULL)
        bytes->first = chunk;
    else
        bytes->last->next = chunk;
    bytes->last = chunk;
    return 0;
}

static unsigned char *room_in(struct column_bytes *bytes, uint64_t least, uint64_t most,
                              uint64_t *ret_bytes) {
    struct column_chunk *chunk = bytes->last;
    if (chunk == NULL || chunk->capacity - chunk->used < least) {
        if (columns_append_chunk(bytes) < 0)
            return NULL;
        chunk = bytes->last;
    }
    uint64_t room = chunk->capacity - chunk->used;
    *ret_bytes = room < most ? room : most;
    return chunk->bytes + chunk->used;
}

static void free_chunks(struct column_bytes *bytes) {
    struct column_chunk *next;
    for (struct column_chunk *chunk = bytes->first; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    memset(bytes, 0, sizeof(*bytes));
}

/* All chunks but the first, which is emptied. */
static void clear_chunks(struct column_bytes *bytes) {
    struct column_chunk *first = bytes->first;
    if (first == NULL)
        return;
    struct column_chunk *next;
    for (struct column_chunk *chunk = first->next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    first->next = NULL;
    first->used = 0;
    bytes->last = first;
    bytes->total = 0;
}

void column_init(struct column *column, const struct field *field) {
    uint64_t cell_bytes = field_wire_bytes(field, field->items);
    bool fixed =
        !field->variable && !field_is_string(field) && cell_bytes <= COLUMN_FIXED_BYTES_MAX;
    *column = (struct column){
        .field = field,
        .fixed = fixed,
        .cell_bytes = fixed ? cell_bytes : 0,
        .cells.granule = fixed && cell_bytes > 0 ? cell_bytes : 16,
        .ends.granule = sizeof(uint64_t),
        .nulls.granule = 1,
    };
}

void column_finish(struct column *column) {
    free_chunks(&column->cells);
    free_chunks(&column->ends);
    free_chunks(&column->nulls);
}

void column_clear(struct column *column) {
    clear_chunks(&column->cells);
    clear_chunks(&column->ends);
    clear_chunks(&column->nulls);
    column->rows = 0;
    column->bits = 0;
}

uint64_t column_stored_bytes(const struct column *column) {
    return column->cells.total + column->ends.total + column->nulls.total;
}

unsigned char *column_room(struct column *column, uint64_t least, uint64_t most,
                           uint64_t *ret_bytes) {
    return room_in(&column->cells, least, most, ret_bytes);
}

int column_store_text(struct column *column, const char *text, uint64_t length) {
    while (length > 0) {
        uint64_t room;
        unsigned char *to = room_in(&column->cells, 1, length, &room);
        if (to == NULL)
            return -ENOMEM;
        memcpy(to, text, room);
        column_keep(column, room);
        text += room;
        length -= room;
    }
    return 0;
}

static int append_end(struct column *column) {
    uint64_t end = column->cells.total;
    /* A cell of bits ends before its last byte does; the next one starts at a byte again. */
    if (column->field->type == FIELD_BIT) {
        end = end * 8 - (8 - column->bits % 8) % 8;
        column->bits = 0;
    }
    uint64_t room;
    unsigned char *to = room_in(&column->ends, sizeof(end), sizeof(end), &room);
    if (to == NULL)
        return -ENOMEM;
    memcpy(to, &end, sizeof(end));
    column->ends.last->used += sizeof(end);
    column->ends.total += sizeof(end);
    return 0;
}

int column_end_cell(struct column *column) {
    column->rows++;
    if (column->fixed) {
        column->bits = 0;
        return 0;
    }
    return append_end(column);
}

/* Set the bit of @row; rows in between have theirs clear. */
static int set_null_bit(struct column *column, uint64_t row) {
    struct column_bytes *nulls = &column->nulls;
    while (nulls->total <= row / 8) {
        uint64_t room;
        unsigned char *to = room_in(nulls, 1, row / 8 + 1 - nulls->total, &room);
        if (to == NULL)
            return -ENOMEM;
        memset(to, 0, room);
        nulls->last->used += room;
        nulls->total += room;
    }
    nulls->last->bytes[nulls->last->used - 1] |= (unsigned char)(0x80 >> row % 8);
    return 0;
}

/* The item that stands for null. Returns whether the column needs the null bit besides. */
static bool null_item(const struct field *field, unsigned char ret_item[16],
                      uint64_t *ret_bytes) {
    memset(ret_item, 0, 16);
    *ret_bytes = field_item_bytes(field->type);
    switch (field->type) {
    case FIELD_BOOLEAN:
        ret_item[0] = COLUMN_BOOLEAN_NULL;
        return false;
    case FIELD_FLOAT:
    case FIELD_FLOAT_COMPLEX:
        memcpy(ret_item, &float_null, 4);
        memcpy(ret_item + 4, &float_null, 4);
        return false;
    case FIELD_DOUBLE:
    case FIELD_DOUBLE_COMPLEX:
        memcpy(ret_item, &real_null, 8);
        memcpy(ret_item + 8, &real_null, 8);
        return false;
    case FIELD_UNSIGNED_BYTE:
        ret_item[0] = (unsigned char)field->null_integer;
        return !field->has_null;
    case FIELD_SHORT:
        memcpy(ret_item, &(int16_t){(int16_t)field->null_integer}, 2);
        return !field->has_null;
    case FIELD_INT:
        memcpy(ret_item, &(int32_t){(int32_t)field->null_integer}, 4);
        return !field->has_null;
    case FIELD_LONG:
        memcpy(ret_item, &field->null_integer, 8);
        return !field->has_null;
    default:
        return true;
    }
}

int column_store_null_item(struct column *column) {
    unsigned char item[16];
    uint64_t item_bytes;
    null_item(column->field, item, &item_bytes);
    return column_store(column, item, item_bytes);
}

int column_end_null(struct column *column) {
    column->null_cells++;
    if (column->marks_nulls && set_null_bit(column, column->rows) < 0)
        return -ENOMEM;
    if (!column->fixed)
        return column_end_cell(column);

    unsigned char item[16];
    uint64_t item_bytes;
    bool needs_bit = null_item(column->field, item, &item_bytes);
    if (item_bytes == 0)
        item_bytes = 1;
    for (uint64_t stored = 0; stored < column->cell_bytes; stored += item_bytes) {
        int r = column_store(column, item, item_bytes);
        if (r < 0)
            return r;
    }
    if (needs_bit && !column->marks_nulls) {
        int r = set_null_bit(column, column->rows);
        if (r < 0)
            return r;
    }
    return column_end_cell(column);
}

void column_cursor_init(struct column_cursor *cursor, const struct column *column) {
    *cursor = (struct column_cursor){
        .column = column,
        .cell_chunk = column->cells.first,
        .end_chunk = column->ends.first,
        .null_chunk = column->nulls.first,
    };
}

/* Is the bit of the cursor's row set? Steps into the next chunk at the end of one. */
static bool cursor_null_bit(struct column_cursor *cursor) {
    if (cursor->row / 8 >= cursor->column->nulls.total)
        return false;
    bool null = (cursor->null_chunk->bytes[cursor->null_at] & (0x80 >> cursor->row % 8)) != 0;
    if (cursor->row % 8 == 7 && ++cursor->null_at == cursor->null_chunk->used) {
        cursor->null_chunk = cursor->null_chunk->next;
        cursor->null_at = 0;
    }
    return null;
}

static uint64_t cursor_end(struct column_cursor *cursor) {
    uint64_t end;
    if (cursor->end_at == cursor->end_chunk->used) {
        cursor->end_chunk = cursor->end_chunk->next;
        cursor->end_at = 0;
    }
    memcpy(&end, cursor->end_chunk->bytes + cursor->end_at, sizeof(end));
    cursor->end_at += sizeof(end);
    return end;
}

bool column_cursor_next(struct column_cursor *cursor, struct column_cell *ret_cell) {
    const struct column *column = cursor->column;
    if (cursor->row == column->rows)
        return false;
    struct column_cell cell = {.null = cursor_null_bit(cursor)};
    cursor->row++;
    if (column->fixed) {
        cell.bytes = column->cell_bytes;
        cell.bits = column->field->items;
    } else {
        uint64_t end = cursor_end(cursor);
        cell.bytes = end - cursor->start;
        cursor->start = end;
        if (column->field->type == FIELD_BIT) {
            cell.bits = cell.bytes;
            cell.bytes = (cell.bits + 7) / 8;
            cursor->start = (end + 7) / 8 * 8;
        }
    }
    *ret_cell = cell;
    return true;
}

const unsigned char *column_cursor_take(struct column_cursor *cursor, uint64_t most,
                                        uint64_t *ret_bytes) {
    if (cursor->cell_at == cursor->cell_chunk->used) {
        cursor->cell_chunk = cursor->cell_chunk->next;
        cursor->cell_at = 0;
    }
    uint64_t left = cursor->cell_chunk->used - cursor->cell_at;
    const unsigned char *bytes = cursor->cell_chunk->bytes + cursor->cell_at;
    *ret_bytes = left < most ? left : most;
    cursor->cell_at += *ret_bytes;
    return bytes;
}

int column_scratch_reserve(struct column_scratch *scratch, uint64_t bytes) {
    if (bytes <= scratch->room)
        return 0;
    unsigned char *grown = realloc(scratch->bytes, bytes);
    if (grown == NULL)
        return -ENOMEM;
    scratch->bytes = grown;
    scratch->room = bytes;
    return 0;
}

const unsigned char *column_cursor_whole(struct column_cursor *cursor,
                                         const struct column_cell *cell,
                                         struct column_scratch *scratch) {
    static const unsigned char nothing[16];
    if (cell->bytes == 0)
        return nothing;
    uint64_t taken;
    const unsigned char *bytes = column_cursor_take(cursor, cell->bytes, &taken);
    if (taken == cell->bytes)
        return bytes;
    if (column_scratch_reserve(scratch, cell->bytes) < 0)
        return NULL;
    memcpy(scratch->bytes, bytes, taken);
    for (uint64_t at = taken; at < cell->bytes; at += taken) {
        bytes = column_cursor_take(cursor, cell->bytes - at, &taken);
        memcpy(scratch->bytes + at, bytes, taken);
    }
    return scratch->bytes;
}

void column_scratch_finish(struct column_scratch *scratch) {
    free(scratch->bytes);
    *scratch = (struct column_scratch){0};
}
