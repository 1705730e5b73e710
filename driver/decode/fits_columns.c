/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_columns.c: headers by cfitsio. The only reader's file that knows it.
 *
 * cfitsio opens what it is given as a plain file: neither filters in names nor URLs are looked
 * at. What the headers say is believed only after it was compared with the file's size.
 */
#include "fits_columns.h"

#include "fits_library.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char letter;
    uint64_t item_bytes;
    const char *words;
    uint32_t fields; /* a bit for each field_type that such items can become */
} kinds[] = {
    {'L', 1, "logical", 1u << FIELD_BOOLEAN},
    {'X', 0, "bits", 1u << FIELD_BIT},
    {'A', 1, "characters", 1u << FIELD_CHAR | 1u << FIELD_UNICODE_CHAR},
    {'B', 1, "8-bit integers",
     1u << FIELD_UNSIGNED_BYTE | 1u << FIELD_SHORT | 1u << FIELD_INT | 1u << FIELD_LONG |
         1u << FIELD_FLOAT | 1u << FIELD_DOUBLE},
    {'I', 2, "16-bit integers",
     1u << FIELD_UNSIGNED_BYTE | 1u << FIELD_SHORT | 1u << FIELD_INT | 1u << FIELD_LONG |
         1u << FIELD_FLOAT | 1u << FIELD_DOUBLE},
    {'J', 4, "32-bit integers",
     1u << FIELD_UNSIGNED_BYTE | 1u << FIELD_SHORT | 1u << FIELD_INT | 1u << FIELD_LONG |
         1u << FIELD_FLOAT | 1u << FIELD_DOUBLE},
    {'K', 8, "64-bit integers",
     1u << FIELD_UNSIGNED_BYTE | 1u << FIELD_SHORT | 1u << FIELD_INT | 1u << FIELD_LONG |
         1u << FIELD_FLOAT | 1u << FIELD_DOUBLE},
    {'E', 4, "floats", 1u << FIELD_FLOAT | 1u << FIELD_DOUBLE},
    {'D', 8, "doubles", 1u << FIELD_DOUBLE},
    {'C', 8, "complex floats", 1u << FIELD_FLOAT_COMPLEX | 1u << FIELD_DOUBLE_COMPLEX},
    {'M', 16, "complex doubles", 1u << FIELD_DOUBLE_COMPLEX},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t find_kind(char letter) {
    size_t i = 0;
    while (i < KINDS && kinds[i].letter != letter)
        i++;
    return i;
}

uint64_t fits_column_bytes(const struct fits_column *column, uint64_t items) {
    return column->letter == 'X' ? (items + 7) / 8 : items * column->item_bytes;
}

static int complain_fits(const struct fits_source *source, const struct fits_session *session,
                         const char *what, int status, struct problem *problem) {
    char words[FLEN_STATUS] = "";
    if (status == MEMORY_ALLOCATION)
        return problem_set_memory(problem);
    session->library->fits_get_errstatus(status, words);
    return problem_set(problem, -EBADMSG, source->lineno,
                       "%s: %s, correct the FITS or fetch it again", what, words);
}

/* What cfitsio keeps pointers to while a file in memory is open. */
struct memory_file {
    void *bytes;
    size_t length;
};

static int open_file(const struct fits_source *source, struct memory_file *memory,
                     struct fits_session *session, struct problem *problem) {
    int status = 0;
    if (source->bytes != NULL) {
        memory->bytes = (void *)(uintptr_t)source->bytes; /* opened to be read only */
        memory->length = (size_t)source->length;
        session->library->fits_open_memfile(&session->file, "stream.fits", READONLY,
                                            &memory->bytes, &memory->length, 0, NULL, &status);
    } else {
        session->library->fits_open_diskfile(&session->file, source->path, READONLY, &status);
    }
    return status == 0
               ? 0
               : complain_fits(source, session, "the STREAM is no FITS file", status, problem);
}

/* To the extension that is asked for, or to the first that is a binary table. */
static int move_to_table(const struct fits_source *source, const struct fits_session *session,
                         struct problem *problem) {
    int status = 0;
    int type = IMAGE_HDU;
    uint64_t number = source->extnum > 0 ? source->extnum : 1;
    if (number > 100000)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "FITS extnum %" PRIu64 " is beyond every file, correct it", number);
    session->library->fits_movabs_hdu(session->file, (int)number + 1, &type, &status);
    while (status == 0 && type != BINARY_TBL && source->extnum == 0)
        session->library->fits_movrel_hdu(session->file, 1, &type, &status);
    if (status != 0 && status != END_OF_FILE)
        return complain_fits(source, session, "a header in the FITS file is damaged", status,
                             problem);
    if (status != 0 && source->extnum > 0)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "the FITS file has no extension %" PRIu64
                           ", correct the extnum or the file",
                           number);
    if (status != 0)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "the FITS file has no binary table, give one that has");
    if (type != BINARY_TBL)
        return problem_set(problem, -ENOTSUP, source->lineno,
                           "extension %" PRIu64 " of the FITS file is no binary table, "
                           "correct the extnum or convert the file with astropy",
                           number);
    return 0;
}

