/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder.c: the grammar of VOTable as far as it carries data.
 *
 * One table says which element may stand in which; one function each, in builder_metadata.c and
 * builder_data.c, says what it does. An element that is not in the table (PARAM, INFO, GROUP, a
 * foreign block) is skipped whole.
 */
#include "builder.h"

#include "builder_parts.h"
#include "fits_data.h"
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM_MIN 256

static const struct consumer consumer_of_nothing;

static const char *const attribute_names[ATTRIBUTES] = {
    [ATTRIBUTE_ID] = "ID",
    [ATTRIBUTE_NAME] = "name",
    [ATTRIBUTE_REF] = "ref",
    [ATTRIBUTE_DATATYPE] = "datatype",
    [ATTRIBUTE_ARRAYSIZE] = "arraysize",
    [ATTRIBUTE_NULL] = "null",
    [ATTRIBUTE_ENCODING] = "encoding",
    [ATTRIBUTE_HREF] = "href",
    [ATTRIBUTE_NROWS] = "nrows",
    [ATTRIBUTE_EXTNUM] = "extnum",
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

bool attributes_say(const struct attributes *attributes, enum attribute attribute,
                    const char *value) {
    return attributes->of[attribute].text != NULL &&
           attributes->of[attribute].length == strlen(value) &&
           memcmp(attributes->of[attribute].text, value, strlen(value)) == 0;
}

int attributes_quoted_length(const struct attributes *attributes, enum attribute attribute) {
    size_t length = attributes->of[attribute].length;
    return length < QUOTED_BYTES ? (int)length : QUOTED_BYTES;
}

const char *attributes_quoted(const struct attributes *attributes, enum attribute attribute) {
    return attributes->of[attribute].text != NULL ? attributes->of[attribute].text : "";
}

void builder_init(struct builder *builder, const char *path, const struct read_options *options,
                  struct votable *votable, struct problem *problem) {
    memset(builder, 0, sizeof(*builder));
    builder->votable = votable;
    builder->options = options;
    builder->consumer = options->consumer != NULL ? options->consumer : &consumer_of_nothing;
    builder->path = path;
    builder->problem = problem;
    builder->warnings.warn = options->warn;
    builder->warnings.context = options->warn_context;
    builder->warnings.strict = options->strict;
}

void builder_finish(struct builder *builder) {
    if (builder->streaming)
        stream_finish(&builder->stream);
    builder->streaming = false;
    fits_spool_free(builder->fits);
    builder->fits = NULL;
    free(builder->text);
    builder->text = NULL;
}

int builder_end_document(struct builder *builder) {
    warnings_flush(&builder->warnings);
    return selection_check_tables(builder->options->tables, builder->votable, builder->problem);
}

/* Every element: its name, where it may stand, what it does. */
static const struct {
    const char *name;
    enum element parents[3];
    builder_begin_function *begin;
    builder_end_function *end;
} elements[ELEMENTS] = {
    [ELEMENT_VOTABLE] = {"VOTABLE", {ELEMENT_DOCUMENT}, builder_begin_votable, NULL},
    [ELEMENT_RESOURCE] = {"RESOURCE",
                          {ELEMENT_VOTABLE, ELEMENT_RESOURCE},
                          builder_begin_resource,
                          builder_end_resource},
    [ELEMENT_TABLE] = {"TABLE", {ELEMENT_RESOURCE}, builder_begin_table, builder_end_table},
    [ELEMENT_FIELD] = {"FIELD", {ELEMENT_TABLE}, builder_begin_field, NULL},
    [ELEMENT_VALUES] = {"VALUES", {ELEMENT_FIELD}, builder_begin_values, NULL},
    [ELEMENT_DATA] = {"DATA", {ELEMENT_TABLE}, builder_begin_data, NULL},
    [ELEMENT_TABLEDATA] = {"TABLEDATA",
                           {ELEMENT_DATA},
                           builder_begin_tabledata,
                           builder_end_tabledata},
    [ELEMENT_TR] = {"TR", {ELEMENT_TABLEDATA}, builder_begin_tr, builder_end_tr},
    [ELEMENT_TD] = {"TD", {ELEMENT_TR}, builder_begin_td, builder_end_td},
    [ELEMENT_BINARY] = {"BINARY", {ELEMENT_DATA}, builder_begin_binary, builder_end_binary},
    [ELEMENT_BINARY2] = {"BINARY2", {ELEMENT_DATA}, builder_begin_binary2, builder_end_binary},
    [ELEMENT_FITS] = {"FITS", {ELEMENT_DATA}, builder_begin_fits, builder_end_fits},
    [ELEMENT_STREAM] = {"STREAM",
                        {ELEMENT_BINARY, ELEMENT_BINARY2, ELEMENT_FITS},
                        builder_begin_stream,
                        builder_end_stream},
};

static bool may_stand_in(enum element element, enum element parent) {
    for (size_t i = 0; i < 3; i++)
        if (elements[element].parents[i] == parent && (i == 0 || parent != ELEMENT_DOCUMENT))
            return true;
    return false;
}

static enum element find_child(enum element parent, const char *name) {
    for (enum element element = ELEMENT_VOTABLE; element < ELEMENTS; element++)
        if (may_stand_in(element, parent) && strcmp(elements[element].name, name) == 0)
            return element;
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
    return elements[element].begin(builder, attributes, lineno);
}

int builder_begin_foreign(struct builder *builder, const char *name, uint64_t lineno) {
    if (builder->skipped == 0)
        return begin_unknown(builder, name, lineno);
    builder->skipped++;
    return 0;
}

/* The element around the one that ends. RESOURCE and STREAM have several possible parents. */
static enum element parent_of(const struct builder *builder) {
    if (builder->inside == ELEMENT_RESOURCE)
        return builder->resources > 0 ? ELEMENT_RESOURCE : ELEMENT_VOTABLE;
    if (builder->inside != ELEMENT_STREAM)
        return elements[builder->inside].parents[0];
    switch (builder->table->serialization) {
    case SERIALIZATION_BINARY2:
        return ELEMENT_BINARY2;
    case SERIALIZATION_FITS:
        return ELEMENT_FITS;
    default:
        return ELEMENT_BINARY;
    }
}

int builder_end(struct builder *builder) {
    if (builder->skipped > 0) {
        if (--builder->skipped == 0)
            builder->hidden = false;
        return 0;
    }
    int r = elements[builder->inside].end != NULL ? elements[builder->inside].end(builder) : 0;
    if (r < 0)
        return r;
    builder->inside = parent_of(builder);
    return 0;
}

/* Grow by doubling: the longest cell of a table decides, and there is one such text. */
static int grow_text(struct builder *builder, size_t length) {
    size_t room = builder->text_room == 0 ? TEXT_ROOM_MIN : builder->text_room;
    while (room - builder->text_bytes <= length)
        if (__builtin_mul_overflow(room, 2, &room))
            return problem_set_memory(builder->problem);
    char *grown = realloc(builder->text, room);
    if (grown == NULL)
        return problem_set_memory(builder->problem);
    builder->text = grown;
    builder->text_room = room;
    return 0;
}

int builder_append_text(struct builder *builder, const char *text, size_t length) {
    /* One byte more than the text: number parsers look at what follows. */
    if (length >= builder->text_room - builder->text_bytes || builder->text_room == 0) {
        int r = grow_text(builder, length);
        if (r < 0)
            return r;
    }
    memcpy(builder->text + builder->text_bytes, text, length);
    builder->text_bytes += length;
    return 0;
}

int builder_text(struct builder *builder, const char *text, size_t length) {
    if (!builder_wants_text(builder) || length == 0)
        return 0;
    if (builder->streaming)
        return stream_push(&builder->stream, text, length);
    return builder->fits != NULL ? fits_spool_push(builder->fits, text, length)
                                 : builder_append_text(builder, text, length);
}
