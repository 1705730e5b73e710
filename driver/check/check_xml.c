/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_xml.c: the XML of a document for check, by libxml2.
 *
 * reader.c hands on what a table is made of, and stops at the first problem. A validator needs
 * what it drops: every attribute, prefixes as they are bound, the DOCTYPE; so this includes
 * libxml2 as well. It is as safe: entities are never expanded and their declarations
 * refused, nothing is fetched, no DTD loaded, tags and depth are limited.
 */
#include "check_document.h"
#include "input.h"
#include "reader_push.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    struct check_document *document;
    const struct read_limits *limits;
    struct problem *problem;
    xmlParserCtxtPtr context;
    bool at_end;
    bool after_cr;                      /* the last byte of the CDATA section so far */
    struct check_attribute *attributes; /* of the tag, reused; owned */
    size_t attribute_room;
    char *values; /* theirs, NUL after each; owned */
    size_t value_room;
};

static struct parse *parse_of(void *context) {
    return ((xmlParserCtxtPtr)context)->_private;
}

/* Room for a tag's attributes and their values. */
static int make_room(struct parse *parse, size_t attributes, size_t value_bytes) {
    if (attributes > parse->attribute_room) {
        void *grown =
            reallocarray(parse->attributes, attributes, sizeof(struct check_attribute));
        if (grown == NULL)
            return problem_set_memory(parse->problem);
        parse->attributes = grown;
        parse->attribute_room = attributes;
    }
    if (value_bytes > parse->value_room) {
        char *grown = realloc(parse->values, value_bytes);
        if (grown == NULL)
            return problem_set_memory(parse->problem);
        parse->values = grown;
        parse->value_room = value_bytes;
    }
    return 0;
}

/* Five pointers each: local name, prefix, namespace, value, end of the value. */
static int copy_attributes(struct parse *parse, const xmlChar **attributes, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (size_t)(attributes[i * 5 + 4] - attributes[i * 5 + 3]) + 1;
    int r = make_room(parse, count, bytes);
    if (r < 0)
        return r;
    char *to = parse->values;
    for (size_t i = 0; i < count; i++) {
        const xmlChar **given = attributes + i * 5;
        size_t length = (size_t)(given[4] - given[3]);
        parse->attributes[i] = (struct check_attribute){
            .name = (const char *)given[0],
            .prefix = (const char *)given[1],
            .uri = (const char *)given[2],
            .value = to,
        };
        to = reader_push_value(to, (const char *)given[3], length);
        *to++ = '\0';
    }
    return 0;
}

static void on_start(void *context, const xmlChar *local_name, const xmlChar *prefix,
                     const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                     int attribute_count, int defaulted_count, const xmlChar **attributes) {
    struct parse *parse = parse_of(context);
    /* Those that a DTD adds come last, and are not in the document. */
    size_t count = (size_t)(attribute_count - defaulted_count);
    if (parse->problem->code != 0 || !reader_push_tag_is_whole(parse->context) ||
        copy_attributes(parse, attributes, count) < 0)
        return;
    const struct check_begin element = {
        .name = (const char *)local_name,
        .prefix = (const char *)prefix,
        .uri = (const char *)uri,
        .lineno = reader_push_lineno(parse->context),
        .attributes = parse->attributes,
        .attribute_count = count,
    };
    check_document_begin(parse->document, &element);
}

static void on_end(void *context, const xmlChar *local_name, const xmlChar *prefix,
                   const xmlChar *uri) {
    check_document_end(parse_of(context)->document);
}

static void on_text(void *context, const xmlChar *text, int length) {
    struct parse *parse = parse_of(context);
    parse->after_cr = false;
    check_document_text(parse->document, (const char *)text, (size_t)length);
}

static int take_text(void *context, const char *text, size_t length) {
    check_document_text(context, text, length);
    return 0;
}

