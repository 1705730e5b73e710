/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_sax.c: XML in pieces. What libxml2 finds goes to the builder at once and is forgotten.
 *
 * Most of a table need not go through libxml2: text that fills a piece, which is base64, and
 * rows that are plain and lie complete in its input (plain_rows.h). In all other rows the
 * shortest way is that of a TD: two names are compared as pointers into the parser's
 * dictionary.
 */
#include "plain_rows.h"
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/parserInternals.h>
#include <string.h>

static struct reader *reader_of(void *context) {
    return ((xmlParserCtxtPtr)context)->_private;
}

/* What startElementNs is given. Attributes are five pointers: local name, prefix, namespace,
 * value, end of the value. */
struct start {
    const xmlChar *local;
    const xmlChar *prefix;
    size_t namespace_count;
    const xmlChar **namespaces; /* prefix, URI */
    size_t attribute_count;
    const xmlChar **attributes;
};

static size_t value_length(const xmlChar **attribute) {
    return (size_t)(attribute[4] - attribute[3]);
}

/* Everything of the element in reader->attributes and ->names; its own name comes first. */
static int keep_start(struct reader *reader, const struct start *start) {
    size_t bytes = reader_name_bytes((const char *)start->prefix, (const char *)start->local);
    for (size_t i = 0; i < start->namespace_count; i++)
        bytes += sizeof("xmlns:") + (start->namespaces[i * 2] != NULL
                                         ? strlen((const char *)start->namespaces[i * 2])
                                         : 0);
    for (size_t i = 0; i < start->attribute_count; i++) {
        const xmlChar **attribute = start->attributes + i * 5;
        bytes += reader_name_bytes((const char *)attribute[1], (const char *)attribute[0]) +
                 value_length(attribute);
    }
    int r = reader_reserve(reader, start->namespace_count + start->attribute_count, bytes);
    if (r < 0)
        return r;
    char *to = reader_append_name(reader->names, (const char *)start->prefix,
                                  (const char *)start->local);
    struct consumer_attribute *kept = reader->attributes;
    for (size_t i = 0; i < start->namespace_count; i++, kept++) {
        const xmlChar *prefix = start->namespaces[i * 2];
        const xmlChar *uri = start->namespaces[i * 2 + 1];
        kept->name = to;
        kept->value = uri != NULL ? (const char *)uri : "";
        kept->length = strlen(kept->value);
        to = prefix != NULL ? reader_append_name(to, "xmlns", (const char *)prefix)
                            : reader_append_name(to, NULL, "xmlns");
    }
    for (size_t i = 0; i < start->attribute_count; i++, kept++) {
        const xmlChar **attribute = start->attributes + i * 5;
        kept->name = to;
        to = reader_append_name(to, (const char *)attribute[1], (const char *)attribute[0]);
        kept->value = to;
        to = reader_push_value(to, (const char *)attribute[3], value_length(attribute));
        kept->length = (size_t)(to - kept->value);
    }
    return 0;
}

/* Those that mean something to the builder, out of all. */
static int find_attributes(struct reader *reader, const struct start *start,
                           struct attributes *ret_attributes) {
    bool escaped = false;
    for (size_t i = 0; i < start->attribute_count; i++) {
        const xmlChar **attribute = start->attributes + i * 5;
        escaped |= memchr(attribute[3], '&', value_length(attribute)) != NULL;
    }
    if (escaped || reader->builder.consumer->element_begin != NULL) {
        int r = keep_start(reader, start);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < start->attribute_count; i++) {
        const xmlChar **attribute = start->attributes + i * 5;
        enum attribute which;
        if (attribute[1] != NULL || !builder_attribute_find((const char *)attribute[0], &which))
            continue;
        ret_attributes->of[which].text = (const char *)attribute[3];
        ret_attributes->of[which].length = value_length(attribute);
        if (!escaped)
            continue;
        const struct consumer_attribute *kept = &reader->attributes[start->namespace_count + i];
        ret_attributes->of[which].text = kept->value;
        ret_attributes->of[which].length = kept->length;
    }
    return 0;
}

/* A problem is kept by whoever meets it; nothing is listened to after it. */
static void begin_element(struct reader *reader, const struct start *start,
                          const xmlChar *uri) {
    struct attributes ours = {0};
    const char *local = (const char *)start->local;
    uint64_t lineno = reader_push_lineno(reader->context);
    bool foreign = !reader_is_ours(reader, uri);
    if (reader_enter(reader, lineno) < 0 || find_attributes(reader, start, &ours) < 0)
        return;
    if (foreign || reader->foreign > 0)
        reader->foreign++;
    int r = foreign ? builder_begin_foreign(&reader->builder, local, lineno)
                    : builder_begin(&reader->builder, local, &ours, lineno);
    if (r == 0 && reader_tells_elements(reader))
        reader_tell_begin(reader, reader->names, local,
                          start->namespace_count + start->attribute_count, lineno);
}

/*
 * Plain rows that lie ready in the parser's input behind the TR that has just ended: they are
 * taken from there, and the parser goes on behind them as if they had been white space. It may
 * do so because a TR without prefix is followed by such as mean the same, in whatever namespace
 * that is.
 */
static void take_plain_rows(struct reader *reader) {
    struct builder *builder = &reader->builder;
    xmlParserInputPtr input = reader->context->input;
    uint64_t lineno = reader_push_lineno(reader->context);
    while (builder_takes_rows(builder)) {
        const char *from = (const char *)input->cur;
        uint64_t lines;
        const char *behind =
            plain_row_find(from, (const char *)input->end, builder->table->field_count, &lines);
        if (behind == NULL || builder_take_row(builder, from, lines, lineno) < 0)
            break;
        lineno += lines;
        input->cur = (const xmlChar *)behind;
    }
    input->line = (int)lineno;
}

