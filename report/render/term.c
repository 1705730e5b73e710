/* SPDX-License-Identifier: BSD-3-Clause */
/* term.c: colors and width only where somebody sees them. https://no-color.org */
#include "term.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_OF_A_FILE 120
#define WIDTH_LEAST     60

static size_t width_of(FILE *stream) {
    struct winsize size;
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col;
    return WIDTH_OF_A_FILE;
}

static bool color_is_wanted(FILE *stream, enum term_when when) {
    const char *no_color = getenv("NO_COLOR");
    const char *name = getenv("TERM");
    if (when != TERM_AUTO)
        return when == TERM_ALWAYS;
    return !(no_color && no_color[0] != '\0') && isatty(fileno(stream)) &&
           !(name && strcmp(name, "dumb") == 0);
}

struct term term_open(FILE *stream, enum term_when color, bool exact_bytes) {
    return (struct term){
        .stream = stream,
        .color = color_is_wanted(stream, color),
        .blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .exact_bytes = exact_bytes,
        .width = width_of(stream),
    };
}

int term_when_parse(const char *text, enum term_when *ret_when) {
    static const char *const names[] = {"auto", "always", "never"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_when = (enum term_when)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *term_on(const struct term *term, enum term_color color) {
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[32m"};
    return term->color ? codes[color] : "";
}

const char *term_off(const struct term *term, enum term_color color) {
    return term->color && color != TERM_PLAIN ? "\033[0m" : "";
}

char *term_bytes(const struct term *term, char ret_text[SIZES_TEXT_BYTES + 1], int64_t bytes,
                 bool sign) {
    char *at = ret_text;
    if (sign && bytes > 0)
        *at++ = '+';
    if (term->exact_bytes)
        sizes_group(at, bytes);
    else
        sizes_format(at, bytes);
    return ret_text;
}
