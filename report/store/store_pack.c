/* SPDX-License-Identifier: BSD-3-Clause */
/* store_pack.c: half bytes, the high one first, as hex() prints them. */
#include "store_pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put(struct pack *pack, unsigned nibble) {
    if (pack->refused)
        return;
    if (pack->nibbles / 2 == pack->room) {
        size_t room = pack->room > 0 ? 2 * pack->room : 256;
        unsigned char *bytes = realloc(pack->bytes, room);
        if (!bytes) {
            pack->refused = true;
            return;
        }
        pack->bytes = bytes;
        pack->room = room;
    }
    unsigned char *byte = &pack->bytes[pack->nibbles / 2];
    *byte = pack->nibbles % 2 == 0 ? (unsigned char)(nibble << 4 | PACK_NULL)
                                   : (unsigned char)((*byte & 0xf0) | nibble);
    pack->nibbles++;
}

void pack_mark(struct pack *pack, enum pack_mark mark) {
    put(pack, mark);
}

void pack_number(struct pack *pack, int64_t number) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, number);
    for (const char *at = text; *at != '\0'; at++)
        put(pack, *at == '-' ? PACK_MINUS : (unsigned)(*at - '0'));
}

void pack_shorten(struct pack *pack, size_t nibbles) {
    if (pack->refused)
        return;
    pack->nibbles = nibbles;
    if (nibbles % 2 != 0)
        pack->bytes[nibbles / 2] |= PACK_NULL;
}

size_t pack_size(const struct pack *pack) {
    return (pack->nibbles + 1) / 2;
}

void pack_finish(struct pack *pack) {
    free(pack->bytes);
    *pack = (struct pack){0};
}

int unpack_peek(const struct unpack *unpack) {
    if (unpack->at >= unpack->nibbles)
        return PACK_END;
    unsigned char byte = unpack->bytes[unpack->at / 2];
    return unpack->at % 2 == 0 ? byte >> 4 : byte & 0xf;
}

bool unpack_number(struct unpack *unpack, int64_t *ret_number) {
    bool negative = unpack_peek(unpack) == PACK_MINUS;
    unpack->at += negative;
    if (unpack_peek(unpack) > 9)
        return false;
    int64_t number = 0;
    for (; unpack_peek(unpack) <= 9; unpack->at++) {
        int digit = unpack_peek(unpack);
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number))
            return false;
    }
    *ret_number = number;
    return true;
}
