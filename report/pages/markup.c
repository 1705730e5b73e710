/* SPDX-License-Identifier: BSD-3-Clause */
/* markup.c: entities, byte by byte; of UTF-8 only what XML does not take has to be known. */
#include "markup.h"

#include <string.h>

/* U+FFFE and U+FFFF, which are characters to UTF-8 and none to XML 1.0, section 2.2. */
static int is_no_character(const char *at) {
    return strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0;
}

static const char *entity_of(char byte) {
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void markup_text(FILE *stream, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        const char *entity = entity_of(*at);
        if (entity) {
            fputs(entity, stream);
        } else if (is_no_character(at)) {
            fputc('?', stream);
            at += 2;
        } else {
            fputc(*at, stream);
        }
    }
}
