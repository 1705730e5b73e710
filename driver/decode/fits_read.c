/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_read.c: bytes of rows and heap become cells.
 *
 * A row is in memory at a time, and of the heap the cell that is read. Every place and length
 * that the file names is compared with its size before anything is read or allocated.
 */
#include "fits_read.h"

#include "fits_headers.h"
#include "string_cell.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ITEMS_AT_ONCE 256

struct fits_reader {
    const struct fits_source *source;
    struct table *table;
    struct problem *problem;
    struct fits_table fits;
    int fd;                     /* -1: the source is in memory */
    struct column_scratch rows; /* some of them */
    uint64_t rows_first;
    uint64_t rows_count;
    uint64_t rows_room;
    struct column_scratch heap;
    struct string_cell string;
};

static int complain(struct fits_reader *reader, const struct field *field, const char *what) {
    return problem_set(reader->problem, -EBADMSG, reader->source->lineno,
                       "row %" PRIu64
                       " of the FITS table, column '%s', %s, the file is damaged, "
                       "fetch or write it again",
                       reader->table->rows + 1, field->name, what);
}

static int read_at(struct fits_reader *reader, uint64_t offset, unsigned char *to,
                   uint64_t bytes) {
    if (reader->fd < 0) {
        memcpy(to, (const unsigned char *)reader->source->bytes + offset, bytes);
        return 0;
    }
    while (bytes > 0) {
        ssize_t n = pread(reader->fd, to, bytes, (off_t)offset);
        if (n > 0) {
            to += n;
            offset += (uint64_t)n;
            bytes -= (uint64_t)n;
        } else if (n == 0 || errno != EINTR) {
            return problem_set(reader->problem, n == 0 ? -EBADMSG : -errno,
                               reader->source->lineno, "the FITS file cannot be read: %s",
                               n == 0 ? "it became shorter, fetch it again" : strerror(errno));
        }
    }
    return 0;
}

/* The bytes of a row; several are read at once. */
static int take_row(struct fits_reader *reader, uint64_t row, const unsigned char **ret_row) {
    const struct fits_table *fits = &reader->fits;
    if (row >= reader->rows_first + reader->rows_count) {
        uint64_t left = fits->rows - row;
        reader->rows_first = row;
        reader->rows_count = left < reader->rows_room ? left : reader->rows_room;
        int r = read_at(reader, fits->data_start + row * fits->row_bytes, reader->rows.bytes,
                        reader->rows_count * fits->row_bytes);
        if (r < 0)
            return r;
    }
    *ret_row = reader->rows.bytes + (row - reader->rows_first) * fits->row_bytes;
    return 0;
}

/* An array in the heap, from its descriptor. */
static int take_array(struct fits_reader *reader, const struct field *field,
                      const struct fits_column *column, const unsigned char *descriptor,
                      const unsigned char **ret_items, uint64_t *ret_count) {
    uint64_t count = 0;
    uint64_t offset = 0;
    if (column->repeat > 0 && column->wide) {
        memcpy(&count, descriptor, 8);
        memcpy(&offset, descriptor + 8, 8);
        count = be64toh(count);
        offset = be64toh(offset);
    } else if (column->repeat > 0) {
        uint32_t narrow[2];
        memcpy(narrow, descriptor, 8);
        count = be32toh(narrow[0]);
        offset = be32toh(narrow[1]);
    }
    if (count == 0) {
        *ret_count = 0;
        return 0;
    }
    if (count > INT32_MAX)
        return complain(reader, field, "has an array beyond 2147483647 items");
    uint64_t bytes = fits_column_bytes(column, count);
    uint64_t room = reader->fits.file_bytes - reader->fits.heap_start;
    if (offset > room || bytes > room - offset)
        return complain(reader, field, "has an array beyond the end of the file");
    if (column_scratch_reserve(&reader->heap, bytes) < 0)
        return problem_set_memory(reader->problem);
    *ret_items = reader->heap.bytes;
    *ret_count = count;
    return read_at(reader, reader->fits.heap_start + offset, reader->heap.bytes, bytes);
}

static int64_t raw_integer(const struct fits_column *column, const unsigned char *item) {
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (column->letter) {
    case 'B':
        return *item;
    case 'I':
        memcpy(&two, item, 2);
        return (int16_t)be16toh(two);
    case 'J':
        memcpy(&four, item, 4);
        return (int32_t)be32toh(four);
    default:
        memcpy(&eight, item, 8);
        return (int64_t)be64toh(eight);
    }
}

