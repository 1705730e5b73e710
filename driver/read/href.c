/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * href.c: RFC 3986 as far as it leads to a file.
 *
 * A document that is read must not make this program talk to anybody: a scheme that is not
 * file: is refused before anything is opened, and so is a file: of another host.
 */
#include "href.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED_BYTES 100

struct text {
    const char *at;
    size_t length;
};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of "scheme:", 0 where there is none. */
static size_t scheme_length(const struct text *href) {
    size_t i = 0;
    if (href->length == 0 || !is_letter(href->at[0]))
        return 0;
    while (i < href->length &&
           (is_letter(href->at[i]) || (href->at[i] >= '0' && href->at[i] <= '9') ||
            strchr("+-.", href->at[i]) != NULL))
        i++;
    return i < href->length && href->at[i] == ':' ? i + 1 : 0;
}

static bool starts_with(const struct text *text, const char *start) {
    size_t length = strlen(start);
    return text->length >= length && strncasecmp(text->at, start, length) == 0;
}

static void skip(struct text *text, size_t length) {
    text->at += length;
    text->length -= length;
}

/* Leave the path of @href in it. False when it is on another machine. */
static bool strip_to_path(struct text *href) {
    size_t scheme = scheme_length(href);
    if (scheme > 0 && !starts_with(href, "file:"))
        return false;
    skip(href, scheme);
    if (starts_with(href, "//")) {
        skip(href, 2);
        if (starts_with(href, "localhost/"))
            skip(href, strlen("localhost"));
        if (href->length == 0 || href->at[0] != '/')
            return false;
    }
    const char *fragment = memchr(href->at, '#', href->length);
    if (fragment != NULL)
        href->length = (size_t)(fragment - href->at);
    return true;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Append @from to @to, %41 as A. False when there is a NUL in it. */
static bool append_decoded(char *to, const struct text *from) {
    for (size_t i = 0; i < from->length; i++) {
        char c = from->at[i];
        bool escape = c == '%' && i + 2 < from->length && digit_of(from->at[i + 1]) >= 0 &&
                      digit_of(from->at[i + 2]) >= 0;
        if (escape) {
            c = (char)(digit_of(from->at[i + 1]) << 4 | digit_of(from->at[i + 2]));
            i += 2;
        }
        if (c == '\0')
            return false;
        *to++ = c;
    }
    *to = '\0';
    return true;
}

/* Bytes of @document up to its last slash, that included: its folder. */
static size_t folder_length(const char *document) {
    const char *slash = strrchr(document, '/');
    return slash == NULL ? 0 : (size_t)(slash - document) + 1;
}

int href_resolve(const char *document, const char *href, size_t length, uint64_t lineno,
                 char **ret_path, struct problem *problem) {
    struct text path = {href, length};
    int quoted = length < QUOTED_BYTES ? (int)length : QUOTED_BYTES;
    if (!strip_to_path(&path))
        return problem_set(problem, -ENOTSUP, lineno,
                           "STREAM href '%.*s' is not a file of this machine, and the network "
                           "is never asked, fetch it and name the file",
                           quoted, href);
    bool absolute = path.length > 0 && path.at[0] == '/';
    size_t folder = absolute ? 0 : folder_length(document);
    char *resolved = malloc(folder + path.length + 1);
    if (resolved == NULL)
        return problem_set_memory(problem);
    memcpy(resolved, document, folder);
    if (path.length > 0 && append_decoded(resolved + folder, &path)) {
        *ret_path = resolved;
        return 0;
    }
    free(resolved);
    return problem_set(problem, -EBADMSG, lineno,
                       "STREAM href '%.*s' names no file, correct it", quoted, href);
}
