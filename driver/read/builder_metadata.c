/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder_metadata.c: RESOURCE, TABLE, FIELD and VALUES become tables with fields.
 *
 * What a document may ask for is limited here: FIELDs of a table, and those that TABLE ref
 * repeats, which cost the document nothing to ask for.
 */
#include "builder_parts.h"
#include "decimal.h"
#include "selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 16 /* fields by TABLE ref: as many times the limit for one table */

static int copy_attribute(struct builder *builder, const struct attributes *attributes,
                          enum attribute attribute, char **ret_copy) {
    if (!attributes_have(attributes, attribute))
        return 0;
    char *copy = strndup(attributes->of[attribute].text, attributes->of[attribute].length);
    if (copy == NULL)
        return problem_set_memory(builder->problem);
    free(*ret_copy);
    *ret_copy = copy;
    return 0;
}

int builder_begin_votable(struct builder *builder, const struct attributes *attributes,
                          uint64_t lineno) {
    builder->seen_votable = true;
    return 0;
}

int builder_begin_resource(struct builder *builder, const struct attributes *attributes,
                           uint64_t lineno) {
    builder->resources++;
    return 0;
}

int builder_end_resource(struct builder *builder) {
    builder->resources--;
    return 0;
}

static struct table *find_table(const struct votable *votable, const char *id, size_t length) {
    for (size_t i = 0; i < votable->table_count; i++) {
        const char *of = votable->tables[i]->id;
        if (of != NULL && strlen(of) == length && memcmp(of, id, length) == 0)
            return votable->tables[i];
    }
    return NULL;
}

/* TABLE ref: the fields are those of an earlier table. */
static int copy_fields(struct builder *builder, const struct attributes *attributes,
                       uint64_t lineno) {
    const char *ref = attributes->of[ATTRIBUTE_REF].text;
    const uint64_t fields_max = builder->options->limits.fields;
    const struct table *from =
        find_table(builder->votable, ref, attributes->of[ATTRIBUTE_REF].length);
    if (from == NULL || from == builder->table)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "TABLE ref '%.*s' names no table before it, correct the ref or give "
                           "the table FIELDs of its own",
                           attributes_quoted_length(attributes, ATTRIBUTE_REF), ref);
    builder->copied_fields += from->field_count;
    if (builder->copied_fields / COPIES_MAX > fields_max)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "TABLE refs repeat more than %d times %" PRIu64
                           " FIELDs, split the document or raise --max-fields",
                           COPIES_MAX, fields_max);
    for (size_t i = 0; i < from->field_count; i++) {
        struct field *field = table_add_field(builder->table);
        if (field == NULL || field_copy(from->fields[i], field) < 0)
            return problem_set_memory(builder->problem);
    }
    return 0;
}

static void read_nrows(struct table *table, const struct attributes *attributes) {
    char text[24];
    int64_t nrows;
    size_t length = attributes->of[ATTRIBUTE_NROWS].length;
    if (!attributes_have(attributes, ATTRIBUTE_NROWS) || length >= sizeof(text))
        return;
    memcpy(text, attributes->of[ATTRIBUTE_NROWS].text, length);
    text[length] = '\0';
    if (decimal_parse_integer(text, text + length, 0, INT64_MAX, &nrows) < 0)
        return;
    table->has_nrows = true;
    table->nrows = (uint64_t)nrows;
}

int builder_begin_table(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    struct table *table = votable_add_table(builder->votable);
    builder->table = table;
    builder->seen_data = false;
    if (table == NULL)
        return problem_set_memory(builder->problem);
    table->lineno = lineno;
    table->row_limit =
        builder->options->row_limit > 0 ? builder->options->row_limit : UINT64_MAX;
    read_nrows(table, attributes);
    int r = copy_attribute(builder, attributes, ATTRIBUTE_ID, &table->name);
    if (r == 0)
        r = copy_attribute(builder, attributes, ATTRIBUTE_ID, &table->id);
    if (r == 0)
        r = copy_attribute(builder, attributes, ATTRIBUTE_NAME, &table->name);
    table->skipped =
        !selection_has_table(builder->options->tables, table, builder->votable->table_count);
    if (r == 0 && attributes_have(attributes, ATTRIBUTE_REF))
        r = copy_fields(builder, attributes, lineno);
    return r;
}

/* A table without rows is told of when it is over. */
static int tell_table(struct builder *builder) {
    const struct consumer *consumer = builder->consumer;
    struct table *table = builder->table;
    int r = selection_mark_fields(builder->options->columns, table, builder->problem);
    if (r == 0 && consumer->table_begin != NULL)
        r = consumer->table_begin(consumer->context, table, builder->problem);
    if (r == 0 && consumer->table_end != NULL)
        r = consumer->table_end(consumer->context, table, builder->problem);
    return r;
}

