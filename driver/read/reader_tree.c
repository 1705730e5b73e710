/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_tree.c: libxml2's trees, walked in document order without recursion.
 *
 * For `dom` the tree is that of the whole document, built by libxml2's own handlers; for
 * `reader` xmlTextReader keeps no more of it than the node it is at and those around it. How
 * deep a document nests is its author's choice, and limited while the tree is built.
 */
#include "cdata_splitter.h"
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlreader.h>
#include <string.h>

static struct reader *reader_of(void *context) {
    return ((xmlParserCtxtPtr)context)->_private;
}

static uint64_t node_lineno(const xmlNode *node) {
    long line = xmlGetLineNo(node);
    return line > 0 ? (uint64_t)line : 1;
}

/* A tree's names carry a prefix that was never bound. A colon at either end is no prefix's. */
static const char *local_name(const xmlNode *node) {
    const char *name = (const char *)node->name;
    const char *colon = strchr(name, ':');
    bool prefix = node->ns == NULL && colon != NULL && colon != name && colon[1] != '\0';
    return prefix ? colon + 1 : name;
}

/* Without entities a value is one text node, or none when it is empty. */
static const char *attribute_value(const xmlAttr *attribute) {
    const xmlNode *value = attribute->children;
    return value != NULL && value->content != NULL ? (const char *)value->content : "";
}

static const char *prefix_of(const xmlNs *ns) {
    return ns != NULL ? (const char *)ns->prefix : NULL;
}

/* Everything of the element in reader->attributes and ->names; its own name comes first. */
static int keep_node(struct reader *reader, const xmlNode *node, size_t *ret_count) {
    size_t bytes = reader_name_bytes(prefix_of(node->ns), (const char *)node->name);
    size_t count = 0;
    for (const xmlNs *ns = node->nsDef; ns != NULL; ns = ns->next, count++)
        bytes += sizeof("xmlns:") + (ns->prefix != NULL ? strlen((const char *)ns->prefix) : 0);
    for (const xmlAttr *attribute = node->properties; attribute != NULL;
         attribute = attribute->next, count++)
        bytes += reader_name_bytes(prefix_of(attribute->ns), (const char *)attribute->name);
    int r = reader_reserve(reader, count, bytes);
    if (r < 0)
        return r;
    char *to = reader_append_name(reader->names, prefix_of(node->ns), (const char *)node->name);
    struct consumer_attribute *kept = reader->attributes;
    for (const xmlNs *ns = node->nsDef; ns != NULL; ns = ns->next, kept++) {
        kept->name = to;
        kept->value = ns->href != NULL ? (const char *)ns->href : "";
        kept->length = strlen(kept->value);
        to = ns->prefix != NULL ? reader_append_name(to, "xmlns", (const char *)ns->prefix)
                                : reader_append_name(to, NULL, "xmlns");
    }
    for (const xmlAttr *attribute = node->properties; attribute != NULL;
         attribute = attribute->next, kept++) {
        kept->name = to;
        kept->value = attribute_value(attribute);
        kept->length = strlen(kept->value);
        to = reader_append_name(to, prefix_of(attribute->ns), (const char *)attribute->name);
    }
    *ret_count = count;
    return 0;
}

static void find_attributes(const xmlNode *node, struct attributes *ret_attributes) {
    for (const xmlAttr *attribute = node->properties; attribute != NULL;
         attribute = attribute->next) {
        enum attribute which;
        if (attribute->ns != NULL ||
            !builder_attribute_find((const char *)attribute->name, &which))
            continue;
        ret_attributes->of[which].text = attribute_value(attribute);
        ret_attributes->of[which].length = strlen(ret_attributes->of[which].text);
    }
}

static int begin_node(struct reader *reader, const xmlNode *node) {
    struct attributes ours = {0};
    const char *local = local_name(node);
    uint64_t lineno = node_lineno(node);
    bool foreign = !reader_is_ours(reader, node->ns != NULL ? node->ns->href : NULL);
    int r = reader_enter(reader, lineno);
    if (r < 0)
        return r;
    find_attributes(node, &ours);
    if (foreign || reader->foreign > 0)
        reader->foreign++;
    r = foreign ? builder_begin_foreign(&reader->builder, local, lineno)
                : builder_begin(&reader->builder, local, &ours, lineno);
    if (r < 0 || !reader_tells_elements(reader))
        return r;
    size_t count;
    r = keep_node(reader, node, &count);
    return r < 0 ? r : reader_tell_begin(reader, reader->names, local, count, lineno);
}

