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

char *reader_append_name(char *to, const char *prefix, const char *name) {
    if (prefix != NULL) {
        to = stpcpy(to, prefix);
        *to++ = ':';
    }
    return stpcpy(to, name) + 1;
}

size_t reader_name_bytes(const char *prefix, const char *name) {
    return (prefix != NULL ? strlen(prefix) + 1 : 0) + strlen(name) + 1;
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

static int take_text(void *context, const char *text, size_t length) {
    return reader_take_text(context, text, length);
}

int reader_take_cdata(struct reader *reader, const char *text, size_t length) {
    return reader_push_cdata(&reader->after_cr, text, length, take_text, reader);
}

void reader_on_error(struct reader *reader, ERROR_POINTER error) {
    bool encoding = reader->context != NULL ? reader_push_lacks_bytes(reader->context)
                                            : reader->suspects_encoding;
    reader_push_complain(error, reader->at_end, encoding, reader->problem);
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

int reader_feed(struct reader *reader) {
    char piece[READER_PIECE_BYTES];
    while (!reader->at_end) {
        size_t bytes;
        int r = reader_read(reader, piece, sizeof(piece), &bytes);
        if (r < 0)
            return r;
        size_t taken = reader_take_ahead(reader, piece, bytes);
        r = reader->problem->code;
        /* No bytes at all mean the end. */
        if (r == 0 && (taken < bytes || bytes == 0))
            r = reader_push(reader->context, piece + taken, bytes - taken,
                            reader->options->limits.tag_bytes, reader->problem);
        if (r < 0)
            return r;
    }
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
    int r = reader_push_ready(problem);
    if (r == 0)
        r = input_open(path, &input, problem);
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
    reader_push_init();
}

void votable_library_finish(void) {
    xmlCleanupParser();
}