static void on_start(void *context, const xmlChar *local_name, const xmlChar *prefix,
                     const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                     int attribute_count, int defaulted_count, const xmlChar **attributes) {
    struct reader *reader = reader_of(context);
    struct builder *builder = &reader->builder;
    reader->after_cr = false;
    if (reader->problem->code != 0)
        return;
    /* Those that a DTD adds come last. They are not in the document, nor in libxml2's trees. */
    attribute_count -= defaulted_count;
    if (local_name == reader->td_name && attribute_count == 0 && builder->skipped == 0 &&
        builder->inside == ELEMENT_TR && uri == reader->root_namespace) {
        reader->depth++;
        builder_begin_plain_td(builder, reader_push_lineno(reader->context));
        return;
    }
    if (!reader_push_tag_is_whole(reader->context))
        return;
    if (local_name == reader->tr_name)
        reader->plain_tr = prefix == NULL && namespace_count == 0 &&
                           builder->inside == ELEMENT_TABLEDATA &&
                           uri == reader->root_namespace &&
                           reader->context->attsDefault == NULL; /* xmlns may be one */
    const struct start start = {
        local_name, prefix, (size_t)namespace_count, namespaces, (size_t)attribute_count,
        attributes};
    begin_element(reader, &start, uri);
}

static void end_element(struct reader *reader, const xmlChar *local, const xmlChar *prefix) {
    const char *name = (const char *)local;
    bool tells = reader_tells_elements(reader);
    if (builder_end(&reader->builder) == 0 && tells &&
        reader_reserve(reader, 0, reader_name_bytes((const char *)prefix, name)) == 0) {
        reader_append_name(reader->names, (const char *)prefix, name);
        reader_tell_end(reader, reader->names, name);
    }
    if (reader->foreign > 0)
        reader->foreign--;
}

static void on_end(void *context, const xmlChar *local_name, const xmlChar *prefix,
                   const xmlChar *uri) {
    struct reader *reader = reader_of(context);
    reader->after_cr = false;
    reader->depth--;
    if (reader->problem->code != 0)
        return;
    end_element(reader, local_name, prefix);
    if (local_name == reader->tr_name && reader->plain_tr && reader->problem->code == 0)
        take_plain_rows(reader);
}

static void on_text(void *context, const xmlChar *text, int length) {
    struct reader *reader = reader_of(context);
    reader->after_cr = false;
    if (reader->problem->code == 0)
        reader_take_text(reader, (const char *)text, (size_t)length);
}

static void on_cdata(void *context, const xmlChar *text, int length) {
    struct reader *reader = reader_of(context);
    if (reader->problem->code == 0)
        reader_take_cdata(reader, (const char *)text, (size_t)length);
}

/* The one place to stop at once. */
static void on_entity_declaration(void *context, const xmlChar *name, int type,
                                  const xmlChar *public_id, const xmlChar *system_id,
                                  xmlChar *content) {
    struct reader *reader = reader_of(context);
    reader_push_complain_entity((const char *)name, reader_push_lineno(reader->context),
                                reader->problem);
    xmlStopParser(reader->context);
}

static void on_error(void *context, ERROR_POINTER error) {
    struct reader *reader = reader_of(context);
    /* While the parser is made it has no reader yet; that it was not made is seen then. */
    if (reader != NULL)
        reader_on_error(reader, error);
}

size_t reader_take_ahead(struct reader *reader, const char *piece, size_t bytes) {
    const bool listens = reader->td_name != NULL && builder_wants_text(&reader->builder);
    const xmlParserCtxt *context = reader->context;
    xmlParserInputPtr input = listens ? context->input : NULL;
    if (input == NULL || context->instate != XML_PARSER_CONTENT || input->cur != input->end ||
        input->buf == NULL || input->buf->encoder != NULL)
        return 0;
    uint64_t lines;
    const char *end = plain_text_end(piece, piece + bytes, &lines);
    input->line += (int)lines;
    if (end > piece)
        reader_take_text(reader, piece, (size_t)(end - piece));
    return (size_t)(end - piece);
}

static void set_handlers(xmlSAXHandler *handlers) {
    memset(handlers, 0, sizeof(*handlers));
    handlers->initialized = XML_SAX2_MAGIC;
    handlers->startElementNs = on_start;
    handlers->endElementNs = on_end;
    handlers->characters = on_text;
    /* The same function for both keeps libxml2 from asking which one it is. */
    handlers->ignorableWhitespace = on_text;
    handlers->cdataBlock = on_cdata;
    handlers->entityDecl = on_entity_declaration;
    handlers->serror = on_error;
}

int reader_parse_sax(struct reader *reader) {
    xmlSAXHandler handlers;
    set_handlers(&handlers);
    xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handlers, NULL, NULL, 0, NULL);
    if (context == NULL)
        return problem_set_memory(reader->problem);
    xmlCtxtUseOptions(context, READER_OPTIONS);
    context->_private = reader;
    reader->context = context;
    reader->td_name = xmlDictLookup(context->dict, BAD_CAST "TD", 2);
    reader->tr_name = xmlDictLookup(context->dict, BAD_CAST "TR", 2);

    int r = reader_feed(reader);
    /* Never a part for the whole, whatever libxml2 thinks. */
    if (r == 0 &&
        (!context->wellFormed || context->nameNr > 0 || !builder_is_complete(&reader->builder)))
        r = problem_set(reader->problem, -EBADMSG, reader_push_lineno(reader->context),
                        "is not well-formed XML, correct the file");
    xmlFreeDoc(context->myDoc);
    context->myDoc = NULL;
    xmlFreeParserCtxt(context);
    reader->context = NULL;
    return r;
}
