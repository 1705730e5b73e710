/* SPDX-License-Identifier: BSD-3-Clause */
/* markup.h: text inside HTML and XML. */
#pragma once

#include "attributes.h"

#include <stdio.h>

/*
 * Write @text, which utf8_clean() made fit for people, with all escaped that HTML and XML give a
 * meaning, in an attribute, too.
 */
void markup_text(FILE *stream, const char *text) _nonnull_;