/* A keyword that may be missing. */
static double read_real(const struct fits_session *session, const char *name, int number,
                        double otherwise) {
    char key[FLEN_KEYWORD];
    double value;
    int status = 0;
    session->library->fits_make_keyn(name, number, key, &status);
    session->library->fits_read_key(session->file, TDOUBLE, key, &value, NULL, &status);
    return status == 0 ? value : otherwise;
}

/* TFORM: rT, rPT(max), rQT(max). */
static int read_form(const struct fits_session *session, int number,
                     struct fits_column *column) {
    char key[FLEN_KEYWORD];
    char form[FLEN_VALUE] = "";
    int status = 0;
    session->library->fits_make_keyn("TFORM", number, key, &status);
    session->library->fits_read_key(session->file, TSTRING, key, form, NULL, &status);
    const char *c = form;
    while (*c == ' ')
        c++;
    bool counted = *c >= '0' && *c <= '9';
    column->repeat = counted ? 0 : 1;
    for (; *c >= '0' && *c <= '9'; c++) {
        column->repeat = column->repeat * 10 + (uint64_t)(*c - '0');
        if (column->repeat > INT32_MAX)
            return -EBADMSG;
    }
    column->variable = *c == 'P' || *c == 'Q';
    column->wide = *c == 'Q';
    if (column->variable)
        c++;
    size_t kind = find_kind(*c);
    if (status != 0 || kind == KINDS || (column->variable && column->repeat > 1))
        return -EBADMSG;
    column->letter = kinds[kind].letter;
    column->item_bytes = kinds[kind].item_bytes;
    return 0;
}

/* Up to 2^63, which makes 64-bit numbers unsigned. Beyond 2^53 every double is whole. */
static bool is_whole(double value) {
    double size = value < 0 ? -value : value;
    return size <= 0x1p63 && (size >= 0x1p53 || size == (double)(int64_t)size);
}

static void read_scaling(const struct fits_session *session, int number,
                         struct fits_column *column) {
    char key[FLEN_KEYWORD];
    LONGLONG null;
    int status = 0;
    column->scale = read_real(session, "TSCAL", number, 1);
    column->zero = read_real(session, "TZERO", number, 0);
    column->scaled =
        (column->scale != 1 || column->zero != 0) && strchr("BIJKEDCM", column->letter) != NULL;
    column->integral = column->scale == 1 && is_whole(column->zero);
    session->library->fits_make_keyn("TNULL", number, key, &status);
    session->library->fits_read_key(session->file, TLONGLONG, key, &null, NULL, &status);
    column->has_null = status == 0 && strchr("BIJK", column->letter) != NULL;
    column->null = column->has_null ? null : 0;
}

static uint64_t width_in_row(const struct fits_column *column) {
    if (column->variable)
        return column->repeat * (column->wide ? 16 : 8);
    return fits_column_bytes(column, column->repeat);
}

static int read_columns(const struct fits_source *source, const struct fits_session *session,
                        struct fits_table *fits, struct problem *problem) {
    uint64_t offset = 0;
    for (int i = 0; i < fits->column_count; i++) {
        struct fits_column *column = &fits->columns[i];
        if (read_form(session, i + 1, column) < 0)
            return problem_set(problem, -EBADMSG, source->lineno,
                               "column %d of the FITS table has no TFORM that a binary table "
                               "can have, correct the FITS",
                               i + 1);
        read_scaling(session, i + 1, column);
        column->offset = offset;
        offset += width_in_row(column);
    }
    if (offset > fits->row_bytes)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "the FITS table's columns take %" PRIu64
                           " bytes, its rows have %" PRIu64 ", correct the FITS",
                           offset, fits->row_bytes);
    return 0;
}