static int end_node(struct reader *reader, const xmlNode *node) {
    bool tells = reader_tells_elements(reader);
    int r = builder_end(&reader->builder);
    reader->depth--;
    if (r == 0 && tells) {
        r = reader_reserve(reader, 0,
                           reader_name_bytes(prefix_of(node->ns), (const char *)node->name));
        if (r < 0)
            return r;
        reader_append_name(reader->names, prefix_of(node->ns), (const char *)node->name);
        r = reader_tell_end(reader, reader->names, local_name(node));
    }
    if (reader->foreign > 0)
        reader->foreign--;
    return r;
}

/* What a node says when it is reached; what its children say comes later. */
static int visit_node(struct reader *reader, const xmlNode *node) {
    const char *content = (const char *)node->content;
    bool cdata = node->type == XML_CDATA_SECTION_NODE;
    if (!cdata)
        reader->after_cr = false;
    if (node->type == XML_ELEMENT_NODE)
        return begin_node(reader, node);
    if (!(cdata || node->type == XML_TEXT_NODE) || content == NULL)
        return 0;
    return cdata ? reader_take_cdata(reader, content, strlen(content))
                 : reader_take_text(reader, content, strlen(content));
}

static int walk(struct reader *reader, const xmlNode *root) {
    const xmlNode *node = root;
    while (node != NULL) {
        int r = visit_node(reader, node);
        if (r < 0)
            return r;
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            continue;
        }
        for (;;) {
            r = node->type == XML_ELEMENT_NODE ? end_node(reader, node) : 0;
            if (r < 0)
                return r;
            if (node == root)
                return 0;
            if (node->next != NULL)
                break;
            node = node->parent;
        }
        node = node->next;
    }
    return 0;
}

/* libxml2's own handler, but not deeper than the limit. */
static void on_start(void *context, const xmlChar *local, const xmlChar *prefix,
                     const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                     int attribute_count, int defaulted_count, const xmlChar **attributes) {
    struct reader *reader = reader_of(context);
    if (reader->problem->code != 0 ||
        reader_enter(reader, reader_push_lineno(reader->context)) < 0)
        return;
    xmlSAX2StartElementNs(context, local, prefix, uri, namespace_count, namespaces,
                          attribute_count, defaulted_count, attributes);
}

static void on_end(void *context, const xmlChar *local, const xmlChar *prefix,
                   const xmlChar *uri) {
    struct reader *reader = reader_of(context);
    if (reader->problem->code != 0)
        return;
    reader->depth--;
    xmlSAX2EndElementNs(context, local, prefix, uri);
}

static void on_entity_declaration(void *context, const xmlChar *name, int type,
                                  const xmlChar *public_id, const xmlChar *system_id,
                                  xmlChar *content) {
    reader_push_complain_entity((const char *)name, reader_push_lineno(context),
                                reader_of(context)->problem);
    xmlStopParser(context);
}

static void on_error(void *context, ERROR_POINTER error) {
    struct reader *reader = reader_of(context);
    /* While the parser is made it has no reader yet; that it was not made is seen then. */
    if (reader != NULL)
        reader_on_error(reader, error);
}

static int complain_of_xml(struct reader *reader, uint64_t lineno) {
    return problem_set(reader->problem, -EBADMSG, lineno,
                       "is not well-formed XML, correct the file");
}

int reader_parse_dom(struct reader *reader) {
    xmlSAXHandler handlers;
    memset(&handlers, 0, sizeof(handlers));
    xmlSAXVersion(&handlers, 2);
    handlers.startElementNs = on_start;
    handlers.endElementNs = on_end;
    handlers.entityDecl = on_entity_declaration;
    handlers.serror = on_error;
    xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handlers, NULL, NULL, 0, NULL);
    if (context == NULL)
        return problem_set_memory(reader->problem);
    xmlCtxtUseOptions(context, READER_OPTIONS);
    context->_private = reader;
    reader->context = context;

    int r = reader_feed(reader);
    if (r == 0)
        r = walk(reader, xmlDocGetRootElement(context->myDoc));
    /* Never a part for the whole, whatever libxml2 thinks. */
    if (r == 0 &&
        (!context->wellFormed || context->nameNr > 0 || !builder_is_complete(&reader->builder)))
        r = complain_of_xml(reader, 1);
    xmlFreeDoc(context->myDoc);
    context->myDoc = NULL;
    xmlFreeParserCtxt(context);
    reader->context = NULL;
    return r;
}

