/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.c: XML, by libxml2. The only file that includes it.
 *
 * Both ways to parse are fed the same way, piece by piece: `stream` and `buffer` with handlers
 * that call the builder, `dom` with libxml2's own, which make a tree that is walked afterwards.
 *
 * Safe: entities are never expanded and their declarations refused, nothing is fetched, no DTD
 * loaded. XML_PARSE_HUGE is on, because a STREAM in a CDATA section or a tree node may well
 * exceed 10 MB; the guard against entity bombs that it takes away is not needed then, and the
 * limit for tags and comments is kept here: libxml2 looks for their end from the start again
 * with every piece.
 */
#include "builder.h"
#include "input.h"
#include "votable.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <string.h>

/* Fuzzers read in small pieces, to meet their edges. */
#ifndef READER_PIECE_BYTES
#define READER_PIECE_BYTES 32768
#endif

#define WAITING_BYTES_MAX 10000000
#define NAMESPACE_START   "http://www.ivoa.net/xml/VOTable/"

/* libxml2 2.12 made what the error callback gets const. */
#if LIBXML_VERSION >= 21200
#define ERROR_POINTER const xmlError *
#else
#define ERROR_POINTER xmlErrorPtr
#endif

struct reader {
    struct builder builder;
    struct problem *problem;
    xmlParserCtxtPtr context;
    const xmlChar *root_namespace; /* NULL: none */
    bool seen_root;
    bool at_end;   /* the whole file was handed over */
    bool after_cr; /* the last byte of the CDATA section so far */
};

static struct reader *reader_of(void *context) {
    return ((xmlParserCtxtPtr)context)->_private;
}

static uint64_t parser_lineno(const struct reader *reader) {
    const xmlParserCtxtPtr context = reader->context;
    return context->input != NULL && context->input->line > 0 ? (uint64_t)context->input->line
                                                              : 1;
}

/* Any namespace will do for the root; the rest has the same, none, or one of VOTable's. */
static bool is_ours(struct reader *reader, const xmlChar *uri) {
    if (!reader->seen_root) {
        reader->seen_root = true;
        reader->root_namespace = uri;
    }
    return uri == reader->root_namespace || uri == NULL ||
           xmlStrEqual(uri, reader->root_namespace) ||
           xmlStrncmp(uri, BAD_CAST NAMESPACE_START, sizeof(NAMESPACE_START) - 1) == 0;
}

static void on_start(void *context, const xmlChar *local_name, const xmlChar *prefix,
                     const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                     int attribute_count, int defaulted_count, const xmlChar **attributes) {
    struct reader *reader = reader_of(context);
    struct attributes ours = {0};
    reader->after_cr = false;
    if (reader->problem->code != 0)
        return;
    /* Five pointers each: local name, prefix, namespace, value, end of the value. */
    for (int i = 0; i < attribute_count; i++) {
        const xmlChar **attribute = attributes + (ptrdiff_t)i * 5;
        enum attribute which;
        if (attribute[1] != NULL || !builder_attribute_find((const char *)attribute[0], &which))
            continue;
        ours.of[which].text = (const char *)attribute[3];
        ours.of[which].length = (size_t)(attribute[4] - attribute[3]);
    }
    const char *name = (const char *)local_name;
    uint64_t lineno = parser_lineno(reader);
    /* A problem is kept by the builder; nothing is listened to after it. */
    if (is_ours(reader, uri))
        builder_begin(&reader->builder, name, &ours, lineno);
    else
        builder_begin_foreign(&reader->builder, name, lineno);
}

static void on_end(void *context, const xmlChar *local_name, const xmlChar *prefix,
                   const xmlChar *uri) {
    struct reader *reader = reader_of(context);
    reader->after_cr = false;
    if (reader->problem->code == 0)
        builder_end(&reader->builder);
}

