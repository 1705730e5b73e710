/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sax_empty.c: libxml2 parses a file and nobody listens: what no reader can beat that has all of
 * the file from it.
 *
 * Fed as votdriver feeds it, in pieces of the same size; callbacks for elements and text are
 * there, so that attributes are collected and text is handed over.
 */
#include <fcntl.h>
#include <libxml/parser.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 32768

static void on_start(void *context, const xmlChar *local_name, const xmlChar *prefix,
                     const xmlChar *uri, int namespace_count, const xmlChar **namespaces,
                     int attribute_count, int defaulted_count, const xmlChar **attributes) {
}

static void on_end(void *context, const xmlChar *local_name, const xmlChar *prefix,
                   const xmlChar *uri) {
}

static void on_text(void *context, const xmlChar *text, int length) {
}

int main(int argc, char **argv) {
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        fprintf(stderr, "Usage: sax_empty FILE\nParse the file and do nothing with it.\n");
        return 2;
    }
    xmlSAXHandler handlers = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
    };
    xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handlers, NULL, NULL, 0, NULL);
    if (context == NULL)
        return 2;
    xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_HUGE);
    char piece[PIECE_BYTES];
    ssize_t bytes;
    while ((bytes = read(fd, piece, sizeof(piece))) > 0)
        xmlParseChunk(context, piece, (int)bytes, 0);
    xmlParseChunk(context, piece, 0, 1);
    bool parsed = context->wellFormed && bytes == 0;
    xmlFreeParserCtxt(context);
    close(fd);
    return parsed ? 0 : 2;
}