/*
 * xmlTextReader has its own handlers, which put declared entities into the document and expand
 * them in the attributes that follow. It is given the start of the document tag by tag, so that
 * a declaration is seen before what follows it: that is what this keeps.
 */
struct nodes {
    struct reader *reader;
    xmlTextReaderPtr text_reader;
    char piece[READER_PIECE_BYTES];
    size_t piece_bytes;
    size_t given;         /* of piece */
    uint64_t given_bytes; /* of the document */
    char last[16];        /* the end of what was given */
    size_t last_given;
    uint64_t prolog_lines;
    uint64_t entity_lineno; /* of the first that is declared; 0: none seen */
    bool seen_root;
    bool wide; /* UTF-16 or UTF-32: CDATA is not split */
    struct cdata_splitter splitter;
};

/* The first entity in the order of declarations; libxml2 does not keep its line. */
static const xmlChar *first_entity(const xmlDtd *dtd) {
    for (const xmlNode *node = dtd->children; node != NULL; node = node->next)
        if (node->type == XML_ENTITY_DECL)
            return node->name;
    return NULL;
}

static void refuse_entities(struct nodes *nodes) {
    const xmlDoc *document =
        nodes->text_reader != NULL ? xmlTextReaderCurrentDoc(nodes->text_reader) : NULL;
    if (document == NULL || document->intSubset == NULL)
        return;
    const xmlChar *name = first_entity(document->intSubset);
    if (name != NULL)
        reader_push_complain_entity((const char *)name,
                                    nodes->entity_lineno > 0 ? nodes->entity_lineno : 1,
                                    nodes->reader->problem);
}

/* Lines of the prolog, up to the first declaration of an entity. */
static void count_lines(struct nodes *nodes, const char *piece, size_t bytes) {
    static const char declaration[] = "<!ENTITY";
    const char *found = memmem(piece, bytes, declaration, sizeof(declaration) - 1);
    const char *end = found != NULL ? found : piece + bytes;
    if (nodes->entity_lineno > 0 || nodes->seen_root)
        return;
    for (const char *c = piece; c < end; c++)
        nodes->prolog_lines += *c == '\n';
    if (found != NULL)
        nodes->entity_lineno = nodes->prolog_lines + 1;
}

/* Bytes that the parser was given and has not understood yet: a tag that never ends. */
static int check_waiting(struct nodes *nodes) {
    struct reader *reader = nodes->reader;
    const uint64_t waiting_max = reader->options->limits.tag_bytes;
    long consumed = xmlTextReaderByteConsumed(nodes->text_reader);
    if (consumed < 0 || nodes->given_bytes - (uint64_t)consumed <= waiting_max)
        return 0;
    return problem_set(reader->problem, -EBADMSG, 1,
                       "a tag, comment or CDATA section goes on for more than %" PRIu64
                       " bytes, shorten it or raise --max-tag-bytes",
                       waiting_max);
}

/* Read on when all was given. Returns 0, or -1 with a problem. */
static int refill(struct nodes *nodes) {
    struct reader *reader = nodes->reader;
    if (nodes->given < nodes->piece_bytes)
        return 0;
    if (check_waiting(nodes) < 0)
        return -1;
    bool first = nodes->given_bytes == 0;
    nodes->given = 0;
    nodes->piece_bytes = 0;
    if (reader_read(reader, nodes->piece, sizeof(nodes->piece), &nodes->piece_bytes) < 0)
        return -1;
    if (first)
        nodes->wide =
            nodes->piece_bytes > 1 && (nodes->piece[0] == '\0' || nodes->piece[1] == '\0' ||
                                       (nodes->piece[0] & 0xfe) == 0xfe);
    return 0;
}