static double raw_float(const unsigned char *item) {
    uint32_t bits;
    float value;
    memcpy(&bits, item, 4);
    bits = be32toh(bits);
    memcpy(&value, &bits, 4);
    return (double)value;
}

static double raw_double(const unsigned char *item) {
    uint64_t bits;
    double value;
    memcpy(&bits, item, 8);
    bits = be64toh(bits);
    memcpy(&value, &bits, 8);
    return value;
}

static bool is_integer_kind(const struct fits_column *column) {
    return strchr("BIJK", column->letter) != NULL;
}

static bool is_null_item(const struct fits_column *column, const unsigned char *item) {
    switch (column->letter) {
    case 'L':
        return *item != 'T' && *item != 'F' && *item != 't' && *item != 'f';
    case 'E':
        return isnan(raw_float(item));
    case 'D':
        return isnan(raw_double(item));
    case 'C':
        return isnan(raw_float(item)) && isnan(raw_float(item + 4));
    case 'M':
        return isnan(raw_double(item)) && isnan(raw_double(item + 8));
    default:
        return column->has_null && raw_integer(column, item) == column->null;
    }
}

/* Is every item of a fixed cell null? Then the cell is. */
static bool is_null_cell(const struct fits_column *column, const unsigned char *items,
                         uint64_t count) {
    if (column->letter == 'X')
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!is_null_item(column, items + i * column->item_bytes))
            return false;
    return count > 0;
}

/* An integer with its TZERO, which may be 2^63. False when 64 bits do not hold it. */
static bool scaled_integer(const struct fits_column *column, int64_t raw, int64_t *ret_value) {
    if (!column->scaled) {
        *ret_value = raw;
        return true;
    }
    __extension__ typedef __int128 wide;
    wide value = (wide)raw + (wide)column->zero;
    *ret_value = (int64_t)value;
    return value >= INT64_MIN && value <= INT64_MAX;
}

static int make_integer(struct fits_reader *reader, const struct field *field,
                        const struct fits_column *column, const unsigned char *item,
                        unsigned char *to) {
    static const struct {
        int64_t low, high;
    } limits[] = {
        [FIELD_UNSIGNED_BYTE] = {0, UINT8_MAX},
        [FIELD_SHORT] = {INT16_MIN, INT16_MAX},
        [FIELD_INT] = {INT32_MIN, INT32_MAX},
        [FIELD_LONG] = {INT64_MIN, INT64_MAX},
    };
    int64_t value;
    if (is_null_item(column, item) && field->has_null)
        value = field->null_integer;
    else if (!scaled_integer(column, raw_integer(column, item), &value) ||
             value < limits[field->type].low || value > limits[field->type].high)
        return complain(reader, field, "has a value that its datatype cannot hold");
    switch (field->type) {
    case FIELD_UNSIGNED_BYTE:
        *to = (unsigned char)value;
        break;
    case FIELD_SHORT:
        memcpy(to, &(int16_t){(int16_t)value}, 2);
        break;
    case FIELD_INT:
        memcpy(to, &(int32_t){(int32_t)value}, 4);
        break;
    default:
        memcpy(to, &value, 8);
        break;
    }
    return 0;
}

static double make_real(const struct fits_column *column, const unsigned char *item) {
    double value;
    if (is_integer_kind(column))
        value =
            is_null_item(column, item) ? __builtin_nan("") : (double)raw_integer(column, item);
    else if (column->letter == 'E' || column->letter == 'C')
        value = raw_float(item);
    else
        value = raw_double(item);
    return column->scaled ? value * column->scale + column->zero : value;
}

/* Reals without scaling keep their bits, NaN's too. */
static void copy_real(const struct fits_column *column, const unsigned char *item, bool narrow,
                      unsigned char *to) {
    uint32_t four;
    uint64_t eight;
    bool same = !column->scaled && !is_integer_kind(column);
    if (same && narrow && (column->letter == 'E' || column->letter == 'C')) {
        memcpy(&four, item, 4);
        four = be32toh(four);
        memcpy(to, &four, 4);
    } else if (same && !narrow && (column->letter == 'D' || column->letter == 'M')) {
        memcpy(&eight, item, 8);
        eight = be64toh(eight);
        memcpy(to, &eight, 8);
    } else if (narrow) {
        memcpy(to, &(float){(float)make_real(column, item)}, 4);
    } else {
        memcpy(to, &(double){make_real(column, item)}, 8);
    }
}

