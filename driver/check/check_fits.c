/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_fits.c: headers are read by what `parse` reads them with; that a file is damaged is a
 * finding here and no reason to stop.
 */
#include "check_fits.h"

#include "fits_columns.h"
#include "fits_headers.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_BYTES 48

struct check_fits {
    struct output spool;
};

int check_fits_new(struct check_fits **ret_fits, struct problem *problem) {
    struct check_fits *fits = malloc(sizeof(*fits));
    if (fits == NULL)
        return problem_set_memory(problem);
    int r = output_open_spool(&fits->spool, problem);
    if (r < 0) {
        free(fits);
        return r;
    }
    *ret_fits = fits;
    return 0;
}

void check_fits_free(struct check_fits *fits) {
    if (fits == NULL)
        return;
    output_abandon(&fits->spool);
    free(fits);
}

void check_fits_take(struct check_fits *fits, const unsigned char *bytes, size_t length) {
    output_text(&fits->spool, (const char *)bytes, length);
}

/* "double[3]": dimensions are one number here, as FITS has them but for TDIM. */
static void name_type(const struct check_field *field, char ret_name[TYPE_BYTES]) {
    const char *type = field_type_name(field->field.type);
    if (field->scalar)
        snprintf(ret_name, TYPE_BYTES, "%s", type);
    else if (!field->field.variable)
        snprintf(ret_name, TYPE_BYTES, "%s[%" PRIu64 "]", type, field->field.items);
    else if (field->field.items == 1)
        snprintf(ret_name, TYPE_BYTES, "%s[*]", type);
    else
        snprintf(ret_name, TYPE_BYTES, "%s[%" PRIu64 "x*]", type, field->field.items);
}

static void match_column(const struct check_fits_place *place, size_t number,
                         const struct fits_column *column) {
    const struct check_field *field = &place->fields[number];
    char type[TYPE_BYTES];
    char words[FITS_WORDS_BYTES];
    if (!field->usable || fits_column_fits(column, &field->field, words))
        return;
    name_type(field, type);
    findings_add(place->findings, FINDING_B14, place->lineno, SCHEMA_STREAM, NULL,
                 "FIELD '%.60s' is %s, column %zu of the FITS table has %s", field->field.name,
                 type, number + 1, words);
}

static void match_columns(const struct check_fits_place *place,
                          const struct fits_table *table) {
    size_t count = (size_t)table->column_count;
    if (count != place->field_count)
        findings_add(place->findings, FINDING_B13, place->lineno, SCHEMA_STREAM, NULL,
                     "the FITS table has %zu columns, its TABLE has %zu FIELDs", count,
                     place->field_count);
    for (size_t i = 0; i < count && i < place->field_count; i++)
        match_column(place, i, &table->columns[i]);
}

bool check_fits_end(struct check_fits *fits, const struct check_fits_place *place,
                    uint64_t *ret_rows, struct problem *problem) {
    char path[32];
    struct problem damage = {0};
    struct fits_table table = {.file_bytes = 0};
    output_flush(&fits->spool);
    if (fits->spool.error < 0) {
        problem_set(problem, fits->spool.error, place->lineno,
                    "the FITS file cannot be kept in a temporary file: %s, set TMPDIR to a "
                    "folder with room",
                    strerror(-fits->spool.error));
        return false;
    }
    snprintf(path, sizeof(path), "/dev/fd/%d", fits->spool.fd);
    table.file_bytes = fits->spool.written;
    const struct fits_source source = {
        .path = path, .extnum = place->extnum, .lineno = place->lineno};
    int r = fits_headers_check(&source, fits->spool.fd, table.file_bytes, &damage);
    if (r == 0)
        r = fits_table_open(&source, &table, &damage);
    if (r == 0) {
        match_columns(place, &table);
        *ret_rows = table.rows;
    } else if (r == -ENOMEM) {
        problem_set_memory(problem);
    } else {
        findings_add(place->findings, FINDING_B12, place->lineno, SCHEMA_STREAM, NULL, "%s",
                     damage.text);
    }
    fits_table_finish(&table);
    return r == 0;
}
