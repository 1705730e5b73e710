/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * convert.c: a consumer that writes.
 *
 * Elements come in document order, DATA in its place among them, so that nothing has to be kept
 * but whether the last start tag is still open: <INFO/> is not <INFO></INFO>.
 */
#include "convert.h"

#include "consumer.h"
#include "output.h"
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <votrace.h>

#define NAMESPACE_START "http://www.ivoa.net/xml/VOTable/v1."
#define BINARY2_SINCE   '3'
#define PREFIX_BYTES    64

struct convert_column {
    struct column_cursor cursor;
    struct column_scratch scratch;
    bool steps; /* its cells are fixed and none of this batch is null */
};

struct conversion {
    const struct convert_options *options;
    struct output output;
    struct writer_layout layout;
    struct writer writer;
    bool writing; /* between writer_begin() and writer_end() */
    bool seen_root;
    bool tag_is_open;          /* '>' is still to be written */
    char prefix[PREFIX_BYTES]; /* of the TABLE, with its colon */
    unsigned char carry[4];    /* the start of a character that a piece of text cut */
    size_t carried;
    struct convert_column *columns; /* owned; of the table that is written */
    struct wire_cell *cells;        /* the same */
    size_t column_count;
};

static void close_tag(struct conversion *conversion) {
    if (conversion->tag_is_open)
        output_text(&conversion->output, ">", 1);
    conversion->tag_is_open = false;
}

static bool declares_namespace(const struct consumer_attribute *attribute) {
    return strncmp(attribute->name, "xmlns", 5) == 0 &&
           (attribute->name[5] == '\0' || attribute->name[5] == ':');
}

/* BINARY2 is known since 1.3: an older document becomes one of that version. */
static bool is_too_old(const struct conversion *conversion,
                       const struct consumer_attribute *attribute, size_t *ret_minor_at) {
    size_t start = sizeof(NAMESPACE_START) - 1;
    bool version = strcmp(attribute->name, "version") == 0 && attribute->length == 3 &&
                   memcmp(attribute->value, "1.", 2) == 0;
    bool name_space = declares_namespace(attribute) && attribute->length == start + 1 &&
                      memcmp(attribute->value, NAMESPACE_START, start) == 0;
    *ret_minor_at = attribute->length - 1;
    return conversion->options->format == SERIALIZATION_BINARY2 && (version || name_space) &&
           attribute->value[attribute->length - 1] >= '0' &&
           attribute->value[attribute->length - 1] < BINARY2_SINCE;
}

static void write_attribute(struct conversion *conversion,
                            const struct consumer_attribute *attribute, bool root) {
    struct output *output = &conversion->output;
    size_t minor_at;
    output_text(output, " ", 1);
    output_text(output, attribute->name, strlen(attribute->name));
    output_text(output, "=\"", 2);
    if (root && is_too_old(conversion, attribute, &minor_at)) {
        output_text(output, attribute->value, minor_at);
        output_text(output, &(char){BINARY2_SINCE}, 1);
    } else {
        writer_escape(output, attribute->value, attribute->length, true);
    }
    output_text(output, "\"", 1);
}

/*
 * Namespaces come apart from the attributes, and where they stood among them is not known: they
 * are written last, as the writers of VOTables do it.
 */
static void write_attributes(struct conversion *conversion,
                             const struct consumer_element *element) {
    const bool root = !conversion->seen_root;
    for (size_t i = 0; i < element->attribute_count; i++)
        if (!declares_namespace(&element->attributes[i]))
            write_attribute(conversion, &element->attributes[i], root);
    for (size_t i = 0; i < element->attribute_count; i++)
        if (declares_namespace(&element->attributes[i]))
            write_attribute(conversion, &element->attributes[i], root);
}

static int on_element_begin(void *context, const struct consumer_element *element,
                            struct problem *problem) {
    struct conversion *conversion = context;
    struct output *output = &conversion->output;
    close_tag(conversion);
    conversion->carried = 0;
    if (!element->foreign && strcmp(element->local_name, "TABLE") == 0) {
        const char *colon = strchr(element->name, ':');
        size_t length = colon != NULL ? (size_t)(colon + 1 - element->name) : 0;
        if (length >= PREFIX_BYTES)
            return problem_set(problem, -ENOTSUP, element->lineno,
                               "a namespace prefix is longer than %d characters, shorten it",
                               PREFIX_BYTES - 2);
        memcpy(conversion->prefix, element->name, length);
        conversion->prefix[length] = '\0';
    }
    output_text(output, "<", 1);
    output_text(output, element->name, strlen(element->name));
    write_attributes(conversion, element);
    conversion->seen_root = true;
    conversion->tag_is_open = true;
    return 0;
}

static int on_element_end(void *context, const struct consumer_element *element,
                          struct problem *problem) {
    struct conversion *conversion = context;
    struct output *output = &conversion->output;
    conversion->carried = 0;
    if (conversion->tag_is_open) {
        output_text(output, "/>", 2);
        conversion->tag_is_open = false;
        return 0;
    }
    output_text(output, "</", 2);
    output_text(output, element->name, strlen(element->name));
    output_text(output, ">", 1);
    return 0;
}