/* xmlTextReader wants bytes: in the prolog up to the next '>', then as many as there are. */
static int give_bytes(void *data, char *buffer, int size) {
    struct nodes *nodes = data;
    if (!nodes->seen_root)
        refuse_entities(nodes);
    if (nodes->reader->problem->code != 0 || refill(nodes) < 0)
        return -1;
    const char *from = nodes->piece + nodes->given;
    size_t taken = nodes->piece_bytes - nodes->given;
    size_t bytes;
    if (nodes->seen_root && !nodes->wide) {
        bytes =
            cdata_splitter_copy(&nodes->splitter, from, taken, buffer, (size_t)size, &taken);
    } else {
        const char *tag_end = nodes->seen_root ? NULL : memchr(from, '>', taken);
        if (tag_end != NULL)
            taken = (size_t)(tag_end - from) + 1;
        if (taken > (size_t)size)
            taken = (size_t)size;
        count_lines(nodes, from, taken);
        memcpy(buffer, from, taken);
        bytes = taken;
    }
    if (taken > 0) {
        nodes->last_given = taken < sizeof(nodes->last) ? taken : sizeof(nodes->last);
        memcpy(nodes->last, from + taken - nodes->last_given, nodes->last_given);
    }
    nodes->given += taken;
    nodes->given_bytes += bytes;
    return (int)bytes;
}

/*
 * Bytes that could not be converted end the text without a word: when the file was closed
 * properly and its encoding is one in which not every byte is a character, it was they.
 */
static bool suspects_encoding(const struct nodes *nodes) {
    const xmlChar *encoding = xmlTextReaderConstEncoding(nodes->text_reader);
    size_t at = nodes->last_given;
    while (at > 0 && strchr(" \t\r\n", nodes->last[at - 1]) != NULL)
        at--;
    return encoding != NULL && xmlStrcasecmp(encoding, BAD_CAST "UTF-8") != 0 &&
           xmlStrcasecmp(encoding, BAD_CAST "ISO-8859-1") != 0 && at > 0 &&
           nodes->last[at - 1] == '>';
}

static void on_nodes_error(void *data, ERROR_POINTER error) {
    struct nodes *nodes = data;
    nodes->reader->suspects_encoding = suspects_encoding(nodes);
    reader_on_error(nodes->reader, error);
}

static int take_node(struct nodes *nodes) {
    struct reader *reader = nodes->reader;
    const xmlNode *node = xmlTextReaderCurrentNode(nodes->text_reader);
    if (node == NULL)
        return problem_set_memory(reader->problem);
    if (xmlTextReaderNodeType(nodes->text_reader) == XML_READER_TYPE_END_ELEMENT)
        return end_node(reader, node);
    nodes->seen_root |= node->type == XML_ELEMENT_NODE;
    int r = visit_node(reader, node);
    if (r == 0 && node->type == XML_ELEMENT_NODE &&
        xmlTextReaderIsEmptyElement(nodes->text_reader) == 1)
        r = end_node(reader, node);
    return r;
}

static int read_nodes(struct nodes *nodes) {
    struct reader *reader = nodes->reader;
    for (;;) {
        int more = xmlTextReaderRead(nodes->text_reader);
        if (reader->problem->code != 0)
            return reader->problem->code;
        if (more < 0)
            return complain_of_xml(reader, 1);
        if (more == 0)
            break;
        int r = take_node(nodes);
        if (r < 0)
            return r;
    }
    return builder_is_complete(&reader->builder) ? 0 : complain_of_xml(reader, 1);
}

int reader_parse_nodes(struct reader *reader) {
    struct nodes nodes = {.reader = reader};
    nodes.text_reader = xmlReaderForIO(give_bytes, NULL, &nodes, NULL, NULL, READER_OPTIONS);
    if (nodes.text_reader == NULL)
        return problem_set_memory(reader->problem);
    xmlTextReaderSetStructuredErrorHandler(nodes.text_reader, on_nodes_error, &nodes);
    int r = read_nodes(&nodes);
    xmlDocPtr document = xmlTextReaderCurrentDoc(nodes.text_reader);
    xmlFreeTextReader(nodes.text_reader);
    xmlFreeDoc(document);
    return r;
}
