/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * markdown.h: text inside GitHub's Markdown, which takes HTML and mentions people.
 * https://github.github.com/gfm/
 */
#pragma once

#include "attributes.h"

#include <stdio.h>

/*
 * Write @text, which utf8_clean() made fit, as code in a line or a cell of a table: nothing in
 * it means anything, and nobody is mentioned.
 */
void markdown_code(FILE *stream, const char *text) _nonnull_;

/* The same as plain words. */
void markdown_text(FILE *stream, const char *text) _nonnull_;

/* A block of lines as they are; the fence is longer than any in them. */
void markdown_block(FILE *stream, const char *lines) _nonnull_;
