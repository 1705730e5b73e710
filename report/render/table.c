/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: collect, measure, print. */
#include "table.h"

#include "utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16

struct cell {
    char *text;
    enum term_color color;
};

struct table table_new(const char *aligns) {
    return (struct table){.aligns = aligns, .cells = VECTOR_OF(struct cell)};
}

void table_cell(struct table *table, enum term_color color, const char *format, ...) {
    va_list arguments;
    struct cell *cell = vector_add(&table->cells);
    if (!cell) {
        table->failed = true;
        return;
    }
    va_start(arguments, format);
    if (vasprintf(&cell->text, format, arguments) < 0)
        cell->text = NULL;
    va_end(arguments);
    cell->color = color;
    if (cell->text)
        utf8_clean(cell->text);
    else
        table->failed = true;
}

static void print_row(const struct table *table, const struct term *term, const char *indent,
                      const struct cell *cells, const size_t widths[]) {
    size_t columns = strlen(table->aligns);
    while (columns > 0 && cells[columns - 1].text[0] == '\0')
        columns--;
    fputs(indent, term->stream);
    for (size_t i = 0; i < columns; i++) {
        int pad = (int)(widths[i] - utf8_width(cells[i].text));
        bool right = table->aligns[i] == 'r';
        bool last = i + 1 == columns;
        fprintf(term->stream, "%*s%s%s%s%*s%s", right ? pad : 0, "",
                term_on(term, cells[i].color), cells[i].text, term_off(term, cells[i].color),
                right || last ? 0 : pad, "", last ? "\n" : "  ");
    }
    if (columns == 0)
        fputc('\n', term->stream);
}

int table_print(struct table *table, const struct term *term, const char *indent) {
    size_t widths[COLUMNS_MAX] = {0};
    size_t columns = strlen(table->aligns);
    struct cell *cells = table->cells.items;
    for (size_t i = 0; !table->failed && i < table->cells.count; i++) {
        size_t width = utf8_width(cells[i].text);
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    for (size_t i = 0; !table->failed && i + columns <= table->cells.count; i += columns)
        print_row(table, term, indent, cells + i, widths);
    for (size_t i = 0; i < table->cells.count; i++)
        free(cells[i].text);
    vector_finish(&table->cells);
    return table->failed ? -ENOMEM : 0;
}