/* Bytes at the end of a text that are the start of a character and no more. */
static size_t cut_bytes(const char *text, size_t length) {
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)text[length - back];
        if (byte < 0x80)
            return 0;
        if (byte >= 0xc0)
            return (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) > back ? back : 0;
    }
    return 0;
}

static int on_text(void *context, const char *text, size_t length, struct problem *problem) {
    struct conversion *conversion = context;
    if (!conversion->seen_root)
        return 0;
    close_tag(conversion);
    while (conversion->carried > 0 && length > 0) {
        conversion->carry[conversion->carried++] = (unsigned char)*text++;
        length--;
        if (cut_bytes((const char *)conversion->carry, conversion->carried) > 0)
            continue;
        writer_escape(&conversion->output, (const char *)conversion->carry, conversion->carried,
                      false);
        conversion->carried = 0;
    }
    size_t cut = cut_bytes(text, length);
    writer_escape(&conversion->output, text, length - cut, false);
    if (cut > 0) {
        memcpy(conversion->carry, text + length - cut, cut);
        conversion->carried = cut;
    }
    return 0;
}

static void free_columns(struct conversion *conversion) {
    for (size_t i = 0; i < conversion->column_count; i++)
        column_scratch_finish(&conversion->columns[i].scratch);
    free(conversion->columns);
    free(conversion->cells);
    conversion->columns = NULL;
    conversion->cells = NULL;
    conversion->column_count = 0;
}

static int on_table_begin(void *context, struct table *table, struct problem *problem) {
    struct conversion *conversion = context;
    if (table->serialization == SERIALIZATION_NONE)
        return 0;
    close_tag(conversion);
    free_columns(conversion);
    conversion->columns = calloc(table->field_count + 1, sizeof(*conversion->columns));
    conversion->cells = calloc(table->field_count + 1, sizeof(*conversion->cells));
    if (conversion->columns == NULL || conversion->cells == NULL)
        return problem_set_memory(problem);
    conversion->column_count = table->field_count;
    for (size_t i = 0; i < table->field_count; i++)
        table->columns[i].marks_nulls = true;
    conversion->writing = true;
    /* Without FIELDs there is no list of them. */
    static struct field *const no_fields[1];
    return writer_begin(&conversion->writer, &conversion->output, &conversion->layout,
                        table->fields != NULL ? table->fields : no_fields, table->field_count,
                        problem);
}

/* The next cell where that takes no more than a step: fixed, in one chunk, no nulls about. */
static inline bool step(struct convert_column *column, struct wire_cell *ret_cell) {
    struct column_cursor *cursor = &column->cursor;
    const struct column_chunk *chunk = cursor->cell_chunk;
    if (!column->steps || cursor->cell_at >= chunk->used)
        return false;
    ret_cell->items = chunk->bytes + cursor->cell_at;
    ret_cell->count = cursor->column->field->items;
    ret_cell->null = false;
    cursor->cell_at += cursor->column->cell_bytes;
    cursor->row++;
    return true;
}

/* The cell of the next row of a column. Returns 0 or -ENOMEM. */
static int next_cell(struct convert_column *column, struct wire_cell *ret_cell) {
    if (step(column, ret_cell))
        return 0;
    struct column_cell cell;
    const struct field *field = column->cursor.column->field;
    if (!column_cursor_next(&column->cursor, &cell))
        return -ENODATA;
    ret_cell->items = column_cursor_whole(&column->cursor, &cell, &column->scratch);
    ret_cell->null = cell.null;
    ret_cell->count = field_is_string(field)     ? cell.bytes
                      : field->type == FIELD_BIT ? cell.bits
                                                 : cell.bytes / field_item_bytes(field->type);
    return ret_cell->items == NULL ? -ENOMEM : 0;
}

static int on_rows(void *context, struct table *table, uint64_t first_row, uint64_t row_count,
                   struct problem *problem) {
    struct conversion *conversion = context;
    for (size_t i = 0; i < table->field_count; i++) {
        const struct column *column = &table->columns[i];
        column_cursor_init(&conversion->columns[i].cursor, column);
        conversion->columns[i].steps =
            column->fixed && column->cell_bytes > 0 && column->nulls.total == 0;
    }
    for (uint64_t row = 0; row < row_count; row++) {
        for (size_t i = 0; i < table->field_count; i++)
            if (next_cell(&conversion->columns[i], &conversion->cells[i]) < 0)
                return problem_set_memory(problem);
        writer_row(&conversion->writer, conversion->cells);
    }
    return conversion->output.error;
}

/* Around the name of a column. */
static const struct {
    enum convert_warning number;
    const char *before;
    const char *after;
} loss_words[LOSSES] = {
    [LOSS_NULL] = {CONVERT_NULL, "null cells of column",
                   "become 0, this format has no null for them, use binary2 or tabledata"},
    [LOSS_LENGTH] = {CONVERT_LENGTH, "strings of column",
                     "are cut to its arraysize, correct that or use tabledata"},
    [LOSS_ENCODING] = {CONVERT_ENCODING, "strings of column",
                       "are no UTF-8 and taken as ISO-8859-1, use binary2 to keep their bytes"},
    [LOSS_CONTROL] = {CONVERT_CONTROL, "characters of column",
                      "cannot be in XML and become U+FFFD, use binary2 to keep them"},
    [LOSS_UNICODE] = {CONVERT_UNICODE, "characters of column",
                      "are beyond ASCII, which is all that FITS knows, and written as UTF-8"},
    [LOSS_MAGIC] = {CONVERT_MAGIC, "values of column",
                    "are what stands for null in the FITS file, give its FIELD a VALUES null"},
};

