/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.c: what is the same whichever way the XML is parsed.
 *
 * Safe: entities are never expanded and their declarations refused, nothing is fetched, no DTD
 * loaded. XML_PARSE_HUGE is on, because a STREAM in a CDATA section or a tree node may well
 * exceed 10 MB; the guard against entity bombs that it takes away is not needed then, and the
 * limits for depth, tags and comments are kept here.
 */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/xmlversion.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE_START "http://www.ivoa.net/xml/VOTable/"

bool reader_is_ours(struct reader *reader, const xmlChar *uri) {
    if (!reader->seen_root) {
        reader->seen_root = true;
        reader->root_namespace = uri;
    }
    return uri == reader->root_namespace || uri == NULL ||
           xmlStrEqual(uri, reader->root_namespace) ||
           xmlStrncmp(uri, BAD_CAST NAMESPACE_START, sizeof(NAMESPACE_START) - 1) == 0;
}

int reader_enter(struct reader *reader, uint64_t lineno) {
    if (++reader->depth <= reader->options->limits.depth)
        return 0;
    return problem_set(reader->problem, -EBADMSG, lineno,
                       "more than %" PRIu64 " elements are nested in one another, simplify the "
                       "document or raise --max-depth",
                       reader->options->limits.depth);
}

int reader_reserve(struct reader *reader, size_t count, size_t bytes) {
    if (count > reader->attribute_room) {
        void *grown = reallocarray(reader->attributes, count * 2, sizeof(*reader->attributes));
        if (grown == NULL)
            return problem_set_memory(reader->problem);
        reader->attributes = grown;
        reader->attribute_room = count * 2;
    }
    if (bytes > reader->names_room) {
        char *grown = realloc(reader->names, bytes * 2);
        if (grown == NULL)
            return problem_set_memory(reader->problem);
        reader->names = grown;
        reader->names_room = bytes * 2;
    }
    return 0;
}

int reader_tell_begin(struct reader *reader, const char *name, const char *local,
                      size_t attribute_count, uint64_t lineno) {
    const struct consumer *consumer = reader->builder.consumer;
    const struct consumer_element element = {
        .name = name,
        .local_name = local,
        .foreign = reader->foreign > 0,
        .lineno = lineno,
        .attributes = reader->attributes,
        .attribute_count = attribute_count,
    };
    return consumer->element_begin(consumer->context, &element, reader->problem);
}

int reader_tell_end(struct reader *reader, const char *name, const char *local) {
    const struct consumer *consumer = reader->builder.consumer;
    const struct consumer_element element = {
        .name = name,
        .local_name = local,
        .foreign = reader->foreign > 0,
    };
    if (consumer->element_end == NULL)
        return 0;
    return consumer->element_end(consumer->context, &element, reader->problem);
}

int reader_take_text(struct reader *reader, const char *text, size_t length) {
    const struct consumer *consumer = reader->builder.consumer;
    if (builder_wants_text(&reader->builder))
        return builder_text(&reader->builder, text, length);
    if (consumer->text == NULL || reader->depth == 0 || length == 0 ||
        !builder_is_in_metadata(&reader->builder))
        return 0;
    return consumer->text(consumer->context, text, length, reader->problem);
}

/*
 * Line ends of a CDATA section, which libxml2 leaves as they are when it is fed in pieces: they
 * become newlines (XML 1.0, 2.11), a CR and LF one, also when they come apart.
 */
int reader_take_cdata(struct reader *reader, const char *text, size_t length) {
    const char *end = text + length;
    int r = 0;
    if (reader->after_cr && length > 0 && *text == '\n')
        text++;
    reader->after_cr = length > 0 && end[-1] == '\r';
    while (r == 0 && text < end) {
        const char *cr = memchr(text, '\r', (size_t)(end - text));
        r = reader_take_text(reader, text, (size_t)((cr != NULL ? cr : end) - text));
        if (cr == NULL)
            break;
        if (r == 0)
            r = reader_take_text(reader, "\n", 1);
        text = cr + 1;
        if (text < end && *text == '\n')
            text++;
    }
    return r;
}

int reader_complain_entity(struct reader *reader, const char *name, uint64_t lineno) {
    return problem_set(reader->problem, -EBADMSG, lineno,
                       "the document declares an entity '%.60s', which no VOTable needs and is "
                       "not expanded here, remove its DOCTYPE",
                       name);
}

/* At the end of the file, bytes that are still not converted never will be. */
static bool has_unconverted_bytes(const struct reader *reader) {
    if (reader->context == NULL)
        return reader->at_end && reader->suspects_encoding;
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
void reader_on_error(struct reader *reader, ERROR_POINTER error) {
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
        problem_set(reader->problem, -EBADMSG, lineno,
                    "has bytes that its encoding does not have, correct the encoding in its "
                    "first line or the file");
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

int reader_read(struct reader *reader, char *piece, unsigned size, size_t *ret_bytes) {
    int r = input_read(reader->input, piece, size, ret_bytes, reader->problem);
    if (r < 0)
        return r;
    reader->file_bytes += *ret_bytes;
    if (*ret_bytes > 0)
        return 0;
    if (reader->file_bytes == 0)
        return problem_set(reader->problem, -EBADMSG, 0, "is empty, give a VOTable");
    reader->at_end = true;
    return 0;
}

static int parse(struct reader *reader) {
    switch (reader->options->strategy) {
    case STRATEGY_DOM:
        return reader_parse_dom(reader);
    case STRATEGY_READER:
        return reader_parse_nodes(reader);
    default:
        return reader_parse_sax(reader);
    }
}

int votable_scan(const char *path, const struct read_options *options,
                 struct votable *ret_votable, struct problem *problem) {
    struct input input;
    int r = input_open(path, &input, problem);
    if (r < 0)
        return r;
    struct reader reader = {.problem = problem, .options = options, .input = &input};
    builder_init(&reader.builder, path, options, ret_votable, problem);
    xmlSetStructuredErrorFunc(&reader, on_stray_error);
    xmlSetGenericErrorFunc(NULL, on_words);
    r = parse(&reader);
    if (r == 0)
        r = builder_end_document(&reader.builder);
    xmlSetGenericErrorFunc(NULL, NULL);
    xmlSetStructuredErrorFunc(NULL, NULL);
    ret_votable->file_bytes = reader.file_bytes;
    builder_finish(&reader.builder);
    free(reader.attributes);
    free(reader.names);
    input_close(&input);
    return r;
}

int votable_read(const char *path, enum strategy strategy, struct votable *ret_votable,
                 struct problem *problem) {
    const struct read_options options = {.strategy = strategy, .limits = READ_LIMITS};
    return votable_scan(path, &options, ret_votable, problem);
}

void votable_library_init(void) {
    xmlInitParser();
}

void votable_library_finish(void) {
    xmlCleanupParser();
}
