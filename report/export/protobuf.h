/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protobuf.h: write messages of protocol buffers, by their wire format
 * (https://protobuf.dev/programming-guides/encoding/): varints and length-delimited fields.
 *
 * A message is a buffer; one inside another is written into its own and added when it is whole.
 * Errors stick: after the first one nothing is written.
 */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf {
    unsigned char *bytes; /* NULL when empty; {0} is a valid message */
    size_t count;
    size_t room;
    bool failed; /* no memory */
};

/* Fields of the types int64, uint64 and bool. 0 is the default and is not written. */
void protobuf_number(struct protobuf *message, unsigned field, uint64_t value) _nonnull_;

/* A bare varint, for what is packed into one field. */
void protobuf_varint(struct protobuf *message, uint64_t value) _nonnull_;

/* string and bytes; written also when empty. */
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t count);

/* Add @inner as a field, or as the packed numbers it is; it is empty then, and reusable. */
void protobuf_message(struct protobuf *message, unsigned field,
                      struct protobuf *inner) _nonnull_;

void protobuf_finish(struct protobuf *message) _nonnull_;