/* A warning, or with `strict` an error. */
static int tell(const struct conversion *conversion, const struct table *table,
                enum convert_warning number, uint64_t count, const char *text,
                struct problem *problem) {
    const struct convert_options *options = conversion->options;
    const struct warning warning = {
        .number = number, .lineno = table->lineno, .count = count, .text = text};
    if (options->strict)
        return problem_set(problem, -EBADMSG, table->lineno, "%s", text);
    options->warn(options->warn_context, &warning);
    return 0;
}

/* Rows without cells are nothing in a stream, which has no number of rows. */
static int tell_lost_rows(const struct conversion *conversion, const struct table *table,
                          struct problem *problem) {
    enum serialization format = conversion->options->format;
    bool binary = format == SERIALIZATION_BINARY || format == SERIALIZATION_BINARY2;
    if (!binary || table->field_count > 0 || table->rows == 0)
        return 0;
    return tell(conversion, table, CONVERT_ROWS, table->rows,
                "rows without cells, because the TABLE has no FIELDs, are lost in this format, "
                "use tabledata",
                problem);
}

/* Told once for each kind and table. */
static int tell_losses(const struct conversion *conversion, const struct table *table,
                       struct problem *problem) {
    const struct writer_losses *losses = &conversion->writer.losses;
    for (size_t i = 0; i < LOSSES; i++) {
        char text[PROBLEM_TEXT_BYTES];
        if (losses->counts[i] == 0)
            continue;
        snprintf(text, sizeof(text), "%s '%.60s' %s", loss_words[i].before,
                 losses->first[i]->name, loss_words[i].after);
        int r = tell(conversion, table, loss_words[i].number, losses->counts[i], text, problem);
        if (r < 0)
            return r;
    }
    return tell_lost_rows(conversion, table, problem);
}

static int on_table_end(void *context, struct table *table, struct problem *problem) {
    struct conversion *conversion = context;
    if (!conversion->writing)
        return 0;
    conversion->writing = false;
    int r = writer_end(&conversion->writer, problem);
    if (r == 0)
        r = tell_losses(conversion, table, problem);
    free_columns(conversion);
    return r;
}

static int scan(struct conversion *conversion, struct problem *problem) {
    const struct convert_options *options = conversion->options;
    const struct consumer consumer = {
        .context = conversion,
        .table_begin = on_table_begin,
        .table_end = on_table_end,
        .rows = on_rows,
        .element_begin = on_element_begin,
        .element_end = on_element_end,
        .text = on_text,
    };
    const struct read_options read = {
        .consumer = &consumer,
        .strict = options->strict,
        .limits = options->limits,
        .warn = options->warn,
        .warn_context = options->warn_context,
    };
    struct votable votable = {0};
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    output_text(&conversion->output, declaration, sizeof(declaration) - 1);
    int r = votable_scan(options->path, &read, &votable, problem);
    votable_finish(&votable);
    output_text(&conversion->output, "\n", 1);
    if (conversion->writing)
        writer_abandon(&conversion->writer);
    free_columns(conversion);
    return r;
}

static int convert(const struct convert_options *options, const char **ret_bad_path,
                   struct problem *problem) {
    struct conversion *conversion = malloc(sizeof(*conversion));
    if (conversion == NULL)
        return problem_set_memory(problem);
    conversion->options = options;
    conversion->writing = false;
    conversion->seen_root = false;
    conversion->tag_is_open = false;
    conversion->carried = 0;
    conversion->columns = NULL;
    conversion->cells = NULL;
    conversion->column_count = 0;
    conversion->prefix[0] = '\0';
    conversion->layout = (struct writer_layout){.serialization = options->format,
                                                .line_characters = WRITER_LINE_CHARACTERS,
                                                .prefix = conversion->prefix};
    *ret_bad_path = options->output_path;
    int r = output_open(&conversion->output, options->output_path, problem);
    if (r < 0)
        goto out;
    r = scan(conversion, problem);
    /* When it is the output that failed, the scan was only stopped because of it. */
    if (conversion->output.error < 0)
        *problem = (struct problem){0};
    else
        *ret_bad_path = options->path;
    if (r == 0 || conversion->output.error < 0) {
        *ret_bad_path = options->output_path;
        r = output_commit(&conversion->output, problem);
    }
    output_abandon(&conversion->output);
out:
    free(conversion);
    return r;
}

int convert_run(const struct convert_options *options, const char **ret_bad_path,
                struct problem *problem) {
    votrace_region_begin("convert");
    int r = convert(options, ret_bad_path, problem);
    votrace_region_end("convert");
    return r;
}
