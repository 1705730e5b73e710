/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder.h: elements and text, in document order, become tables.
 *
 * The one reader of VOTable's structure, whoever brings the elements: a SAX parser while it
 * runs, or a walk through a tree. It knows local names only, so that any namespace, prefix or
 * none will do, and skips what it does not know with everything inside.
 */
#pragma once

#include "consumer.h"
#include "problem.h"
#include "stream.h"
#include "votable.h"
#include "warnings.h"

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
    ELEMENT_FITS,
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
    ATTRIBUTE_NROWS,
    ATTRIBUTE_EXTNUM,
    ATTRIBUTES,
};

/* Of one element; borrowed, and not NUL-terminated. @text is NULL where there is none. */
struct attributes {
    struct {
        const char *text;
        size_t length;
    } of[ATTRIBUTES];
};

struct fits_spool;

struct builder {
    struct votable *votable;            /* borrowed, filled */
    const struct read_options *options; /* borrowed */
    const struct consumer *consumer;    /* borrowed, never NULL */
    const char *path;                   /* of the document, which a relative href starts from */
    struct warnings warnings;
    struct problem *problem;
    enum element inside;
    uint64_t skipped;   /* depth inside an element that means nothing here */
    bool hidden;        /* what is skipped is data */
    uint64_t resources; /* depth of RESOURCEs */
    struct table *table;
    struct field *field;
    bool seen_votable;      /* in this document */
    bool seen_data;         /* in this TABLE */
    bool seen_rows;         /* in this DATA */
    bool seen_stream;       /* in this BINARY or BINARY2 */
    bool wants_text;        /* of the TD or STREAM */
    bool td_base64;         /* the TD is encoded */
    uint64_t copied_fields; /* by TABLE ref, in the whole document */
    uint64_t binary_lineno; /* of the serialization */
    uint64_t tr_lineno;     /* of the TR */
    uint64_t td_lineno;     /* of the TD */
    size_t cells;           /* TDs of this TR so far */
    unsigned extnum;        /* of the FITS; 0 when it does not say */
    char *text;             /* of the TD or the FITS, reused */
    size_t text_bytes;
    size_t text_room;
    bool streaming; /* inside a STREAM of BINARY or BINARY2 */
    struct stream stream;
    struct fits_spool *fits; /* inside an inline STREAM of FITS, unless that is collected */
};

/*
 * All that is borrowed outlives the builder. Finish it in every case. Warnings are told at the
 * end of their table; those after the last one by builder_end_document().
 */
void builder_init(struct builder *builder, const char *path, const struct read_options *options,
                  struct votable *votable, struct problem *problem) _nonnull_;
void builder_finish(struct builder *builder) _nonnull_;
int builder_end_document(struct builder *builder) _must_check_ _nonnull_;

/* Which attribute has this local name? False for one that means nothing here. */
bool builder_attribute_find(const char *name, enum attribute *ret_attribute) _nonnull_;

/* Does the text of where the builder is matter? Otherwise it need not be handed over. */
static inline bool builder_wants_text(const struct builder *builder) {
    return builder->wants_text && builder->skipped == 0;
}

/* Is the builder where metadata are, so that elements and text are the consumer's, too? */
static inline bool builder_is_in_metadata(const struct builder *builder) {
    return builder->inside < ELEMENT_DATA ||
           (builder->inside == ELEMENT_DATA && builder->skipped > 0 && !builder->hidden);
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
int builder_begin_plain_td(struct builder *builder, uint64_t lineno) _nonnull_;
int builder_text(struct builder *builder, const char *text, size_t length) _nonnull_;

/*
 * Whole rows, for who found them to be plain (plain_rows.h) while builder_takes_rows() says so:
 * the row at @from, with @lines newlines, on line @lineno. Returns as above.
 */
bool builder_takes_rows(const struct builder *builder) _nonnull_;
int builder_take_row(struct builder *builder, const char *from, uint64_t lines,
                     uint64_t lineno) _nonnull_;
