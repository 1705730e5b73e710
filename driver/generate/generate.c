/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.c: a document around one table of random rows.
 *
 * Memory does not grow with rows: one row's values are in memory at a time.
 */
#include "generate.h"

#include "generate_schema.h"
#include "output.h"
#include "progress.h"
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_BETWEEN_LOOKS 1024

struct generation {
    const struct generate_options *options;
    struct generate_schema schema;
    struct generator generator;
    struct wire_cell *cells; /* owned, one for each column */
    struct output *output;
    struct output *stream; /* NULL: inline */
    struct writer *writer;
    struct writer_layout layout;
};

/* Can the cells of this column be null in every format? */
static bool can_be_null(const struct field *field) {
    if (field->variable || field_is_string(field))
        return true;
    return field->type != FIELD_BIT && (!field_is_integer(field) || field->has_null);
}

static void write_arraysize(struct output *output, const struct field *field) {
    if (field->arraysize == NULL)
        return;
    output_format(output, " arraysize=\"%s\"", field->arraysize);
}

static void write_field(struct output *output, const struct field *field) {
    output_format(output, "<FIELD name=\"");
    writer_escape(output, field->name, strlen(field->name), true);
    output_format(output, "\" datatype=\"%s\"", field_type_name(field->type));
    write_arraysize(output, field);
    if (field->null_text == NULL)
        output_format(output, "/>\n");
    else
        output_format(output, "><VALUES null=\"%s\"/></FIELD>\n", field->null_text);
}

static void write_head(const struct generation *generation) {
    struct output *output = generation->output;
    const struct generate_options *options = generation->options;
    output_format(output,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<VOTABLE version=\"1.4\" "
                  "xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
                  "<RESOURCE type=\"results\">\n<TABLE name=\"%s\" nrows=\"%" PRIu64 "\">\n",
                  options->preset != NULL ? options->preset : "schema", options->rows);
    for (size_t i = 0; i < generation->schema.count; i++)
        write_field(output, generation->schema.fields[i]);
}

static void make_row(struct generation *generation) {
    struct generator *generator = &generation->generator;
    const struct generate_schema *schema = &generation->schema;
    double nulls = generation->options->null_fraction;
    generator->used = 0;
    for (size_t i = 0; i < schema->count; i++) {
        struct wire_cell *cell = &generation->cells[i];
        schema->makers[i](generator, schema->fields[i], cell);
        if (nulls < 0 || !can_be_null(schema->fields[i]))
            continue;
        double draw = (double)(generate_random(&generator->null_state) >> 11) * 0x1p-53;
        cell->null = draw < nulls;
    }
}

static bool failed(const struct generation *generation) {
    return generation->output->error < 0 ||
           (generation->stream != NULL && generation->stream->error < 0);
}

static int write_document(struct generation *generation, struct problem *problem) {
    const struct generate_options *options = generation->options;
    struct progress progress;
    progress_begin(&progress, "rows", options->rows);
    write_head(generation);
    int r = writer_begin(generation->writer, generation->output, &generation->layout,
                         generation->schema.fields, generation->schema.count, problem);
    struct generator *generator = &generation->generator;
    for (; r == 0 && generator->row < options->rows && !failed(generation); generator->row++) {
        make_row(generation);
        writer_row(generation->writer, generation->cells);
        if (generator->row % ROWS_BETWEEN_LOOKS == 0)
            progress_show(&progress, generator->row);
    }
    if (r == 0)
        r = writer_end(generation->writer, problem);
    output_format(generation->output, "\n</TABLE>\n</RESOURCE>\n</VOTABLE>\n");
    progress_end(&progress);
    return r;
}

static int make_schema(struct generation *generation, struct problem *problem) {
    const struct generate_options *options = generation->options;
    int r = options->preset != NULL
                ? generate_schema_from_preset(options->preset, &generation->schema, problem)
                : generate_schema_from_text(options->schema, &generation->schema, problem);
    if (r == 0 && options->null_fraction > 0)
        r = generate_schema_allow_nulls(&generation->schema, problem);
    uint64_t bytes = 8;
    for (size_t i = 0; i < generation->schema.count; i++)
        bytes += (generate_cell_bytes(generation->schema.fields[i]) + 7) / 8 * 8;
    if (r < 0)
        return r;
    generation->generator.arena = malloc(bytes);
    generation->cells = calloc(generation->schema.count, sizeof(*generation->cells));
    generation->writer = malloc(sizeof(*generation->writer));
    if (generation->generator.arena == NULL || generation->cells == NULL ||
        generation->writer == NULL)
        return problem_set_memory(problem);
    return 0;
}

static int open_output(struct output **ret_output, const char *path, struct problem *problem) {
    struct output *output = malloc(sizeof(*output));
    if (output == NULL)
        return problem_set_memory(problem);
    int r = output_open(output, path, problem);
    if (r < 0) {
        free(output);
        return r;
    }
    *ret_output = output;
    return 0;
}

/* The STREAM's file lies beside the document, which names it without a folder. */
static char *stream_path(const struct generate_options *options) {
    const char *slash = strrchr(options->path, '/');
    int folder = slash != NULL ? (int)(slash + 1 - options->path) : 0;
    char *path;
    return asprintf(&path, "%.*s%s", folder, options->path, options->stream_file) < 0 ? NULL
                                                                                      : path;
}

static int open_outputs(struct generation *generation, char **ret_stream_path,
                        const char **ret_bad_path, struct problem *problem) {
    const struct generate_options *options = generation->options;
    int r = open_output(&generation->output, options->path, problem);
    if (r < 0 || options->stream_file == NULL)
        return r;
    *ret_stream_path = stream_path(options);
    if (*ret_stream_path == NULL)
        return problem_set_memory(problem);
    *ret_bad_path = *ret_stream_path;
    r = open_output(&generation->stream, *ret_stream_path, problem);
    if (r < 0)
        return r;
    *ret_bad_path = options->path;
    generation->layout.stream = generation->stream;
    generation->layout.href = options->stream_file;
    generation->layout.href_gzip = generation->stream->gzip != NULL;
    return 0;
}

static void close_output(struct output *output) {
    if (output != NULL)
        output_abandon(output);
    free(output);
}

/* The data first: a document whose data are missing is worse than data that nobody names. */
static int commit(struct generation *generation, const char *path, const char **ret_bad_path,
                  struct problem *problem) {
    if (generation->stream != NULL) {
        *ret_bad_path = path;
        int r = output_commit(generation->stream, problem);
        if (r < 0)
            return r;
        *ret_bad_path = generation->options->path;
    }
    return output_commit(generation->output, problem);
}

int generate_run(const struct generate_options *options, const char **ret_bad_path,
                 struct problem *problem) {
    struct generation generation = {
        .options = options,
        .generator = {.state = options->seed, .null_state = ~options->seed},
        .layout = {.serialization = options->format,
                   .line_characters = options->line_characters,
                   .cdata = options->cdata,
                   .prefix = ""},
    };
    char *path = NULL;
    *ret_bad_path = options->path;
    int r = make_schema(&generation, problem);
    if (r == 0)
        r = open_outputs(&generation, &path, ret_bad_path, problem);
    if (r == 0)
        r = write_document(&generation, problem);
    if (r == 0)
        r = commit(&generation, path, ret_bad_path, problem);
    if (*ret_bad_path == path)
        *ret_bad_path = options->stream_file;
    close_output(generation.stream);
    close_output(generation.output);
    free(path);
    free(generation.writer);
    free(generation.cells);
    free(generation.generator.arena);
    generate_schema_finish(&generation.schema);
    return r;
}
