/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base64.h: RFC 4648, section 4, as VOTable streams use it (1.4, section 5.3): in pieces of any
 * size, with white space anywhere.
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room that decoding @text_bytes of text needs; some of it is scratch. */
#define BASE64_DECODED_BYTES(text_bytes) (((text_bytes) + 3) / 4 * 3 + 8)

/* Bytes of text that @bytes make, without line breaks and NUL. */
#define BASE64_ENCODED_BYTES(bytes) (((bytes) + 2) / 3 * 4)

struct base64_decoder {
    uint32_t carry;      /* the digits of a group that has begun */
    unsigned digits;     /* how many, 0 to 3 */
    unsigned padding;    /* '=' seen so far; the text is over when there were any */
    uint64_t lineno;     /* of the next character */
    uint64_t text_bytes; /* characters seen, for messages */
};

void base64_decoder_init(struct base64_decoder *decoder, uint64_t lineno) _nonnull_;

/*
 * Decode the next piece into @out, which has BASE64_DECODED_BYTES(@length). Returns 0; -EBADMSG
 * and a problem when a character is not base64 or follows the padding.
 */
int base64_decode(struct base64_decoder *decoder, const char *text, size_t length,
                  unsigned char *out, size_t *ret_bytes,
                  struct problem *problem) _must_check_ _nonnull_;

/*
 * The text is over. Is it whole but for its padding? Then what is left of it, one or two bytes,
 * is written to @out; otherwise @ret_bytes is 0. Comes before base64_decoder_end().
 */
bool base64_decoder_rest(struct base64_decoder *decoder, unsigned char *out,
                         size_t *ret_bytes) _must_check_ _nonnull_;

/* -EBADMSG and a problem when the text ends inside a group of four. */
int base64_decoder_end(struct base64_decoder *decoder,
                       struct problem *problem) _must_check_ _nonnull_;

/* Encode @length bytes, with padding. Returns the number of characters. */
size_t base64_encode(const unsigned char *bytes, size_t length, char *out) _nonnull_;