int builder_end_table(struct builder *builder) {
    struct table *table = builder->table;
    int r = 0;
    if (!table->skipped && table->serialization == SERIALIZATION_NONE)
        r = tell_table(builder);
    else if (!table->skipped && table->has_nrows && table->rows != table->nrows &&
             table->rows < table->row_limit)
        r = warnings_add(&builder->warnings, builder->problem, WARNING_NROWS, table->lineno,
                         "nrows is %" PRIu64 " but the number of rows %" PRIu64
                         ", correct nrows or look for the rows",
                         table->nrows, table->rows);
    warnings_flush(&builder->warnings);
    return r;
}

/* What nobody knows is text in TABLEDATA; in a binary stream there is no way to go on. */
static int set_datatype(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    struct field *field = builder->field;
    const char *datatype = attributes->of[ATTRIBUTE_DATATYPE].text;
    if (datatype != NULL &&
        field_type_find(datatype, attributes->of[ATTRIBUTE_DATATYPE].length, &field->type) == 0)
        return 0;
    field->type = FIELD_CHAR;
    field->guessed = true;
    if (datatype == NULL)
        return warnings_add(&builder->warnings, builder->problem, WARNING_DATATYPE, lineno,
                            "FIELD '%.60s' has no datatype and is read as char, add one",
                            field->name);
    return warnings_add(&builder->warnings, builder->problem, WARNING_DATATYPE, lineno,
                        "FIELD '%.60s' has datatype '%.*s', which VOTable does not know, and "
                        "is read as char, use one of its twelve",
                        field->name, attributes_quoted_length(attributes, ATTRIBUTE_DATATYPE),
                        datatype);
}

/* The length without a separator "s," at its end, which was proposed and never adopted. */
static size_t length_without_separator(const char *arraysize, size_t length) {
    bool separator = length > 2 && arraysize[length - 2] == 's' &&
                     strchr(",; |:", arraysize[length - 1]) != NULL;
    return separator ? length - 2 : length;
}

static int set_arraysize(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    struct field *field = builder->field;
    const char *arraysize = attributes->of[ATTRIBUTE_ARRAYSIZE].text;
    field->items = 1;
    if (arraysize == NULL)
        return 0;
    if (copy_attribute(builder, attributes, ATTRIBUTE_ARRAYSIZE, &field->arraysize) < 0)
        return -ENOMEM;
    size_t written = attributes->of[ATTRIBUTE_ARRAYSIZE].length;
    size_t length = length_without_separator(arraysize, written);
    int r = field_set_arraysize(field, arraysize, length);
    if (r == 0 && length < written) {
        field->arraysize[length] = '\0';
        r = warnings_add(&builder->warnings, builder->problem, WARNING_SEPARATOR, lineno,
                         "FIELD '%.60s' has arraysize '%.*s', whose separator VOTable does not "
                         "know and is passed over, leave it out",
                         field->name, attributes_quoted_length(attributes, ATTRIBUTE_ARRAYSIZE),
                         arraysize);
        return r;
    }
    if (r == 0)
        return 0;
    return problem_set(builder->problem, -EBADMSG, lineno,
                       "FIELD '%s' has arraysize '%.*s', which %s, correct it", field->name,
                       attributes_quoted_length(attributes, ATTRIBUTE_ARRAYSIZE), arraysize,
                       r == -ERANGE ? "is beyond 2147483647 items"
                                    : "is none of the forms 3, *, 3*, 2x3, 2x*");
}

int builder_begin_field(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    if (builder->seen_data)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "FIELD after the DATA of its TABLE, move it before");
    if (builder->table->field_count >= builder->options->limits.fields)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a TABLE has more than %" PRIu64
                           " FIELDs, split it or raise --max-fields",
                           builder->options->limits.fields);
    builder->field = table_add_field(builder->table);
    if (builder->field == NULL)
        return problem_set_memory(builder->problem);
    int r = copy_attribute(builder, attributes, ATTRIBUTE_ID, &builder->field->name);
    if (r == 0)
        r = copy_attribute(builder, attributes, ATTRIBUTE_NAME, &builder->field->name);
    if (r == 0 && builder->field->name == NULL) {
        builder->field->name = strdup("");
        r = builder->field->name == NULL ? problem_set_memory(builder->problem) : 0;
    }
    if (r == 0)
        r = set_datatype(builder, attributes, lineno);
    if (r == 0)
        r = set_arraysize(builder, attributes, lineno);
    return r;
}

int builder_begin_values(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    if (!attributes_have(attributes, ATTRIBUTE_NULL))
        return 0;
    int r = field_set_null(builder->field, attributes->of[ATTRIBUTE_NULL].text,
                           attributes->of[ATTRIBUTE_NULL].length);
    return r < 0 ? problem_set_memory(builder->problem) : 0;
}