static void on_text(void *context, const xmlChar *text, int length) {
    struct reader *reader = reader_of(context);
    reader->after_cr = false;
    if (reader->problem->code == 0 && builder_wants_text(&reader->builder))
        builder_text(&reader->builder, (const char *)text, (size_t)length);
}

/*
 * Line ends of a CDATA section, which libxml2 leaves as they are when it is fed in pieces: they
 * become newlines (XML 1.0, 2.11), a CR and LF one, also when they come apart.
 */
static int take_cdata(struct reader *reader, const char *text, size_t length) {
    const char *end = text + length;
    int r = 0;
    if (reader->after_cr && length > 0 && *text == '\n')
        text++;
    reader->after_cr = length > 0 && end[-1] == '\r';
    while (r == 0 && text < end) {
        const char *cr = memchr(text, '\r', (size_t)(end - text));
        r = builder_text(&reader->builder, text, (size_t)((cr != NULL ? cr : end) - text));
        if (cr == NULL)
            break;
        if (r == 0)
            r = builder_text(&reader->builder, "\n", 1);
        text = cr + 1;
        if (text < end && *text == '\n')
            text++;
    }
    return r;
}

static void on_cdata(void *context, const xmlChar *text, int length) {
    struct reader *reader = reader_of(context);
    if (reader->problem->code == 0 && builder_wants_text(&reader->builder))
        take_cdata(reader, (const char *)text, (size_t)length);
}

/* The one place to stop at once: what is declared could be expanded in the next line. */
static void on_entity_declaration(void *context, const xmlChar *name, int type,
                                  const xmlChar *public_id, const xmlChar *system_id,
                                  xmlChar *content) {
    struct reader *reader = reader_of(context);
    problem_set(reader->problem, -EBADMSG, parser_lineno(reader),
                "the document declares an entity '%.60s', which no VOTable needs and is not "
                "expanded here, remove its DOCTYPE",
                (const char *)name);
    xmlStopParser(reader->context);
}

static void complain_encoding(struct reader *reader, uint64_t lineno) {
    problem_set(reader->problem, -EBADMSG, lineno,
                "has bytes that its encoding does not have, correct the encoding in its first "
                "line or the file");
}

/* At the end of the file, bytes that are still not converted never will be. */
static bool has_unconverted_bytes(const struct reader *reader) {
    const xmlParserInput *input = reader->context->input;
    return reader->at_end && input != NULL && input->buf != NULL &&
           input->buf->encoder != NULL && xmlBufUse(input->buf->raw) > 0;
}

/* libxml2's words, up to the end of their first line. */
static int message_length(const char *message) {
    return message == NULL ? 0 : (int)strcspn(message, "\r\n");
}

/*
 * Only kept here: stopping the parser would free its input, which libxml2 may still be reading
 * when it reports an error.
 */
static void on_error(void *context, ERROR_POINTER error) {
    struct reader *reader = reader_of(context);
    /* While the parser is made it has no reader yet; parse() sees that it was not made. */
    if (reader == NULL)
        return;
    uint64_t lineno = error->line > 0 ? (uint64_t)error->line : 1;
    if (error->code == XML_ERR_NO_MEMORY) {
        problem_set_memory(reader->problem);
        return;
    }
    /* An undeclared entity is let pass, text lost, when there is a DTD that was not loaded. */
    if (error->level != XML_ERR_FATAL && error->code != XML_WAR_UNDECLARED_ENTITY)
        return;
    if (error->code == XML_ERR_DOCUMENT_EMPTY)
        problem_set(reader->problem, -EBADMSG, lineno, "is not XML, give a VOTable");
    else if (has_unconverted_bytes(reader))
        complain_encoding(reader, lineno);
    else if (reader->at_end)
        problem_set(reader->problem, -EBADMSG, lineno,
                    "the XML ends before its last tag, the file is cut short, fetch or "
                    "write it again");
    else
        problem_set(reader->problem, -EBADMSG, lineno,
                    "is not well-formed XML: %.*s, correct the file",
                    message_length(error->message), error->message);
}

