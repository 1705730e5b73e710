/* SPDX-License-Identifier: BSD-3-Clause */
/* term.h: where output goes and how it may look there. */
#pragma once

#include "attributes.h"
#include "sizes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum term_color {
    TERM_PLAIN,
    TERM_BOLD,
    TERM_DIM,
    TERM_RED,
    TERM_GREEN,
};

enum term_when {
    TERM_AUTO, /* on a terminal, unless NO_COLOR is set */
    TERM_ALWAYS,
    TERM_NEVER,
};

struct term {
    FILE *stream;
    bool color;
    bool blocks;      /* the eighths of Unicode's blocks can be shown */
    bool exact_bytes; /* "81,159,094" instead of "77.4 MiB" */
    size_t width;     /* columns; a wide page when it is no terminal */
};

struct term term_open(FILE *stream, enum term_when color, bool exact_bytes) _nonnull_;

/* "auto", "always" or "never"; -EINVAL for anything else. */
int term_when_parse(const char *text, enum term_when *ret_when) _must_check_ _nonnull_;

/* Begin and end a color; "" when there are none. */
const char *term_on(const struct term *term, enum term_color color) _nonnull_;
const char *term_off(const struct term *term, enum term_color color) _nonnull_;

/* Bytes for people, as the term wants them. With @sign, "+" stands before a growth. */
char *term_bytes(const struct term *term, char ret_text[SIZES_TEXT_BYTES + 1], int64_t bytes,
                 bool sign) _nonnull_;
