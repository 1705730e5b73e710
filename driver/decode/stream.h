/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.h: the text of a STREAM becomes rows, at once or at the end.
 *
 *     pieces of base64 text ---------------------> decoder --> rows --> columns     at once
 *     pieces --> whole text | --> whole data | -------------> rows --> columns      collected
 *                 kept until the end    kept until the end
 *
 * VOTable 1.4, section 5.5.
 */
#pragma once

#include "base64.h"
#include "binary_rows.h"
#include "consumer.h"
#include "problem.h"
#include "warnings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PIECE_BYTES 32768 /* of text, decoded at once */

struct stream {
    bool collect;
    struct base64_decoder decoder;
    struct binary_rows rows;
    struct table *table;             /* borrowed */
    const struct consumer *consumer; /* borrowed */
    struct warnings *warnings;       /* borrowed */
    struct problem *problem;
    char *text; /* collected */
    size_t text_bytes;
    size_t text_room;
    unsigned char decoded[BASE64_DECODED_BYTES(STREAM_PIECE_BYTES)];
};

/*
 * Rows go to the table's columns, which have been made; @lineno is the STREAM's. With @collect
 * nothing is decoded before the end. Returns 0 or -ENOMEM with a problem; finish in either case.
 */
int stream_init(struct stream *stream, struct table *table, const struct consumer *consumer,
                bool collect, uint64_t lineno, struct warnings *warnings,
                struct problem *problem) _must_check_ _nonnull_;
void stream_finish(struct stream *stream) _nonnull_;

/* Take the next piece of text. Returns 0 or a negative errno with a problem. */
int stream_push(struct stream *stream, const char *text, size_t length) _must_check_ _nonnull_;

/* Take a whole file of bytes, or of base64 text; gzipped or not. Returns as above. */
int stream_read_file(struct stream *stream, const char *path, bool base64,
                     uint64_t lineno) _must_check_ _nonnull_;

/* The element is closed: table->rows is final. Returns 0 or a negative errno with a problem. */
int stream_end(struct stream *stream) _must_check_ _nonnull_;
