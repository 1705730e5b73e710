/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder_parts.h: what the builder's files share and nobody else sees.
 *
 * builder.c has the grammar and the way through it, builder_metadata.c what describes tables,
 * builder_data.c what holds rows.
 */
#pragma once

#include "builder.h"

#define QUOTED_BYTES 60 /* of an attribute, in messages */

/* What an element does when it begins. Returns 0, or a negative errno with the problem set. */
typedef int builder_begin_function(struct builder *builder, const struct attributes *attributes,
                                   uint64_t lineno);
typedef int builder_end_function(struct builder *builder);

builder_begin_function builder_begin_votable;
builder_begin_function builder_begin_resource;
builder_begin_function builder_begin_table;
builder_begin_function builder_begin_field;
builder_begin_function builder_begin_values;
builder_end_function builder_end_resource;
builder_end_function builder_end_table;

builder_begin_function builder_begin_data;
builder_begin_function builder_begin_tabledata;
builder_begin_function builder_begin_binary;
builder_begin_function builder_begin_binary2;
builder_begin_function builder_begin_fits;
builder_begin_function builder_begin_tr;
builder_begin_function builder_begin_td;
builder_begin_function builder_begin_stream;
builder_end_function builder_end_tabledata;
builder_end_function builder_end_binary;
builder_end_function builder_end_fits;
builder_end_function builder_end_tr;
builder_end_function builder_end_td;
builder_end_function builder_end_stream;

/* Append to the text, with room for a NUL behind it. Returns 0 or -ENOMEM with a problem. */
int builder_append_text(struct builder *builder, const char *text,
                        size_t length) _must_check_ _nonnull_;

static inline bool attributes_have(const struct attributes *attributes,
                                   enum attribute attribute) {
    return attributes->of[attribute].text != NULL;
}

bool attributes_say(const struct attributes *attributes, enum attribute attribute,
                    const char *value) _must_check_ _nonnull_;

/* An attribute's value for a message, with %.*s: at most QUOTED_BYTES of it, "" for none. */
int attributes_quoted_length(const struct attributes *attributes,
                             enum attribute attribute) _nonnull_;
const char *attributes_quoted(const struct attributes *attributes,
                              enum attribute attribute) _nonnull_;
