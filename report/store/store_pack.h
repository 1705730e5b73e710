/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_pack.h: JSON lists of numbers, two characters to a byte; only store_*.c include it.
 *
 * A half byte is a digit or one of the marks below, which schema.sql tells as well: plain
 * sqlite3 makes JSON of it by hex() and replace(), without decoding a bit. A number costs half a
 * byte a digit and half a byte for its comma, much as a varint does.
 */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pack_mark {
    PACK_NEXT = 0xA, /* , */
    PACK_ROW,        /* ],[ */
    PACK_MINUS,      /* - */
    PACK_ZEROS,      /* ,null,null */
    PACK_SAME,       /* ,"=","=" */
    PACK_NULL,       /* ,null; also fills the last byte */
    PACK_END,        /* of reading: no half byte */
};

struct pack {
    unsigned char *bytes;
    size_t nibbles;
    size_t room;  /* bytes */
    bool refused; /* there was no memory: what is here is not whole */
};

void pack_mark(struct pack *pack, enum pack_mark mark) _nonnull_;
void pack_number(struct pack *pack, int64_t number) _nonnull_;

/* Take the last half byte back. */
void pack_shorten(struct pack *pack, size_t nibbles) _nonnull_;
size_t pack_size(const struct pack *pack) _nonnull_;
void pack_finish(struct pack *pack) _nonnull_;

struct unpack {
    const unsigned char *bytes;
    size_t nibbles;
    size_t at;
};

/* The next half byte, which stays where it is: a digit or a mark. */
int unpack_peek(const struct unpack *unpack) _nonnull_;

/* A number, which has to stand here. False when there is none or it is too large. */
bool unpack_number(struct unpack *unpack, int64_t *ret_number) _must_check_ _nonnull_;
