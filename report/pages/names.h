/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.h: every text of a page once, by number.
 *
 * Texts are made fit for people (utf8_clean()), and cut where nobody reads on: a mangled name may
 * have a hundred thousand letters.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "vector.h"

#include <stdint.h>

#define NAMES_TEXT_MAX 2000

struct names {
    struct arena arena;
    struct vector texts; /* const char *, by number; number 0 is "" */
    uint32_t *slots; /* numbers + 1 by hash, 0 where there is none; a power of two of them */
    size_t slot_count;
};

/* 0 or -ENOMEM. End with names_finish(). */
int names_init(struct names *names) _must_check_ _nonnull_;

/* The number of @text. 0 or -ENOMEM. */
int names_number(struct names *names, const char *text,
                 uint32_t *ret_number) _must_check_ _nonnull_;

/* FNV-1a: the same on every machine, so that colors are. */
uint32_t names_hash(const char *text) _nonnull_;

void names_finish(struct names *names) _nonnull_;
