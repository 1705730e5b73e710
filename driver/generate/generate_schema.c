/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_schema.c: from names and words to fields. */
#include "generate_schema.h"

#include "generate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fixed cell must fit in memory some hundred times over. */
#define ITEMS_MAX 1000000

static int append(struct generate_schema *schema, const struct field *field,
                  generate_cell *make, struct problem *problem) {
    struct field **fields =
        reallocarray(schema->fields, schema->count + 1, sizeof(*schema->fields));
    if (fields == NULL)
        return problem_set_memory(problem);
    schema->fields = fields;
    generate_cell **makers =
        reallocarray(schema->makers, schema->count + 1, sizeof(*schema->makers));
    if (makers == NULL)
        return problem_set_memory(problem);
    schema->makers = makers;
    struct field *copy = malloc(sizeof(*copy));
    if (copy == NULL)
        return problem_set_memory(problem);
    fields[schema->count] = copy;
    makers[schema->count++] = make;
    return field_copy(field, copy) < 0 ? problem_set_memory(problem) : 0;
}

static int append_preset(struct generate_schema *schema, const struct generate_column *column,
                         struct problem *problem) {
    struct field field = {.type = column->type, .items = 1};
    char name[64];
    char arraysize[16];
    snprintf(name, sizeof(name), "%s", column->name);
    field.name = name;
    if (column->arraysize != NULL) {
        snprintf(arraysize, sizeof(arraysize), "%s", column->arraysize);
        field.arraysize = arraysize;
        if (field_set_arraysize(&field, arraysize, strlen(arraysize)) < 0)
            return problem_set_memory(problem);
    }
    int r = append(schema, &field, column->make, problem);
    if (r == 0 && column->null_text != NULL &&
        field_set_null(schema->fields[schema->count - 1], column->null_text,
                       strlen(column->null_text)) < 0)
        r = problem_set_memory(problem);
    return r;
}

int generate_schema_from_preset(const char *preset, struct generate_schema *ret_schema,
                                struct problem *problem) {
    *ret_schema = (struct generate_schema){0};
    const struct generate_column *columns = generate_preset_find(preset);
    if (columns == NULL)
        return problem_set(problem, -EINVAL, 0,
                           "no preset '%.60s', use one of those that --help lists", preset);
    int r = 0;
    for (; columns->name != NULL && r == 0; columns++)
        r = append_preset(ret_schema, columns, problem);
    return r;
}

/* One column of a schema, all of [text, text + length). */
static int append_entry(struct generate_schema *schema, const char *text, size_t length,
                        struct problem *problem) {
    struct field field = {.items = 1};
    char entry[256];
    if (length >= sizeof(entry))
        return problem_set(problem, -EINVAL, 0,
                           "schema entry '%.40s...' is longer than 255 bytes, shorten it",
                           text);
    memcpy(entry, text, length);
    entry[length] = '\0';
    char *type = strchr(entry, ':');
    if (type == NULL || type == entry)
        return problem_set(problem, -EINVAL, 0,
                           "schema entry '%.100s' is not name:datatype or "
                           "name:datatype[arraysize], correct it",
                           entry);
    *type++ = '\0';
    field.name = entry;
    size_t type_length = strcspn(type, "[");
    if (field_type_find(type, type_length, &field.type) < 0)
        return problem_set(problem, -EINVAL, 0,
                           "schema column '%.60s' has datatype '%.*s', which VOTable does not "
                           "know, use one of its twelve",
                           entry, (int)type_length, type);
    char *arraysize = type + type_length;
    size_t last = strlen(arraysize);
    if (last > 0) {
        arraysize++;
        bool closed = last > 1 && arraysize[last - 2] == ']';
        if (closed)
            arraysize[last - 2] = '\0';
        field.arraysize = arraysize;
        if (!closed || *arraysize == '\0' ||
            field_set_arraysize(&field, arraysize, strlen(arraysize)) < 0 ||
            field.items > ITEMS_MAX)
            return problem_set(problem, -EINVAL, 0,
                               "schema column '%.60s' has arraysize '%.40s', which is none of "
                               "the forms 3, *, 3*, 2x3, 2x* up to %d items, correct it",
                               entry, arraysize, ITEMS_MAX);
    }
    return append(schema, &field, generate_any, problem);
}

int generate_schema_from_text(const char *text, struct generate_schema *ret_schema,
                              struct problem *problem) {
    *ret_schema = (struct generate_schema){0};
    int r;
    for (;;) {
        size_t length = strcspn(text, ",");
        r = append_entry(ret_schema, text, length, problem);
        if (r < 0 || text[length] == '\0')
            break;
        text += length + 1;
    }
    return r;
}

int generate_schema_allow_nulls(struct generate_schema *schema, struct problem *problem) {
    static const char *const nulls[FIELD_TYPES] = {
        [FIELD_UNSIGNED_BYTE] = "255",
        [FIELD_SHORT] = "-32768",
        [FIELD_INT] = "-2147483648",
        [FIELD_LONG] = "-9223372036854775808",
    };
    for (size_t i = 0; i < schema->count; i++) {
        struct field *field = schema->fields[i];
        const char *text = nulls[field->type];
        if (text != NULL && field->null_text == NULL &&
            field_set_null(field, text, strlen(text)) < 0)
            return problem_set_memory(problem);
    }
    return 0;
}

void generate_schema_finish(struct generate_schema *schema) {
    for (size_t i = 0; i < schema->count; i++) {
        field_finish(schema->fields[i]);
        free(schema->fields[i]);
    }
    free(schema->fields);
    free(schema->makers);
    *schema = (struct generate_schema){0};
}