static int make_item(struct fits_reader *reader, const struct field *field,
                     const struct fits_column *column, const unsigned char *item,
                     unsigned char *to) {
    switch (field->type) {
    case FIELD_BOOLEAN:
        *to = is_null_item(column, item) ? COLUMN_BOOLEAN_NULL : *item == 'T' || *item == 't';
        return 0;
    case FIELD_FLOAT:
    case FIELD_DOUBLE:
        copy_real(column, item, field->type == FIELD_FLOAT, to);
        return 0;
    case FIELD_FLOAT_COMPLEX:
        copy_real(column, item, true, to);
        copy_real(column, item + 4, true, to + 4);
        return 0;
    case FIELD_DOUBLE_COMPLEX:
        copy_real(column, item, false, to);
        copy_real(column, item + column->item_bytes / 2, false, to + 8);
        return 0;
    default:
        return make_integer(reader, field, column, item, to);
    }
}

static int store_items(struct fits_reader *reader, struct column *to,
                       const struct fits_column *column, const unsigned char *items,
                       uint64_t count) {
    const struct field *field = to->field;
    uint64_t width = field_item_bytes(field->type);
    unsigned char made[ITEMS_AT_ONCE * 16];
    for (uint64_t at = 0; at < count;) {
        uint64_t piece = count - at < ITEMS_AT_ONCE ? count - at : ITEMS_AT_ONCE;
        for (uint64_t i = 0; i < piece; i++) {
            int r = make_item(reader, field, column, items + (at + i) * column->item_bytes,
                              made + i * width);
            if (r < 0)
                return r;
        }
        if (column_store_text(to, (const char *)made, piece * width) < 0)
            return problem_set_memory(reader->problem);
        at += piece;
    }
    return 0;
}

static int store_bits(struct fits_reader *reader, struct column *to, const unsigned char *bits,
                      uint64_t count) {
    uint64_t whole = count / 8;
    int r = column_store_text(to, (const char *)bits, whole);
    if (r == 0 && count % 8 != 0) {
        const unsigned char last = (unsigned char)(bits[whole] & 0xff << (8 - count % 8));
        r = column_store(to, &last, 1);
    }
    column_count_bits(to, count);
    return r < 0 ? problem_set_memory(reader->problem) : 0;
}

/* Strings of unicodeChar: @width bytes of UTF-8 each, without what pads them. */
static int store_unicode(struct column *to, const char *text, uint64_t bytes, uint64_t width) {
    int r = 0;
    for (uint64_t at = 0; at < bytes && r == 0; at += width) {
        uint64_t most = bytes - at < width ? bytes - at : width;
        uint64_t length = strnlen(text + at, most);
        while (length > 0 && text[at + length - 1] == ' ')
            length--;
        r = column_store_text(to, text + at, length);
        if (r == 0)
            r = column_store_text(to, "", 1);
    }
    return r;
}

static int store_strings(struct fits_reader *reader, struct column *to,
                         const unsigned char *text, uint64_t bytes) {
    const struct field *field = to->field;
    int r;
    if (field->string_items == 0) {
        r = column_store_text(to, (const char *)text, strnlen((const char *)text, bytes));
    } else if (field->type == FIELD_UNICODE_CHAR) {
        /* Three bytes a unit are room for every character; other writers have ASCII only. */
        uint64_t width = 3 * field->string_items;
        if (bytes % width != 0 || (!field->variable && bytes == field->items))
            width = field->string_items;
        r = store_unicode(to, (const char *)text, bytes, width);
    } else {
        string_cell_begin(&reader->string, to);
        r = string_cell_bytes(&reader->string, text, bytes);
        if (r == 0)
            r = string_cell_end(&reader->string);
    }
    return r < 0 ? problem_set_memory(reader->problem) : 0;
}

static bool is_empty(const unsigned char *text, uint64_t length) {
    uint64_t at = 0;
    while (at < length && text[at] == '\0')
        at++;
    return at == length;
}

