/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder.c: the grammar of VOTable as far as it carries data.
 *
 * One table says which element may stand in which; one function each says what it does. An
 * element that is not in the table (PARAM, INFO, GROUP, a foreign block) is skipped whole.
 */
#include "builder.h"

#include "cell_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM_MIN 256
#define QUOTED_BYTES  60

static const char *const attribute_names[ATTRIBUTES] = {
    [ATTRIBUTE_ID] = "ID",
    [ATTRIBUTE_NAME] = "name",
    [ATTRIBUTE_REF] = "ref",
    [ATTRIBUTE_DATATYPE] = "datatype",
    [ATTRIBUTE_ARRAYSIZE] = "arraysize",
    [ATTRIBUTE_NULL] = "null",
    [ATTRIBUTE_ENCODING] = "encoding",
    [ATTRIBUTE_HREF] = "href",
};

bool builder_attribute_find(const char *name, enum attribute *ret_attribute) {
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        if (strcmp(attribute_names[i], name) != 0)
            continue;
        *ret_attribute = (enum attribute)i;
        return true;
    }
    return false;
}

void builder_init(struct builder *builder, struct votable *votable, bool collect,
                  struct problem *problem) {
    memset(builder, 0, sizeof(*builder));
    builder->votable = votable;
    builder->problem = problem;
    builder->collect = collect;
}

void builder_finish(struct builder *builder) {
    if (builder->streaming)
        stream_finish(&builder->stream);
    free(builder->text);
    builder->text = NULL;
}

static int copy_attribute(struct builder *builder, const struct attributes *attributes,
                          enum attribute attribute, char **ret_copy) {
    if (attributes->of[attribute].text == NULL)
        return 0;
    char *copy = strndup(attributes->of[attribute].text, attributes->of[attribute].length);
    if (copy == NULL)
        return problem_set_memory(builder->problem);
    free(*ret_copy);
    *ret_copy = copy;
    return 0;
}

static bool attribute_is(const struct attributes *attributes, enum attribute attribute,
                         const char *value) {
    return attributes->of[attribute].text != NULL &&
           attributes->of[attribute].length == strlen(value) &&
           memcmp(attributes->of[attribute].text, value, strlen(value)) == 0;
}

/* An attribute's value for a message: at most QUOTED_BYTES of it. */
static int quoted_length(const struct attributes *attributes, enum attribute attribute) {
    size_t length = attributes->of[attribute].length;
    return length < QUOTED_BYTES ? (int)length : QUOTED_BYTES;
}

static int begin_votable(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    builder->seen_votable = true;
    return 0;
}

static int begin_resource(struct builder *builder, const struct attributes *attributes,
                          uint64_t lineno) {
    builder->resources++;
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
    size_t length = attributes->of[ATTRIBUTE_REF].length;
    const struct table *from = find_table(builder->votable, ref, length);
    if (from == NULL || from == builder->table)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "TABLE ref '%.*s' names no table before it, correct the ref or give "
                           "the table FIELDs of its own",
                           quoted_length(attributes, ATTRIBUTE_REF), ref);
    for (size_t i = 0; i < from->field_count; i++) {
        struct field *field = table_add_field(builder->table);
        if (field == NULL || field_copy(from->fields[i], field) < 0)
            return problem_set_memory(builder->problem);
    }
    return 0;
}

static int begin_table(struct builder *builder, const struct attributes *attributes,
                       uint64_t lineno) {
    builder->table = votable_add_table(builder->votable);
    builder->seen_data = false;
    if (builder->table == NULL)
        return problem_set_memory(builder->problem);
    int r = copy_attribute(builder, attributes, ATTRIBUTE_ID, &builder->table->name);
    if (r == 0)
        r = copy_attribute(builder, attributes, ATTRIBUTE_ID, &builder->table->id);
    if (r == 0)
        r = copy_attribute(builder, attributes, ATTRIBUTE_NAME, &builder->table->name);
    if (r == 0 && attributes->of[ATTRIBUTE_REF].text != NULL)
        r = copy_fields(builder, attributes, lineno);
    return r;
}

