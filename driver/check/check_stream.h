/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_stream.h: the text of a STREAM, or of a TD with encoding="base64", against its FIELDs.
 *
 *     text --> base64, by the letter --> bytes --> rows, counted and looked at, not kept
 */
#pragma once

#include "attributes.h"
#include "check_cell.h"
#include "check_findings.h"
#include "check_fits.h"
#include "check_schema.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_stream_kind {
    CHECK_STREAM_BINARY,
    CHECK_STREAM_BINARY2,
    CHECK_STREAM_FITS,   /* only its headers are looked at */
    CHECK_STREAM_OPAQUE, /* only the base64 is */
};

enum check_phase {
    CHECK_BETWEEN_ROWS,
    CHECK_FLAGS,
    CHECK_COUNT,
    CHECK_ITEMS,
};

struct check_stream {
    struct findings *findings; /* borrowed, and so are the fields */
    const struct check_field *fields;
    size_t field_count;
    enum schema_version version;
    enum check_stream_kind kind;
    enum schema_element element; /* STREAM or TD */
    uint64_t lineno;             /* of it */
    uint64_t text_lineno;        /* of the next character */
    bool stopped;                /* what follows makes no sense */

    uint32_t group; /* base64 digits that wait for the rest of their group */
    unsigned digits;
    unsigned padding;
    uint64_t bytes; /* decoded so far */

    enum check_phase phase;
    size_t at; /* field */
    uint64_t left;
    uint64_t items;
    uint64_t row_start;
    uint64_t rows;
    unsigned char carry[9]; /* a count, the start of a FITS file */
    unsigned carried;
    unsigned utf8_left;   /* bytes that continue a character */
    unsigned char *flags; /* owned */
    size_t flags_bytes;

    struct check_fits *fits; /* owned; NULL before the first bytes of one */
    uint64_t extnum;         /* of the FITS element; 0: none */
    struct problem *problem; /* borrowed; what is none of the document's */
};

/* What a stream is part of. */
struct check_stream_place {
    struct findings *findings; /* borrowed, and so are the fields and the problem */
    const struct check_fields *fields;
    struct problem *problem;
    enum schema_version version;
    enum check_stream_kind kind;
    enum schema_element element; /* STREAM or TD */
    uint64_t lineno;             /* of it */
    uint64_t extnum;             /* of the FITS element; 0: none */
};

/* When memory runs out a problem is set. Finish it in every case. */
void check_stream_init(struct check_stream *stream,
                       const struct check_stream_place *place) _nonnull_;
void check_stream_finish(struct check_stream *stream) _nonnull_;

void check_stream_text(struct check_stream *stream, const char *text, size_t length) _nonnull_;

/* The element is closed. True and the rows when their number is known. */
bool check_stream_end(struct check_stream *stream, uint64_t *ret_rows) _nonnull_;