static int read_cell(struct fits_reader *reader, struct column *to,
                     const struct fits_column *column, const unsigned char *row) {
    const struct field *field = to->field;
    const unsigned char *items = row + column->offset;
    uint64_t count = column->repeat;
    int r = 0;
    if (column->variable)
        r = take_array(reader, field, column, items, &items, &count);
    if (r < 0)
        return r;

    bool null = count == 0;
    if (field_is_string(field))
        null = is_empty(items, count);
    else if (count % field->items != 0 || (!field->variable && !null && count != field->items))
        return complain(reader, field,
                        "has a number of items that its arraysize does not "
                        "allow");
    else if (!field->variable && !null)
        null = is_null_cell(column, items, count);
    if (!null && field_is_string(field))
        r = store_strings(reader, to, items, count);
    else if (!null && field->type == FIELD_BIT)
        r = store_bits(reader, to, items, count);
    else if (!null)
        r = store_items(reader, to, column, items, count);
    if (r < 0)
        return r;
    r = null ? column_end_null(to) : column_end_cell(to);
    return r < 0 ? problem_set_memory(reader->problem) : 0;
}

static int read_rows(struct fits_reader *reader, const struct consumer *consumer) {
    struct table *table = reader->table;
    uint64_t rows = reader->fits.rows;
    if (rows > table->row_limit)
        rows = table->row_limit;
    for (uint64_t row = 0; row < rows; row++) {
        const unsigned char *bytes;
        int r = take_row(reader, row, &bytes);
        for (size_t i = 0; i < table->field_count && r == 0; i++)
            if (!table->fields[i]->skipped)
                r = read_cell(reader, &table->columns[i], &reader->fits.columns[i], bytes);
        if (r < 0)
            return r;
        table->rows++;
        r = consumer_rows_done(consumer, table, reader->problem);
        if (r < 0)
            return r;
    }
    return consumer_rows_flush(consumer, table, reader->problem);
}

/* The path may be that of a file without a name: it is for no message. */
static int open_file(struct fits_reader *reader) {
    const struct fits_source *source = reader->source;
    struct stat status;
    reader->fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0 || fstat(reader->fd, &status) < 0)
        return problem_set(reader->problem, -errno, source->lineno,
                           "the FITS file of the STREAM cannot be read: %s, correct the href",
                           strerror(errno));
    reader->fits.file_bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    return 0;
}

static int open_source(struct fits_reader *reader) {
    static const char start[] = "SIMPLE";
    unsigned char found[sizeof(start) - 1];
    reader->fits.file_bytes = reader->source->length;
    int r = reader->source->bytes == NULL ? open_file(reader) : 0;
    if (r < 0)
        return r;
    bool is_fits = reader->fits.file_bytes >= sizeof(found);
    if (is_fits)
        r = read_at(reader, 0, found, sizeof(found));
    if (r == 0 && (!is_fits || memcmp(found, start, sizeof(found)) != 0))
        r = problem_set(reader->problem, -EBADMSG, reader->source->lineno,
                        "the STREAM is no FITS file, give one, or another serialization");
    return r;
}

int fits_read_table(const struct fits_source *source, struct table *table,
                    const struct consumer *consumer, struct problem *problem) {
    struct fits_reader reader = {
        .source = source, .table = table, .problem = problem, .fd = -1};
    int r = open_source(&reader);
    if (r == 0)
        r = fits_headers_check(source, reader.fd, reader.fits.file_bytes, problem);
    if (r == 0)
        r = fits_table_open(source, &reader.fits, problem);
    if (r == 0)
        r = fits_table_match(source, table, &reader.fits, problem);
    /* Of a table without rows the length of a row has not been compared with the file's. */
    if (r == 0 && reader.fits.rows > 0) {
        uint64_t row_bytes = reader.fits.row_bytes > 0 ? reader.fits.row_bytes : 1;
        reader.rows_room = row_bytes < 65536 ? 65536 / row_bytes : 1;
        if (column_scratch_reserve(&reader.rows, reader.rows_room * row_bytes) < 0)
            r = problem_set_memory(problem);
    }
    if (r == 0)
        r = read_rows(&reader, consumer);
    column_scratch_finish(&reader.rows);
    column_scratch_finish(&reader.heap);
    fits_table_finish(&reader.fits);
    if (reader.fd >= 0)
        close(reader.fd);
    return r;
}
