/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c: quotes, commas and what spreadsheets make of them, in one place. */
#include "csv.h"

#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cell_begin(struct csv *csv) {
    if (csv->has_cells)
        fputc(',', csv->stream);
    csv->has_cells = true;
}

/* Spreadsheets evaluate what begins with one of these, quoted or not. */
static bool is_formula(const char *text) {
    return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

void csv_text(struct csv *csv, const char *text) {
    bool formula = is_formula(text);
    cell_begin(csv);
    char *clean = strdup(text);
    if (!clean) {
        csv->failed = true;
        return;
    }
    utf8_clean(clean);
    bool quoted = strpbrk(clean, ",\"") != NULL;
    if (quoted)
        fputc('"', csv->stream);
    if (formula)
        fputc('\'', csv->stream);
    for (const char *at = clean; *at != '\0'; at++) {
        if (*at == '"')
            fputc('"', csv->stream);
        fputc(*at, csv->stream);
    }
    if (quoted)
        fputc('"', csv->stream);
    free(clean);
}

void csv_int(struct csv *csv, int64_t value) {
    cell_begin(csv);
    fprintf(csv->stream, "%" PRId64, value);
}

void csv_real(struct csv *csv, double value) {
    cell_begin(csv);
    if (isfinite(value))
        fprintf(csv->stream, "%.17g", value);
}

void csv_empty(struct csv *csv) {
    cell_begin(csv);
}

void csv_row_end(struct csv *csv) {
    fputs("\r\n", csv->stream);
    csv->has_cells = false;
}

void csv_header(struct csv *csv, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        csv_text(csv, names[i]);
    csv_row_end(csv);
}

int csv_finish(const struct csv *csv) {
    if (csv->failed)
        return -ENOMEM;
    return ferror(csv->stream) ? -EIO : 0;
}
