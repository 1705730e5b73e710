/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_document.c: structure and attributes, by the tables of check_schema.c.
 *
 * An element that cannot stand where it does in any version, or that VOTable does not have, is
 * told and not looked into: what is inside has no place to be judged by. One that stands
 * in the wrong order, or too early for its version, is looked into as if it were right.
 */
#include "check_document.h"

#include "check_value.h"
#include "field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE_START "http://www.ivoa.net/xml/VOTable/"

void check_document_init(struct check_document *document, const struct read_limits *limits,
                         struct problem *problem) {
    document->limits = *limits;
    document->problem = problem;
    document->version = V1_5;
}

static void table_finish(struct check_table *table) {
    if (!table->has_ref)
        check_fields_finish(&table->fields);
    *table = (struct check_table){0};
}

void check_document_finish(struct check_document *document) {
    table_finish(&document->table);
    check_field_finish(&document->param);
    check_stream_finish(&document->stream);
    check_ids_finish(&document->ids);
    findings_finish(&document->findings);
    free(document->frames);
    free(document->root_uri);
    free(document->text);
}

const char *check_begin_get(const struct check_begin *element, const char *name) {
    for (size_t i = 0; i < element->attribute_count; i++) {
        const struct check_attribute *attribute = &element->attributes[i];
        if (attribute->prefix == NULL && strcmp(attribute->name, name) == 0)
            return attribute->value;
    }
    return NULL;
}

/* ---- version and namespace ---- */

static void guess_version(struct check_document *document, const char *uri) {
    document->version = V1_5;
    for (int i = V1_1; i <= V1_3; i++) {
        const char *namespace = schema_namespace((enum schema_version)i);
        if (uri != NULL && strcmp(uri, namespace) == 0)
            document->version = i == V1_3 ? V1_4 : (enum schema_version)i;
    }
}

static void check_version(struct check_document *document, const struct check_begin *root) {
    const char *version = check_begin_get(root, "version");
    if (version == NULL) {
        guess_version(document, root->uri);
        findings_add(&document->findings, FINDING_D02, root->lineno, SCHEMA_VOTABLE, "version",
                     "VOTABLE has no version, it is taken for %s, add version=\"%s\"",
                     schema_version_name(document->version),
                     schema_version_name(document->version));
        return;
    }
    if (schema_version_find(version, &document->version))
        return;
    const char *number = *version == 'v' || *version == 'V' ? version + 1 : version;
    if (!schema_version_find(number, &document->version))
        guess_version(document, root->uri);
    findings_add(&document->findings, FINDING_D01, root->lineno, SCHEMA_VOTABLE, "version",
                 "'%.40s' is no version of VOTable, it is taken for %s, which the attribute "
                 "should say",
                 version, schema_version_name(document->version));
}

static void check_namespace(struct check_document *document, const struct check_begin *root) {
    const char *wanted = schema_namespace(document->version);
    if (root->uri == NULL ? wanted == NULL : wanted != NULL && strcmp(root->uri, wanted) == 0)
        return;
    if (root->uri == NULL && root->prefix != NULL)
        return; /* D04 has been told */
    if (root->uri == NULL)
        findings_add(&document->findings, FINDING_D06, root->lineno, SCHEMA_VOTABLE, "xmlns",
                     "VOTABLE has no namespace, VOTable %s has '%s'",
                     schema_version_name(document->version), wanted);
    else
        findings_add(&document->findings, FINDING_D03, root->lineno, SCHEMA_VOTABLE, "xmlns",
                     "the namespace is '%.80s', VOTable %s has %s%s%s", root->uri,
                     schema_version_name(document->version), wanted != NULL ? "'" : "",
                     wanted != NULL ? wanted : "none", wanted != NULL ? "'" : "");
}

static void check_prefix(struct check_document *document, const struct check_begin *element) {
    if (element->prefix != NULL && element->uri == NULL)
        findings_add(&document->findings, FINDING_D04, element->lineno, SCHEMA_NONE, NULL,
                     "the prefix '%.40s' is bound to no namespace, add xmlns:%.40s",
                     element->prefix, element->prefix);
}