static int read_layout(const struct fits_source *source, const struct fits_session *session,
                       struct fits_table *fits, struct problem *problem) {
    LONGLONG row_bytes = 0, rows = 0, heap = 0, data_start = 0, end = 0;
    int status = 0;
    session->library->fits_get_num_cols(session->file, &fits->column_count, &status);
    session->library->fits_read_key(session->file, TLONGLONG, "NAXIS1", &row_bytes, NULL,
                                    &status);
    session->library->fits_read_key(session->file, TLONGLONG, "NAXIS2", &rows, NULL, &status);
    session->library->fits_get_hduaddrll(session->file, NULL, &data_start, &end, &status);
    if (status != 0)
        return complain_fits(source, session, "the FITS table's header is damaged", status,
                             problem);
    uint64_t table_bytes;
    if (row_bytes < 0 || rows < 0 || data_start < 0 ||
        __builtin_mul_overflow((uint64_t)row_bytes, (uint64_t)rows, &table_bytes) ||
        table_bytes > fits->file_bytes || (uint64_t)data_start > fits->file_bytes - table_bytes)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "the FITS file ends before the last of its %lld rows, it is cut "
                           "short, fetch or write it again",
                           (long long)rows);
    session->library->fits_read_key(session->file, TLONGLONG, "THEAP", &heap, NULL, &status);
    fits->row_bytes = (uint64_t)row_bytes;
    fits->rows = (uint64_t)rows;
    fits->data_start = (uint64_t)data_start;
    fits->heap_start =
        (uint64_t)data_start + (status == 0 && heap > 0 ? (uint64_t)heap : table_bytes);
    if (fits->heap_start > fits->file_bytes)
        fits->heap_start = fits->file_bytes;
    return 0;
}

int fits_table_open(const struct fits_source *source, struct fits_table *ret_fits,
                    struct problem *problem) {
    struct memory_file memory;
    struct fits_session session = {0};
    ret_fits->columns = NULL;
    int r = fits_library_load(source->lineno, &session.library, problem);
    if (r < 0)
        return r;
    r = open_file(source, &memory, &session, problem);
    if (r == 0)
        r = move_to_table(source, &session, problem);
    if (r == 0)
        r = read_layout(source, &session, ret_fits, problem);
    if (r == 0) {
        ret_fits->columns =
            calloc((size_t)ret_fits->column_count + 1, sizeof(*ret_fits->columns));
        if (ret_fits->columns == NULL)
            r = problem_set_memory(problem);
    }
    if (r == 0)
        r = read_columns(source, &session, ret_fits, problem);
    int status = 0;
    if (session.file != NULL)
        session.library->fits_close_file(session.file, &status);
    session.library->fits_clear_errmsg();
    return r;
}

bool fits_column_fits(const struct fits_column *column, const struct field *field,
                      char ret_words[FITS_WORDS_BYTES]) {
    size_t kind = find_kind(column->letter);
    const char *words = NULL;
    if ((kinds[kind].fields & 1u << field->type) == 0)
        words = kinds[kind].words;
    else if (column->scaled && !column->integral && field_is_integer(field))
        words = "values that are no integers (TSCAL, TZERO)";
    if (words != NULL) {
        snprintf(ret_words, FITS_WORDS_BYTES, "%s", words);
        return false;
    }
    if (column->variable || field_is_string(field))
        return true;
    if (field->variable ? column->repeat % field->items == 0 : column->repeat == field->items)
        return true;
    snprintf(ret_words, FITS_WORDS_BYTES, "%" PRIu64 " items", column->repeat);
    return false;
}

static int match_column(const struct fits_source *source, const struct field *field,
                        const struct fits_column *column, struct problem *problem) {
    char words[FITS_WORDS_BYTES];
    if (fits_column_fits(column, field, words))
        return 0;
    return problem_set(problem, -EBADMSG, source->lineno,
                       "FIELD '%s' is %s%s%.40s%s, its column in the FITS table has %s, "
                       "correct the FIELD",
                       field->name, field_type_name(field->type),
                       field->arraysize != NULL ? "[" : "",
                       field->arraysize != NULL ? field->arraysize : "",
                       field->arraysize != NULL ? "]" : "", words);
}

int fits_table_match(const struct fits_source *source, const struct table *table,
                     const struct fits_table *fits, struct problem *problem) {
    if ((size_t)fits->column_count != table->field_count)
        return problem_set(problem, -EBADMSG, source->lineno,
                           "the FITS table has %d columns, its TABLE has %zu FIELDs, make them "
                           "the same",
                           fits->column_count, table->field_count);
    int r = 0;
    for (size_t i = 0; i < table->field_count && r == 0; i++)
        r = match_column(source, table->fields[i], &fits->columns[i], problem);
    return r;
}

void fits_table_finish(struct fits_table *fits) {
    free(fits->columns);
    fits->columns = NULL;
}
