/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder.h: elements and text, in document order, become tables.
 *
 * The one reader of VOTable's structure, whoever brings the elements: a SAX parser while it
 * runs, or a walk through a tree. It knows local names only, so that any namespace, prefix or
 * none will do, and skips what it does not know with everything inside.
 */
#pragma once

#include "problem.h"
#include "stream.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element {
    ELEMENT_DOCUMENT, /* before and after the root */
    ELEMENT_VOTABLE,
    ELEMENT_RESOURCE,
    ELEMENT_TABLE,
    ELEMENT_FIELD,
    ELEMENT_VALUES,
    ELEMENT_DATA,
    ELEMENT_TABLEDATA,
    ELEMENT_TR,
    ELEMENT_TD,
    ELEMENT_BINARY,
    ELEMENT_BINARY2,
    ELEMENT_STREAM,
    ELEMENTS,
};

/* The attributes that mean something here; builder_attribute_find() knows their names. */
enum attribute {
    ATTRIBUTE_ID,
    ATTRIBUTE_NAME,
    ATTRIBUTE_REF,
    ATTRIBUTE_DATATYPE,
    ATTRIBUTE_ARRAYSIZE,
    ATTRIBUTE_NULL,
    ATTRIBUTE_ENCODING,
    ATTRIBUTE_HREF,
    ATTRIBUTES,
};

/* Of one element; borrowed, and not NUL-terminated. @text is NULL where there is none. */
struct attributes {
    struct {
        const char *text;
        size_t length;
    } of[ATTRIBUTES];
};

struct builder {
    struct votable *votable; /* borrowed, filled */
    struct problem *problem;
    bool collect; /* STRATEGY_BUFFER */
    enum element inside;
    uint64_t skipped;   /* depth inside an element that means nothing here */
    uint64_t resources; /* depth of RESOURCEs */
    struct table *table;
    struct field *field;
    bool seen_votable;      /* in this document */
    bool seen_data;         /* in this TABLE */
    bool seen_rows;         /* in this DATA */
    bool seen_stream;       /* in this BINARY or BINARY2 */
    uint64_t binary_lineno; /* of the serialization */
    uint64_t tr_lineno;     /* of the TR */
    uint64_t td_lineno;     /* of the TD */
    size_t cells;           /* TDs of this TR so far */
    char *text;             /* of the TD, reused */
    size_t text_bytes;
    size_t text_room;
    bool streaming; /* inside a STREAM */
    struct stream stream;
};

/* @votable and @problem outlive the builder. Finish it in every case. */
void builder_init(struct builder *builder, struct votable *votable, bool collect,
                  struct problem *problem) _nonnull_;
void builder_finish(struct builder *builder) _nonnull_;

/* Which attribute has this local name? False for one that means nothing here. */
bool builder_attribute_find(const char *name, enum attribute *ret_attribute) _nonnull_;

/* Does the text of where the builder is matter? Otherwise it need not be handed over. */
static inline bool builder_wants_text(const struct builder *builder) {
    return builder->skipped == 0 &&
           (builder->inside == ELEMENT_TD || builder->inside == ELEMENT_STREAM);
}

/* Has a VOTABLE begun, and everything that began ended? */
static inline bool builder_is_complete(const struct builder *builder) {
    return builder->seen_votable && builder->inside == ELEMENT_DOCUMENT &&
           builder->skipped == 0;
}

/*
 * An element begins, with its local name, or one of a foreign namespace does; it ends; text in
 * between, in any number of pieces.
 * All return 0, or a negative errno with the problem set, after which nothing may follow: a
 * caller that cannot stop at once looks at the problem.
 */
int builder_begin(struct builder *builder, const char *name,
                  const struct attributes *attributes, uint64_t lineno) _nonnull_;
int builder_begin_foreign(struct builder *builder, const char *name, uint64_t lineno) _nonnull_;
int builder_end(struct builder *builder) _nonnull_;
int builder_text(struct builder *builder, const char *text, size_t length) _nonnull_;
