/* SPDX-License-Identifier: BSD-3-Clause */
/* protobuf.c: tags, lengths and seven bits at a time. */
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#define WIRE_VARINT 0
#define WIRE_BYTES  2

/* Room for @count more bytes, or false. */
static bool reserve(struct protobuf *message, size_t count) {
    if (message->failed)
        return false;
    if (count <= message->room - message->count)
        return true;
    size_t room = message->room < 64 ? 64 : message->room;
    while (room - message->count < count)
        room *= 2;
    unsigned char *bytes = realloc(message->bytes, room);
    message->failed = bytes == NULL;
    if (!bytes)
        return false;
    message->bytes = bytes;
    message->room = room;
    return true;
}

void protobuf_varint(struct protobuf *message, uint64_t value) {
    if (!reserve(message, 10))
        return;
    for (; value >= 0x80; value >>= 7)
        message->bytes[message->count++] = (unsigned char)(value | 0x80);
    message->bytes[message->count++] = (unsigned char)value;
}

void protobuf_number(struct protobuf *message, unsigned field, uint64_t value) {
    if (value == 0)
        return;
    protobuf_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
    protobuf_varint(message, value);
}

void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t count) {
    protobuf_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    protobuf_varint(message, count);
    if (count == 0 || !reserve(message, count))
        return;
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *inner) {
    if (inner->failed)
        message->failed = true;
    protobuf_bytes(message, field, inner->bytes, inner->count);
    inner->count = 0;
}

void protobuf_finish(struct protobuf *message) {
    free(message->bytes);
    *message = (struct protobuf){0};
}
