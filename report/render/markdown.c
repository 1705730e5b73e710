/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * markdown.c: every byte that could mean something becomes an entity. Entities can never be
 * structure (GFM 6.2), while a backslash is not one inside HTML. Mentions and numbers of issues
 * are looked for outside code only.
 */
#include "markdown.h"

#include <string.h>

void markdown_text(FILE *stream, const char *text) {
    static const char meaningful[] = "&<>|`*_[]~\\@#$\"'!";
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr(meaningful, *at))
            fprintf(stream, "&#%d;", (unsigned char)*at);
        else
            fputc(*at, stream);
    }
}

void markdown_code(FILE *stream, const char *text) {
    fputs("<code>", stream);
    markdown_text(stream, text);
    fputs("</code>", stream);
}

static size_t longest_fence(const char *lines) {
    size_t longest = 0;
    for (const char *at = strchr(lines, '`'); at; at = strchr(at, '`')) {
        size_t length = strspn(at, "`");
        if (length > longest)
            longest = length;
        at += length;
    }
    return longest;
}

void markdown_block(FILE *stream, const char *lines) {
    size_t longest = longest_fence(lines);
    size_t fence = longest < 3 ? 3 : longest + 1;
    size_t length = strlen(lines);
    for (size_t i = 0; i < fence; i++)
        fputc('`', stream);
    fprintf(stream, "text\n%s%s", lines, length > 0 && lines[length - 1] == '\n' ? "" : "\n");
    for (size_t i = 0; i < fence; i++)
        fputc('`', stream);
    fputc('\n', stream);
}