static int set_datatype(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    struct field *field = builder->field;
    const char *datatype = attributes->of[ATTRIBUTE_DATATYPE].text;
    size_t length = attributes->of[ATTRIBUTE_DATATYPE].length;
    if (datatype == NULL)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "FIELD '%s' has no datatype, add one", field->name);
    if (field_type_find(datatype, length, &field->type) < 0)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "FIELD '%s' has datatype '%.*s', which VOTable does not know, use "
                           "one of its twelve",
                           field->name, quoted_length(attributes, ATTRIBUTE_DATATYPE),
                           datatype);
    return 0;
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
    int r = field_set_arraysize(field, arraysize, attributes->of[ATTRIBUTE_ARRAYSIZE].length);
    if (r == 0)
        return 0;
    return problem_set(builder->problem, -EBADMSG, lineno,
                       "FIELD '%s' has arraysize '%.*s', which %s, correct it", field->name,
                       quoted_length(attributes, ATTRIBUTE_ARRAYSIZE), arraysize,
                       r == -ERANGE ? "is beyond 2147483647 items"
                                    : "is none of the forms 3, *, 3*, 2x3, 2x*");
}

static int begin_field(struct builder *builder, const struct attributes *attributes,
                       uint64_t lineno) {
    if (builder->seen_data)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "FIELD after the DATA of its TABLE, move it before");
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

static int begin_values(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    if (attributes->of[ATTRIBUTE_NULL].text == NULL)
        return 0;
    int r = field_set_null(builder->field, attributes->of[ATTRIBUTE_NULL].text,
                           attributes->of[ATTRIBUTE_NULL].length);
    return r < 0 ? problem_set_memory(builder->problem) : 0;
}

static int begin_data(struct builder *builder, const struct attributes *attributes,
                      uint64_t lineno) {
    if (builder->seen_data)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second DATA in one TABLE, split the TABLE");
    builder->seen_data = true;
    builder->seen_rows = false;
    return 0;
}

static int begin_serialization(struct builder *builder, enum serialization serialization,
                               uint64_t lineno) {
    if (builder->seen_rows)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second serialization in one DATA, keep one of them");
    builder->seen_rows = true;
    builder->seen_stream = false;
    builder->binary_lineno = lineno;
    int r = table_begin_data(builder->table, serialization);
    return r < 0 ? problem_set_memory(builder->problem) : 0;
}

static int begin_tabledata(struct builder *builder, const struct attributes *attributes,
                           uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_TABLEDATA, lineno);
}

static int begin_binary(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_BINARY, lineno);
}

static int begin_binary2(struct builder *builder, const struct attributes *attributes,
                         uint64_t lineno) {
    return begin_serialization(builder, SERIALIZATION_BINARY2, lineno);
}

static int begin_tr(struct builder *builder, const struct attributes *attributes,
                    uint64_t lineno) {
    builder->tr_lineno = lineno;
    builder->cells = 0;
    return 0;
}

static int begin_td(struct builder *builder, const struct attributes *attributes,
                    uint64_t lineno) {
    if (builder->cells == builder->table->field_count)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "row %" PRIu64 " has more cells than its table has FIELDs (%zu), "
                           "remove the TD or add a FIELD",
                           builder->table->rows + 1, builder->table->field_count);
    if (attributes->of[ATTRIBUTE_ENCODING].text != NULL &&
        !attribute_is(attributes, ATTRIBUTE_ENCODING, "none"))
        return problem_set(builder->problem, -ENOTSUP, lineno,
                           "TD encoding '%.*s' is not supported, convert the file with stilts "
                           "or astropy",
                           quoted_length(attributes, ATTRIBUTE_ENCODING),
                           attributes->of[ATTRIBUTE_ENCODING].text);
    builder->td_lineno = lineno;
    builder->text_bytes = 0;
    return 0;
}