static void on_cdata(void *context, const xmlChar *text, int length) {
    struct parse *parse = parse_of(context);
    reader_push_cdata(&parse->after_cr, (const char *)text, (size_t)length, take_text,
                      parse->document);
}

static void on_doctype(void *context, const xmlChar *name, const xmlChar *public_id,
                       const xmlChar *system_id) {
    struct parse *parse = parse_of(context);
    check_document_doctype(parse->document, reader_push_lineno(parse->context));
}

/* The one place to stop at once: what is declared could be expanded in the next line. */
static void on_entity_declaration(void *context, const xmlChar *name, int type,
                                  const xmlChar *public_id, const xmlChar *system_id,
                                  xmlChar *content) {
    struct parse *parse = parse_of(context);
    reader_push_complain_entity((const char *)name, reader_push_lineno(parse->context),
                                parse->problem);
    xmlStopParser(parse->context);
}

static void on_error(void *context, ERROR_POINTER error) {
    struct parse *parse = parse_of(context);
    if (parse != NULL)
        reader_push_complain(error, parse->at_end, reader_push_lacks_bytes(parse->context),
                             parse->problem);
}

static int feed(struct parse *parse, struct input *input) {
    char piece[READER_PIECE_BYTES];
    bool empty = true;
    while (!parse->at_end) {
        size_t bytes = 0;
        int r = input_read(input, piece, sizeof(piece), &bytes, parse->problem);
        parse->at_end = bytes == 0;
        if (r == 0 && empty && parse->at_end)
            return problem_set(parse->problem, -EBADMSG, 0, "is empty, give a VOTable");
        if (r == 0)
            r = reader_push(parse->context, piece, bytes, parse->limits->tag_bytes,
                            parse->problem);
        if (r < 0)
            return r;
        empty = false;
    }
    return 0;
}

static int parse_input(struct parse *parse, struct input *input) {
    xmlSAXHandler handlers = {
        .initialized = XML_SAX2_MAGIC,
        .internalSubset = on_doctype,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_cdata,
        .entityDecl = on_entity_declaration,
        .serror = on_error,
    };
    parse->context = xmlCreatePushParserCtxt(&handlers, NULL, NULL, 0, NULL);
    if (parse->context == NULL)
        return problem_set_memory(parse->problem);
    xmlCtxtUseOptions(parse->context, READER_OPTIONS);
    parse->context->_private = parse;
    int r = feed(parse, input);
    if (r == 0 && (!parse->context->wellFormed || parse->document->depth > 0 ||
                   !parse->document->seen_root))
        r = problem_set(parse->problem, -EBADMSG, reader_push_lineno(parse->context),
                        "is not well-formed XML, correct the file");
    xmlFreeDoc(parse->context->myDoc);
    parse->context->myDoc = NULL;
    xmlFreeParserCtxt(parse->context);
    return r;
}

/* Errors that libxml2 does not connect with a parser. */
static void on_stray_error(void *data, ERROR_POINTER error) {
    struct parse *parse = data;
    if (error->code == XML_ERR_NO_MEMORY)
        problem_set_memory(parse->problem);
}

/* libxml2 writes some of its words to stderr unless they have another place to go. */
_printf_(2, 3) static void on_words(void *data, const char *format, ...) {
}

void check_xml_read(const char *path, struct check_document *document) {
    struct parse parse = {
        .document = document, .limits = &document->limits, .problem = document->problem};
    struct input input;
    if (reader_push_ready(document->problem) < 0 ||
        input_open(path, &input, document->problem) < 0)
        return;
    xmlSetStructuredErrorFunc(&parse, on_stray_error);
    xmlSetGenericErrorFunc(NULL, on_words);
    int r = parse_input(&parse, &input);
    xmlSetGenericErrorFunc(NULL, NULL);
    xmlSetStructuredErrorFunc(NULL, NULL);
    input_close(&input);
    free(parse.attributes);
    free(parse.values);
    if (r == 0)
        check_document_complete(document);
}