static void begin_root(struct check_document *document, const struct check_begin *root) {
    document->seen_root = true;
    if (strcmp(root->name, "VOTABLE") != 0) {
        problem_set(document->problem, -EBADMSG, root->lineno,
                    "the root element is <%.60s>, not VOTABLE, give a VOTable", root->name);
        return;
    }
    if (root->uri != NULL) {
        document->root_uri = strdup(root->uri);
        if (document->root_uri == NULL)
            problem_set_memory(document->problem);
    }
    check_version(document, root);
    check_namespace(document, root);
    if (document->doctype_lineno > 0 && document->version > V1_0)
        findings_add(&document->findings, FINDING_D05, document->doctype_lineno, SCHEMA_NONE,
                     NULL, "the document has a DOCTYPE, which VOTable %s does not, remove it",
                     schema_version_name(document->version));
}

void check_document_doctype(struct check_document *document, uint64_t lineno) {
    /* The version is not known yet. */
    document->doctype_lineno = lineno;
}

/* ---- where elements stand ---- */

static bool is_ours(const struct check_document *document, const char *uri) {
    return uri == NULL ||
           (document->root_uri != NULL && strcmp(uri, document->root_uri) == 0) ||
           strncmp(uri, NAMESPACE_START, sizeof(NAMESPACE_START) - 1) == 0;
}

/* The row that lets the child stand here now; else what is in the way. */
struct place {
    const struct schema_child *row; /* in this version, in order */
    bool in_version;                /* out of order, but this version has it */
    enum schema_version since;      /* the first that has it; NEVER */
    bool repeated;
};

static struct place find_place(const struct check_document *document,
                               const struct check_frame *parent, enum schema_element element) {
    struct place place = {.since = NEVER};
    for (size_t i = 0; i < schema_child_count; i++) {
        const struct schema_child *row = &schema_children[i];
        if (row->parent != parent->element || (row->children & SCHEMA_BIT(element)) == 0)
            continue;
        if (row->since < place.since)
            place.since = row->since;
        if (document->version < row->since || document->version >= row->until)
            continue;
        place.in_version = true;
        if (row->rank < parent->rank || (row->continues && row->rank != parent->rank))
            continue;
        if (row->once && (row->children & parent->seen) != 0)
            place.repeated = true;
        else if (place.row == NULL || row->rank < place.row->rank)
            place.row = row;
    }
    return place;
}

static void tell_place(struct check_document *document, const struct check_frame *parent,
                       enum schema_element element, const struct place *place,
                       uint64_t lineno) {
    struct findings *findings = &document->findings;
    const char *name = schema_element_name(element);
    const char *inside = schema_element_name(parent->element);
    enum schema_version since = schema_element_since(element);
    if (since < place->since)
        since = place->since;
    if (schema_element_since(parent->element) > document->version)
        return; /* has been told of the parent */
    if (!place->in_version)
        findings_add(findings, FINDING_S02, lineno, element, NULL,
                     "%s in %s is none of VOTable %s, %s%s", name, inside,
                     schema_version_name(document->version),
                     since > document->version ? "it comes with " : "it was in ",
                     schema_version_name(since));
    else if (place->repeated)
        findings_add(findings, FINDING_S05, lineno, element, NULL,
                     "%s has %s more than once%s, remove the others", inside, name,
                     parent->element == SCHEMA_DATA ? " or beside another serialization" : "");
    else
        findings_add(findings, FINDING_S04, lineno, element, NULL,
                     "%s in %s stands after what it must precede, move it up", name, inside);
}

/* May the element be looked into? */
static bool check_place(struct check_document *document, enum schema_element element,
                        uint64_t lineno) {
    if (document->depth == 0)
        return true;
    struct check_frame *parent = &document->frames[document->depth - 1];
    struct place place = find_place(document, parent, element);
    if (place.since == NEVER) {
        findings_add(&document->findings, FINDING_S03, lineno, element, NULL,
                     "%s cannot stand in %s, it is not looked into",
                     schema_element_name(element), schema_element_name(parent->element));
        return false;
    }
    if (place.row == NULL)
        tell_place(document, parent, element, &place, lineno);
    else
        parent->rank = place.row->rank;
    parent->seen |= SCHEMA_BIT(element);
    if (schema_element_is_deprecated(element, document->version))
        findings_add(&document->findings, FINDING_S08, lineno, element, NULL,
                     "%s is deprecated in VOTable %s", schema_element_name(element),
                     schema_version_name(document->version));
    return true;
}

/* ---- attributes ---- */