/*
 * Errors that libxml2 does not connect with a parser. It goes on after most of them, so this is
 * where text is found to be missing from a tree because there was no memory for it.
 */
static void on_stray_error(void *data, ERROR_POINTER error) {
    struct reader *reader = data;
    if (error->code == XML_ERR_NO_MEMORY)
        problem_set_memory(reader->problem);
}

/* libxml2 writes some of its words to stderr unless they have another place to go. */
_printf_(2, 3) static void on_words(void *data, const char *format, ...) {
}

/*
 * libxml2 waits for the end of a CDATA section and looks for it from the start again with every
 * piece. So a section that goes on is ended at the end of the piece and begun again, which
 * changes neither text nor lines; not inside a character, a line end or what may become "]]>".
 */
static void split_cdata(struct reader *reader, char last_byte) {
    static const char border[] = "]]><![CDATA[";
    const xmlParserCtxt *context = reader->context;
    bool splits = context->instate == XML_PARSER_CDATA_SECTION && context->input != NULL &&
                  context->input->buf != NULL && context->input->buf->encoder == NULL;
    bool inside = last_byte == ']' || last_byte == '\r' || (last_byte & 0x80) != 0;
    if (splits && !inside)
        xmlParseChunk(reader->context, border, sizeof(border) - 1, 0);
}

static int push(struct reader *reader, const char *piece, size_t bytes, bool last) {
    int error = xmlParseChunk(reader->context, piece, (int)bytes, last);
    /* What libxml2 returns but neither reports nor remembers: bytes that could not be
     * converted, or that it stopped because of them. */
    if (error == XML_ERR_INVALID_ENCODING || error < 0)
        complain_encoding(reader, parser_lineno(reader));
    if (reader->problem->code == 0 && !last)
        split_cdata(reader, piece[bytes - 1]);
    const xmlParserInput *input = reader->context->input;
    if (input != NULL && input->end - input->cur > WAITING_BYTES_MAX)
        problem_set(reader->problem, -EBADMSG, parser_lineno(reader),
                    "a tag, comment or CDATA section goes on for more than 10 MB, shorten it");
    return reader->problem->code;
}

/* Hand the file over, piece by piece. */
static int feed(struct reader *reader, struct input *input, uint64_t *ret_file_bytes) {
    struct problem *problem = reader->problem;
    char piece[READER_PIECE_BYTES];
    uint64_t file_bytes = 0;

    for (;;) {
        size_t bytes;
        int r = input_read(input, piece, sizeof(piece), &bytes, problem);
        if (r < 0)
            return r;
        if (bytes == 0)
            break;
        file_bytes += bytes;
        r = push(reader, piece, bytes, false);
        if (r < 0)
            return r;
    }
    if (file_bytes == 0)
        return problem_set(problem, -EBADMSG, 0, "is empty, give a VOTable");
    reader->at_end = true;
    *ret_file_bytes = file_bytes;
    return push(reader, piece, 0, true);
}

/* A tree's names carry a prefix that was never bound. A colon at either end is no prefix's. */
static const char *local_name(const xmlNode *node) {
    const char *name = (const char *)node->name;
    const char *colon = strchr(name, ':');
    bool prefix = node->ns == NULL && colon != NULL && colon != name && colon[1] != '\0';
    return prefix ? colon + 1 : name;
}

static int begin_node(struct reader *reader, const xmlNode *node) {
    struct attributes ours = {0};
    for (const xmlAttr *attribute = node->properties; attribute != NULL;
         attribute = attribute->next) {
        enum attribute which;
        if (attribute->ns != NULL ||
            !builder_attribute_find((const char *)attribute->name, &which))
            continue;
        /* Without entities a value is one text node, or none when it is empty. */
        const xmlNode *value = attribute->children;
        ours.of[which].text =
            value != NULL && value->content != NULL ? (const char *)value->content : "";
        ours.of[which].length = strlen(ours.of[which].text);
    }
    long line = xmlGetLineNo(node);
    uint64_t lineno = line > 0 ? (uint64_t)line : 1;
    const xmlChar *uri = node->ns != NULL ? node->ns->href : NULL;
    return is_ours(reader, uri)
               ? builder_begin(&reader->builder, local_name(node), &ours, lineno)
               : builder_begin_foreign(&reader->builder, local_name(node), lineno);
}