static int begin_stream(struct builder *builder, const struct attributes *attributes,
                        uint64_t lineno) {
    if (attributes->of[ATTRIBUTE_HREF].text != NULL &&
        attributes->of[ATTRIBUTE_HREF].length > 0)
        return problem_set(builder->problem, -ENOTSUP, lineno,
                           "STREAM href '%.*s' is not supported, convert the file to one with "
                           "inline data with stilts or astropy",
                           quoted_length(attributes, ATTRIBUTE_HREF),
                           attributes->of[ATTRIBUTE_HREF].text);
    if (!attribute_is(attributes, ATTRIBUTE_ENCODING, "base64"))
        return problem_set(builder->problem, -ENOTSUP, lineno,
                           "STREAM encoding '%.*s' is not supported inline, use base64",
                           quoted_length(attributes, ATTRIBUTE_ENCODING),
                           attributes->of[ATTRIBUTE_ENCODING].text != NULL
                               ? attributes->of[ATTRIBUTE_ENCODING].text
                               : "");
    if (builder->seen_stream)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "a second STREAM in one serialization, keep one of them");
    builder->seen_stream = true;
    builder->streaming = true;
    return stream_init(&builder->stream, builder->table->columns, builder->table->field_count,
                       builder->table->serialization == SERIALIZATION_BINARY2, builder->collect,
                       lineno, builder->problem);
}

static int end_binary(struct builder *builder) {
    if (builder->seen_stream)
        return 0;
    return problem_set(builder->problem, -EBADMSG, builder->binary_lineno,
                       "%s without a STREAM, add an empty one if the table has no rows",
                       builder->inside == ELEMENT_BINARY ? "BINARY" : "BINARY2");
}

static int end_resource(struct builder *builder) {
    builder->resources--;
    return 0;
}

static int end_stream(struct builder *builder) {
    int r = stream_end(&builder->stream, &builder->table->rows);
    stream_finish(&builder->stream);
    builder->streaming = false;
    return r;
}

static int end_td(struct builder *builder) {
    struct column *column = &builder->table->columns[builder->cells++];
    if (builder->text_bytes == 0)
        return cell_text_store(column, "", 0, builder->td_lineno, builder->problem);
    builder->text[builder->text_bytes] = '\0';
    return cell_text_store(column, builder->text, builder->text_bytes, builder->td_lineno,
                           builder->problem);
}

static int end_tr(struct builder *builder) {
    if (builder->cells < builder->table->field_count)
        return problem_set(builder->problem, -EBADMSG, builder->tr_lineno,
                           "row %" PRIu64 " has %zu of its %zu cells, add the missing TDs or "
                           "remove FIELDs",
                           builder->table->rows + 1, builder->cells,
                           builder->table->field_count);
    builder->table->rows++;
    return 0;
}

/* Every element: its name, where it may stand, what it does. */
static const struct {
    const char *name;
    enum element parents[2];
    int (*begin)(struct builder *builder, const struct attributes *attributes, uint64_t lineno);
    int (*end)(struct builder *builder);
} elements[ELEMENTS] = {
    [ELEMENT_VOTABLE] = {"VOTABLE", {ELEMENT_DOCUMENT}, begin_votable, NULL},
    [ELEMENT_RESOURCE] = {"RESOURCE",
                          {ELEMENT_VOTABLE, ELEMENT_RESOURCE},
                          begin_resource,
                          end_resource},
    [ELEMENT_TABLE] = {"TABLE", {ELEMENT_RESOURCE}, begin_table, NULL},
    [ELEMENT_FIELD] = {"FIELD", {ELEMENT_TABLE}, begin_field, NULL},
    [ELEMENT_VALUES] = {"VALUES", {ELEMENT_FIELD}, begin_values, NULL},
    [ELEMENT_DATA] = {"DATA", {ELEMENT_TABLE}, begin_data, NULL},
    [ELEMENT_TABLEDATA] = {"TABLEDATA", {ELEMENT_DATA}, begin_tabledata, NULL},
    [ELEMENT_TR] = {"TR", {ELEMENT_TABLEDATA}, begin_tr, end_tr},
    [ELEMENT_TD] = {"TD", {ELEMENT_TR}, begin_td, end_td},
    [ELEMENT_BINARY] = {"BINARY", {ELEMENT_DATA}, begin_binary, end_binary},
    [ELEMENT_BINARY2] = {"BINARY2", {ELEMENT_DATA}, begin_binary2, end_binary},
    [ELEMENT_STREAM] = {"STREAM", {ELEMENT_BINARY, ELEMENT_BINARY2}, begin_stream, end_stream},
};

