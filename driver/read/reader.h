/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.h: what the ways to parse XML share, inside reader*.c, which are the only files that
 * include libxml2.
 *
 * reader.c opens, complains and judges the end; reader_sax.c parses in pieces and tells the
 * builder while it does; reader_tree.c walks through trees of libxml2, whole ones (`dom`) and
 * those of which only the current node is there (`reader`).
 */
#pragma once

#include "builder.h"
#include "consumer.h"
#include "input.h"
#include "problem.h"
#include "reader_push.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
    struct builder builder;
    const struct read_options *options;
    struct problem *problem;
    struct input *input;
    xmlParserCtxtPtr context;      /* NULL for `reader` */
    const xmlChar *root_namespace; /* NULL: none; from the parser's dictionary or tree */
    const xmlChar *td_name;        /* "TD" as the parser's dictionary has it */
    const xmlChar *tr_name;        /* "TR" */
    bool plain_tr;                 /* the last TR had no prefix and no namespace of its own */
    bool seen_root;
    bool at_end;            /* the whole file was handed over */
    bool after_cr;          /* the last byte of the CDATA section so far */
    bool suspects_encoding; /* `reader`: if the XML ends early, bytes were not understood */
    uint64_t depth;         /* of elements */
    uint64_t foreign;       /* depth inside an element of a foreign namespace, that included */
    uint64_t file_bytes;    /* handed over */
    struct consumer_attribute *attributes; /* of the element that begins */
    size_t attribute_room;
    char *names; /* and values of them that are not as they were in the file */
    size_t names_room;
};

/* Ways to parse: return 0, or a negative errno with the problem set. */
int reader_parse_sax(struct reader *reader) _must_check_ _nonnull_;
int reader_parse_dom(struct reader *reader) _must_check_ _nonnull_;
int reader_parse_nodes(struct reader *reader) _must_check_ _nonnull_;

/* Push the whole file through reader->context, with its handlers. Returns as above. */
int reader_feed(struct reader *reader) _must_check_ _nonnull_;

/* The next piece of the file: 0 bytes at its end, which is told to be too early when it is. */
int reader_read(struct reader *reader, char *piece, unsigned size,
                size_t *ret_bytes) _must_check_ _nonnull_;

/* "prefix:name", or the name alone, with a NUL; returns what is behind that. */
char *reader_append_name(char *to, const char *prefix, const char *name);
size_t reader_name_bytes(const char *prefix, const char *name);

/* Any namespace will do for the root; the rest has the same, none, or one of VOTable's. */
bool reader_is_ours(struct reader *reader, const xmlChar *uri);

/* Another element begins: is it too deep? Returns 0 or -EBADMSG with a problem. */
int reader_enter(struct reader *reader, uint64_t lineno) _must_check_ _nonnull_;

/* Is there anybody who wants elements, and are they of metadata? */
static inline bool reader_tells_elements(const struct reader *reader) {
    return reader->builder.consumer->element_begin != NULL &&
           builder_is_in_metadata(&reader->builder);
}

/*
 * Room for @count attributes and @bytes of names and values in reader->attributes and ->names.
 * Returns 0 or -ENOMEM with a problem.
 */
int reader_reserve(struct reader *reader, size_t count, size_t bytes) _must_check_ _nonnull_;

/* Tell the consumer, if it wants to know, of an element whose attributes are in place. */
int reader_tell_begin(struct reader *reader, const char *name, const char *local,
                      size_t attribute_count, uint64_t lineno) _nonnull_;
int reader_tell_end(struct reader *reader, const char *name, const char *local) _nonnull_;

/*
 * Text of a STREAM or TD that goes on from the last piece, of which base64 makes megabytes: it
 * need not go through a parser that has nothing left to do and would not convert it. Returns
 * how many bytes were taken, and none where there is no parser that tells events.
 */
size_t reader_take_ahead(struct reader *reader, const char *piece,
                         size_t bytes) _must_check_ _nonnull_;

/* Text, also of a CDATA section, for the builder or the consumer, whoever wants it. */
int reader_take_text(struct reader *reader, const char *text, size_t length) _nonnull_;
int reader_take_cdata(struct reader *reader, const char *text, size_t length) _nonnull_;

/* The handlers of all parsers: errors, and what libxml2 prints unless it is told not to. */
void reader_on_error(struct reader *reader, ERROR_POINTER error) _nonnull_;