static int visit_node(struct reader *reader, const xmlNode *node) {
    bool cdata = node->type == XML_CDATA_SECTION_NODE;
    const char *content = (const char *)node->content;
    if (!cdata)
        reader->after_cr = false;
    if (node->type == XML_ELEMENT_NODE)
        return begin_node(reader, node);
    if (!(cdata || node->type == XML_TEXT_NODE) || content == NULL ||
        !builder_wants_text(&reader->builder))
        return 0;
    return cdata ? take_cdata(reader, content, strlen(content))
                 : builder_text(&reader->builder, content, strlen(content));
}

/* In document order, without recursion: how deep a document nests is its author's choice. */
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
            r = node->type == XML_ELEMENT_NODE ? builder_end(&reader->builder) : 0;
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

static void set_handlers(xmlSAXHandler *handlers, enum strategy strategy) {
    memset(handlers, 0, sizeof(*handlers));
    if (strategy == STRATEGY_DOM) {
        xmlSAXVersion(handlers, 2);
    } else {
        handlers->initialized = XML_SAX2_MAGIC;
        handlers->startElementNs = on_start;
        handlers->endElementNs = on_end;
        handlers->characters = on_text;
        /* The same function for both keeps libxml2 from asking which one it is. */
        handlers->ignorableWhitespace = on_text;
        handlers->cdataBlock = on_cdata;
    }
    handlers->entityDecl = on_entity_declaration;
    handlers->serror = on_error;
}

static int parse(struct reader *reader, struct input *input, enum strategy strategy,
                 uint64_t *ret_file_bytes) {
    xmlSAXHandler handlers;
    set_handlers(&handlers, strategy);
    xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handlers, NULL, NULL, 0, NULL);
    if (context == NULL)
        return problem_set_memory(reader->problem);
    xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES);
    context->_private = reader;
    reader->context = context;

    int r = feed(reader, input, ret_file_bytes);
    if (r == 0 && strategy == STRATEGY_DOM)
        r = walk(reader, xmlDocGetRootElement(context->myDoc));
    /* Never a part for the whole, whatever libxml2 thinks. */
    if (r == 0 &&
        (!context->wellFormed || context->nameNr > 0 || !builder_is_complete(&reader->builder)))
        r = problem_set(reader->problem, -EBADMSG, parser_lineno(reader),
                        "is not well-formed XML, correct the file");
    xmlFreeDoc(context->myDoc);
    context->myDoc = NULL;
    xmlFreeParserCtxt(context);
    return r;
}

int votable_read(const char *path, enum strategy strategy, struct votable *ret_votable,
                 struct problem *problem) {
    struct input input;
    int r = input_open(path, &input, problem);
    if (r < 0)
        return r;
    struct reader reader = {.problem = problem};
    builder_init(&reader.builder, ret_votable, strategy == STRATEGY_BUFFER, problem);
    xmlSetStructuredErrorFunc(&reader, on_stray_error);
    xmlSetGenericErrorFunc(NULL, on_words);
    r = parse(&reader, &input, strategy, &ret_votable->file_bytes);
    xmlSetGenericErrorFunc(NULL, NULL);
    xmlSetStructuredErrorFunc(NULL, NULL);
    builder_finish(&reader.builder);
    input_close(&input);
    return r;
}

void votable_library_init(void) {
    xmlInitParser();
}

void votable_library_finish(void) {
    xmlCleanupParser();
}