/* As the schema's token types have it: no blanks around. */
static char *trim(char *text) {
    while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
        text++;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n\r", text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

static void check_value(struct check_document *document, enum schema_element element,
                        const struct schema_attribute *attribute, const char *value,
                        uint64_t lineno) {
    struct findings *findings = &document->findings;
    const char *name = schema_element_name(element);
    if (attribute->kind == KIND_CHOICE && !value_is_word(attribute->values, value))
        findings_add(findings, FINDING_A04, lineno, element, attribute->name,
                     "%s has %s=\"%.40s\", it can be %s", name, attribute->name, value,
                     attribute->values);
    else if (attribute->kind == KIND_TERM && !value_is_word(attribute->values, value))
        findings_add(findings, FINDING_A06, lineno, element, attribute->name,
                     "%s has %s=\"%.40s\", which is not in the vocabulary: %s", name,
                     attribute->name, value, attribute->values);
    else if (attribute->kind == KIND_UNIT && !value_is_readable_unit(value))
        findings_add(findings, FINDING_A07, lineno, element, attribute->name,
                     "%s has unit=\"%.60s\", which cannot be read as a unit", name, value);
    else if (!value_is_of_kind(attribute->kind, value, document->version))
        findings_add(findings, FINDING_A04, lineno, element, attribute->name,
                     "%s has %s=\"%.60s\", which is not %s", name, attribute->name, value,
                     value_kind_text(attribute->kind));
    else if (attribute->kind == KIND_UCD && !value_is_readable_ucd(value))
        findings_add(findings, FINDING_A08, lineno, element, attribute->name,
                     "%s has ucd=\"%.60s\", which is neither UCD1+ nor UCD1", name, value);
    else if (attribute->kind == KIND_REF)
        check_ids_refer(&document->ids, value, element, lineno);
}

static void check_attribute(struct check_document *document, enum schema_element element,
                            struct check_attribute *given, uint64_t lineno) {
    struct findings *findings = &document->findings;
    const char *name = schema_element_name(element);
    /* Another namespace's, such as xsi:schemaLocation. */
    if (given->uri != NULL)
        return;
    const struct schema_attribute *attribute =
        given->prefix == NULL ? schema_attribute_find(element, given->name, document->version)
                              : NULL;
    if (attribute == NULL) {
        findings_add(findings, FINDING_A01, lineno, element, NULL,
                     "%s has no attribute '%.40s'", name, given->name);
        return;
    }
    bool early = document->version < attribute->since &&
                 attribute->since > schema_element_since(element); /* else S02 has been told */
    if (early || document->version >= attribute->until)
        findings_add(findings, FINDING_A02, lineno, element, attribute->name,
                     "%s has no attribute '%s' in VOTable %s, it %s %s", name, attribute->name,
                     schema_version_name(document->version),
                     document->version < attribute->since ? "comes with" : "was in",
                     schema_version_name(attribute->since));
    if (document->version >= attribute->deprecated)
        findings_add(findings, FINDING_A05, lineno, element, attribute->name,
                     "%s's attribute '%s' is deprecated in VOTable %s", name, attribute->name,
                     schema_version_name(document->version));
    if (attribute->kind != KIND_TEXT)
        given->value = trim(given->value);
    check_value(document, element, attribute, given->value, lineno);
}

static void check_required(struct check_document *document, enum schema_element element,
                           const struct check_begin *begin) {
    for (size_t i = 0; i < schema_attribute_count; i++) {
        const struct schema_attribute *attribute = &schema_attributes[i];
        if ((attribute->elements & SCHEMA_BIT(element)) == 0 ||
            document->version < attribute->required ||
            check_begin_get(begin, attribute->name) != NULL)
            continue;
        findings_add(&document->findings, FINDING_A03, begin->lineno, element, attribute->name,
                     "%s lacks its attribute '%s', add it", schema_element_name(element),
                     attribute->name);
    }
}

static void check_attributes(struct check_document *document, enum schema_element element,
                             const struct check_begin *begin) {
    for (size_t i = 0; i < begin->attribute_count; i++)
        check_attribute(document, element, &begin->attributes[i], begin->lineno);
    if (element != SCHEMA_TR && element != SCHEMA_TD)
        check_required(document, element, begin);
    const char *id = check_begin_get(begin, "ID");
    if (id != NULL) {
        struct check_id *added =
            check_ids_add(&document->ids, &document->findings, id, element, begin->lineno);
        if (element == SCHEMA_TABLE)
            document->table.id = added;
    }
}

/* ---- the elements ---- */

/* Is this one to be looked into? If not, why has been told. */
static bool can_enter(struct check_document *document, const struct check_begin *begin,
                      enum schema_element element) {
    const struct check_frame *parent =
        document->depth > 0 ? &document->frames[document->depth - 1] : NULL;
    /* Any XML may be in a description. */
    if (parent != NULL && parent->element == SCHEMA_DESCRIPTION)
        return false;
    if (!is_ours(document, begin->uri)) {
        if (parent != NULL && parent->element != SCHEMA_RESOURCE)
            findings_add(&document->findings, FINDING_S09, begin->lineno, parent->element, NULL,
                         "<%.40s> of another namespace in %s, where only RESOURCE may have one",
                         begin->name, schema_element_name(parent->element));
        return false;
    }
    if (element == SCHEMA_NONE) {
        findings_add(&document->findings, FINDING_S01, begin->lineno, SCHEMA_NONE, NULL,
                     "VOTable has no element <%.40s>, it is not looked into", begin->name);
        return false;
    }
    return check_place(document, element, begin->lineno);
}

/* Elements that are not looked into count. Returns whether there may be another. */
static bool check_depth(struct check_document *document, uint64_t lineno) {
    const uint64_t depth_max = document->limits.depth;
    if (document->depth + document->skipped < depth_max)
        return true;
    problem_set(document->problem, -EBADMSG, lineno,
                "more than %" PRIu64 " elements are nested in one another, simplify the "
                "document or raise --max-depth",
                depth_max);
    return false;
}

static void push_frame(struct check_document *document, enum schema_element element,
                       uint64_t lineno) {
    if (document->depth == document->frame_room) {
        size_t room = document->frame_room == 0 ? 32 : document->frame_room * 2;
        void *grown = reallocarray(document->frames, room, sizeof(*document->frames));
        if (grown == NULL) {
            problem_set_memory(document->problem);
            return;
        }
        document->frames = grown;
        document->frame_room = room;
    }
    document->frames[document->depth++] =
        (struct check_frame){.element = element, .lineno = lineno, .rank = -1};
}

void check_document_begin(struct check_document *document, const struct check_begin *begin) {
    if (document->problem->code != 0 || !check_depth(document, begin->lineno))
        return;
    if (document->skipped > 0) {
        document->skipped++;
        return;
    }
    enum schema_element element = schema_element_find(begin->name);
    check_prefix(document, begin);
    if (!document->seen_root)
        begin_root(document, begin);
    if (document->problem->code != 0)
        return;
    if (!can_enter(document, begin, element)) {
        document->skipped = 1;
        return;
    }
    push_frame(document, element, begin->lineno);
    if (document->problem->code != 0)
        return;
    check_attributes(document, element, begin);
    check_table_begin(document, element, begin);
}

static void check_children(struct check_document *document, const struct check_frame *frame) {
    uint32_t required = schema_required_children(frame->element, document->version);
    bool has_fields = frame->element == SCHEMA_TABLE && document->table.has_ref;
    if (required == 0 || (required & frame->seen) != 0 || has_fields)
        return;
    char names[128] = "";
    for (int i = 0; i < SCHEMA_ELEMENTS; i++) {
        if ((required & SCHEMA_BIT(i)) == 0)
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? " or " : "",
                 schema_element_name((enum schema_element)i));
    }
    findings_add(&document->findings, FINDING_S06, frame->lineno, frame->element, NULL,
                 "%s has no %s, which it must have", schema_element_name(frame->element),
                 names);
}

void check_document_end(struct check_document *document) {
    if (document->problem->code != 0)
        return;
    if (document->skipped > 0) {
        document->skipped--;
        return;
    }
    const struct check_frame *frame = &document->frames[document->depth - 1];
    check_children(document, frame);
    check_table_end(document, frame->element);
    document->depth--;
}

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\n\r", text[i]) == NULL)
            return false;
    return true;
}

void check_document_text(struct check_document *document, const char *text, size_t length) {
    if (document->problem->code != 0 || document->skipped > 0 || document->depth == 0)
        return;
    struct check_frame *frame = &document->frames[document->depth - 1];
    check_table_text(document, frame->element, text, length);
    if (frame->text_is_told || schema_has_text(frame->element, document->version) ||
        is_blank(text, length))
        return;
    frame->text_is_told = true;
    findings_add(&document->findings, FINDING_S07, frame->lineno, frame->element, NULL,
                 "%s has text, '%.*s', where none can be", schema_element_name(frame->element),
                 length > 40 ? 40 : (int)length, text);
}

void check_document_complete(struct check_document *document) {
    check_ids_resolve(&document->ids, &document->findings);
    if (document->ids.no_memory || document->findings.no_memory)
        problem_set_memory(document->problem);
}
