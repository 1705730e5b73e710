/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_push.h: what everything that pushes XML through libxml2 does alike, `check` included:
 * options, pieces, and words for what is wrong.
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fuzzers read in small pieces, to meet their edges. */
#ifndef READER_PIECE_BYTES
#define READER_PIECE_BYTES 32768
#endif

#define READER_OPTIONS (XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES)

/* libxml2 2.12 made what the error callback gets const. */
#if LIBXML_VERSION >= 21200
#define ERROR_POINTER const xmlError *
#else
#define ERROR_POINTER xmlErrorPtr
#endif

/* Set libxml2 up, once. Then, is it? -ENOMEM and a problem when there was no memory for it. */
void reader_push_init(void);
int reader_push_ready(struct problem *problem) _must_check_ _nonnull_;

/* Where a parser is; the first line for what comes before it has begun. */
static inline uint64_t reader_push_lineno(const xmlParserCtxt *context) {
    return context->input != NULL && context->input->line > 0 ? (uint64_t)context->input->line
                                                              : 1;
}

/*
 * In startElementNs: is the tag there to its end? Of a document that is cut short libxml2 tells
 * the last tag by what there is of its name, before it complains.
 */
static inline bool reader_push_tag_is_whole(const xmlParserCtxt *context) {
    const xmlChar *c = context->input->cur;
    return c[0] == '>' || (c[0] == '/' && c[1] == '>');
}

/*
 * Push the next piece of a document, or with 0 bytes its end. What waits for its own end, a tag
 * or a comment, may have @tag_bytes. Returns 0, or the code of the problem, which may have been
 * set by the handlers, too.
 */
int reader_push(xmlParserCtxtPtr context, const char *piece, size_t bytes, uint64_t tag_bytes,
                struct problem *problem) _must_check_ _nonnull_;

/* Are there bytes that their encoding does not have, if this is the end of the document? */
bool reader_push_lacks_bytes(const xmlParserCtxt *context) _nonnull_;

/*
 * Keep an error of the parser as a problem, if it is one. @at_end: the whole document was handed
 * over; @encoding: what is wrong with it then are bytes that its encoding does not have.
 */
void reader_push_complain(ERROR_POINTER error, bool at_end, bool encoding,
                          struct problem *problem) _nonnull_;

/* An entity is declared: what is declared could be expanded in the next line. */
int reader_push_complain_entity(const char *name, uint64_t lineno,
                                struct problem *problem) _nonnull_;

/*
 * Copy an attribute's value, in which libxml2 leaves an ampersand as "&#38;" when it does not
 * expand entities. Returns what is behind the copy, which is no longer than @length.
 */
char *reader_push_value(char *to, const char *value, size_t length) _nonnull_;

/*
 * Text of a CDATA section, whose line ends libxml2 leaves as they are when it is fed in pieces:
 * they become newlines (XML 1.0, 2.11), a CR and LF one, also when they come apart. @after_cr is
 * kept between pieces of a section, and false before. Returns the first of @take that is not 0.
 */
int reader_push_cdata(bool *after_cr, const char *text, size_t length,
                      int (*take)(void *context, const char *text, size_t length),
                      void *context) _nonnull_;
