/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_push.c: libxml2's push parser, where it needs to be held.
 *
 * It waits for the end of a CDATA section and looks for it from the start again with every piece;
 * it waits for the end of a tag without a limit; and it stops without a word at bytes that it
 * cannot convert.
 */
#include "reader_push.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/parserInternals.h>
#include <string.h>

static bool lacks_encodings;

static void on_init_error(void *data, ERROR_POINTER error) {
    lacks_encodings = true;
}

/* libxml2 goes on without what it could not allocate, after a word on stderr. */
void reader_push_init(void) {
    xmlSetStructuredErrorFunc(NULL, on_init_error);
    xmlInitParser();
    xmlSetStructuredErrorFunc(NULL, NULL);
}

int reader_push_ready(struct problem *problem) {
    return lacks_encodings ? problem_set_memory(problem) : 0;
}

static int complain_encoding(uint64_t lineno, struct problem *problem) {
    return problem_set(problem, -EBADMSG, lineno,
                       "has bytes that its encoding does not have, correct the encoding in its "
                       "first line or the file");
}

/*
 * A section that goes on is ended at the end of the piece and begun again, which changes neither
 * text nor lines; not inside a character, a line end or what may become "]]>".
 */
static void split_cdata(xmlParserCtxtPtr context, char last_byte) {
    static const char border[] = "]]><![CDATA[";
    bool splits = context->instate == XML_PARSER_CDATA_SECTION && context->input != NULL &&
                  context->input->buf != NULL && context->input->buf->encoder == NULL;
    bool inside = last_byte == ']' || last_byte == '\r' || (last_byte & 0x80) != 0;
    if (splits && !inside)
        xmlParseChunk(context, border, sizeof(border) - 1, 0);
}

int reader_push(xmlParserCtxtPtr context, const char *piece, size_t bytes, uint64_t tag_bytes,
                struct problem *problem) {
    int error = xmlParseChunk(context, piece, (int)bytes, bytes == 0);
    /* What libxml2 returns but neither reports nor remembers: bytes that could not be
     * converted, or that it stopped because of them. */
    if (error == XML_ERR_INVALID_ENCODING || error < 0)
        complain_encoding(reader_push_lineno(context), problem);
    if (problem->code == 0 && bytes > 0)
        split_cdata(context, piece[bytes - 1]);
    const xmlParserInput *input = context->input;
    if (input != NULL && (uint64_t)(input->end - input->cur) > tag_bytes)
        problem_set(problem, -EBADMSG, reader_push_lineno(context),
                    "a tag, comment or CDATA section goes on for more than %" PRIu64
                    " bytes, shorten it or raise --max-tag-bytes",
                    tag_bytes);
    return problem->code;
}

bool reader_push_lacks_bytes(const xmlParserCtxt *context) {
    const xmlParserInput *input = context->input;
    return input != NULL && input->buf != NULL && input->buf->encoder != NULL &&
           xmlBufUse(input->buf->raw) > 0;
}

/* libxml2's words, up to the end of their first line. */
static int message_length(const char *message) {
    return message == NULL ? 0 : (int)strcspn(message, "\r\n");
}

/*
 * Only kept here: stopping the parser would free its input, which libxml2 may still be reading
 * when it reports an error.
 */
void reader_push_complain(ERROR_POINTER error, bool at_end, bool encoding,
                          struct problem *problem) {
    uint64_t lineno = error->line > 0 ? (uint64_t)error->line : 1;
    if (error->code == XML_ERR_NO_MEMORY) {
        problem_set_memory(problem);
        return;
    }
    /* An undeclared entity is let pass, text lost, when there is a DTD that was not loaded. */
    if (error->level != XML_ERR_FATAL && error->code != XML_WAR_UNDECLARED_ENTITY)
        return;
    if (error->code == XML_ERR_DOCUMENT_EMPTY)
        problem_set(problem, -EBADMSG, lineno, "is not XML, give a VOTable");
    else if (at_end && encoding)
        complain_encoding(lineno, problem);
    else if (at_end)
        problem_set(problem, -EBADMSG, lineno,
                    "the XML ends before its last tag, the file is cut short, fetch or "
                    "write it again");
    else
        problem_set(problem, -EBADMSG, lineno, "is not well-formed XML: %.*s, correct the file",
                    message_length(error->message), error->message);
}

int reader_push_complain_entity(const char *name, uint64_t lineno, struct problem *problem) {
    return problem_set(problem, -EBADMSG, lineno,
                       "the document declares an entity '%.60s', which no VOTable needs and is "
                       "not expanded here, remove its DOCTYPE",
                       name);
}

char *reader_push_value(char *to, const char *value, size_t length) {
    static const char escape[] = "&#38;";
    const char *end = value + length;
    while (value < end) {
        *to++ = *value;
        bool escaped = *value == '&' && (size_t)(end - value) >= sizeof(escape) - 1 &&
                       memcmp(value, escape, sizeof(escape) - 1) == 0;
        value += escaped ? sizeof(escape) - 1 : 1;
    }
    return to;
}

int reader_push_cdata(bool *after_cr, const char *text, size_t length,
                      int (*take)(void *context, const char *text, size_t length),
                      void *context) {
    const char *end = text + length;
    int r = 0;
    if (*after_cr && length > 0 && *text == '\n')
        text++;
    *after_cr = length > 0 && end[-1] == '\r';
    while (r == 0 && text < end) {
        const char *cr = memchr(text, '\r', (size_t)(end - text));
        r = take(context, text, (size_t)((cr != NULL ? cr : end) - text));
        if (cr == NULL)
            break;
        if (r == 0)
            r = take(context, "\n", 1);
        text = cr + 1;
        if (text < end && *text == '\n')
            text++;
    }
    return r;
}