static enum element find_child(enum element parent, const char *name) {
    for (size_t i = ELEMENT_VOTABLE; i < ELEMENTS; i++) {
        bool here = elements[i].parents[0] == parent ||
                    (elements[i].parents[1] == parent && parent != ELEMENT_DOCUMENT);
        if (here && strcmp(elements[i].name, name) == 0)
            return (enum element)i;
    }
    return ELEMENT_DOCUMENT;
}

/* An element that has no meaning where it stands. Three must not pass in silence. */
static int begin_unknown(struct builder *builder, const char *name, uint64_t lineno) {
    if (builder->inside == ELEMENT_DOCUMENT)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "the root element is <%.*s>, not VOTABLE, give a VOTable",
                           QUOTED_BYTES, name);
    if (builder->inside == ELEMENT_DATA && strcmp(name, "INFO") != 0)
        return problem_set(builder->problem, -ENOTSUP, lineno,
                           "DATA as %.*s is not supported, convert the file to TABLEDATA, "
                           "BINARY or BINARY2 with stilts or astropy",
                           QUOTED_BYTES, name);
    if (builder->inside == ELEMENT_TD || builder->inside == ELEMENT_STREAM)
        return problem_set(builder->problem, -EBADMSG, lineno,
                           "<%.*s> inside a %s, where only text belongs, remove it",
                           QUOTED_BYTES, name, elements[builder->inside].name);
    builder->skipped = 1;
    return 0;
}

int builder_begin(struct builder *builder, const char *name,
                  const struct attributes *attributes, uint64_t lineno) {
    if (builder->skipped > 0) {
        builder->skipped++;
        return 0;
    }
    enum element element = find_child(builder->inside, name);
    if (element == ELEMENT_DOCUMENT)
        return begin_unknown(builder, name, lineno);
    builder->inside = element;
    return elements[element].begin != NULL
               ? elements[element].begin(builder, attributes, lineno)
               : 0;
}

int builder_begin_foreign(struct builder *builder, const char *name, uint64_t lineno) {
    if (builder->skipped == 0)
        return begin_unknown(builder, name, lineno);
    builder->skipped++;
    return 0;
}

/* The element around the one that ends. RESOURCE and STREAM have two possible parents. */
static enum element parent_of(const struct builder *builder) {
    if (builder->inside == ELEMENT_RESOURCE)
        return builder->resources > 0 ? ELEMENT_RESOURCE : ELEMENT_VOTABLE;
    if (builder->inside == ELEMENT_STREAM)
        return builder->table->serialization == SERIALIZATION_BINARY2 ? ELEMENT_BINARY2
                                                                      : ELEMENT_BINARY;
    return elements[builder->inside].parents[0];
}

int builder_end(struct builder *builder) {
    if (builder->skipped > 0) {
        builder->skipped--;
        return 0;
    }
    int r = elements[builder->inside].end != NULL ? elements[builder->inside].end(builder) : 0;
    if (r < 0)
        return r;
    builder->inside = parent_of(builder);
    return 0;
}

static int append_text(struct builder *builder, const char *text, size_t length) {
    /* One byte more than the text: number parsers look at what follows. */
    if (length >= builder->text_room - builder->text_bytes || builder->text_room == 0) {
        size_t room = builder->text_room == 0 ? TEXT_ROOM_MIN : builder->text_room;
        while (room - builder->text_bytes <= length)
            if (__builtin_mul_overflow(room, 2, &room))
                return problem_set_memory(builder->problem);
        char *grown = realloc(builder->text, room);
        if (grown == NULL)
            return problem_set_memory(builder->problem);
        builder->text = grown;
        builder->text_room = room;
    }
    memcpy(builder->text + builder->text_bytes, text, length);
    builder->text_bytes += length;
    return 0;
}

int builder_text(struct builder *builder, const char *text, size_t length) {
    if (builder->skipped > 0 || length == 0)
        return 0;
    if (builder->inside == ELEMENT_STREAM)
        return stream_push(&builder->stream, text, length);
    if (builder->inside == ELEMENT_TD)
        return append_text(builder, text, length);
    return 0;
}
