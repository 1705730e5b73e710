/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h: the DATA of a table, written row by row in constant memory.
 *
 * VOTable 1.4, sections 5.1 (TABLEDATA), 5.2 (FITS), 5.3 (BINARY) and 5.4 (BINARY2). The same
 * rows read back with the same checksum whichever is written, but for what writer_loss counts.
 */
#pragma once

#include "attributes.h"
#include "field.h"
#include "output.h"
#include "votable.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRITER_LINE_CHARACTERS 64

/* What a serialization cannot say, or a document must not. */
enum writer_loss {
    LOSS_NULL,     /* BINARY: a null bit, or an integer without VALUES null; FITS: a null bit */
    LOSS_LENGTH,   /* a string longer than its arraysize, cut */
    LOSS_ENCODING, /* TABLEDATA: a char that is no UTF-8, taken as ISO-8859-1 */
    LOSS_CONTROL,  /* TABLEDATA: a character that XML cannot hold, written as U+FFFD */
    LOSS_UNICODE,  /* FITS: a character beyond ASCII, written as UTF-8 */
    LOSS_MAGIC,    /* FITS: a value that is the TNULL of its column */
    LOSSES,
};

struct writer_losses {
    uint64_t counts[LOSSES];
    const struct field *first[LOSSES]; /* borrowed */
};

struct writer_layout {
    enum serialization serialization; /* not SERIALIZATION_NONE */
    uint64_t line_characters;         /* of base64, a multiple of 4; 0: one line */
    bool cdata;                       /* around base64, and around text that needs escapes */
    const char *prefix;               /* of element names, with its colon; "" for none */
    struct output *stream;            /* where the bytes of a STREAM go instead; or NULL */
    const char *href;                 /* what the document says about that; or NULL */
    bool href_gzip;                   /* the stream's output compresses */
};

struct fits_writer;

struct writer {
    struct output *output; /* borrowed, as all of these */
    const struct writer_layout *layout;
    struct field *const *fields;
    size_t field_count;
    struct writer_losses losses;
    uint64_t line_bytes; /* of this line of base64, before encoding */
    struct fits_writer *fits;
    struct wire wire;
};

/*
 * Write everything of DATA before the first row. Returns 0, or a negative errno with a problem,
 * which only FITS has; end it in any case.
 */
int writer_begin(struct writer *ret_writer, struct output *output,
                 const struct writer_layout *layout, struct field *const *fields,
                 size_t field_count, struct problem *problem) _must_check_ _nonnull_;
void writer_row(struct writer *writer, const struct wire_cell *cells) _nonnull_;

/* Write everything of DATA behind the last row. Returns as writer_begin(). */
int writer_end(struct writer *writer, struct problem *problem) _must_check_ _nonnull_;

/* Give up what writer_end() did not get to see. */
void writer_abandon(struct writer *writer) _nonnull_;

void writer_count_loss(struct writer_losses *losses, enum writer_loss loss,
                       const struct field *field) _nonnull_;

/* Text between tags or in an attribute (@attribute), UTF-8, with what XML needs escaped. */
void writer_escape(struct output *output, const char *text, size_t length,
                   bool attribute) _nonnull_;

/* A row of TABLEDATA. */
void writer_text_row(struct writer *writer, const struct wire_cell *cells) _nonnull_;
