/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h: memory that is taken piece by piece and given back all at once.
 *
 * A profile is thousands of small strings and arrays with one lifetime; they live in its arena.
 */
#pragma once

#include "attributes.h"

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* NULL when empty; {0} is a valid arena */
};

/* @count times @item_bytes of zeroed memory, aligned for any type; NULL when there is none. */
void *arena_array(struct arena *arena, size_t count, size_t item_bytes) _must_check_ _nonnull_;

/* A copy of @length bytes of @text with a NUL behind them; NULL when there is no memory. */
char *arena_text(struct arena *arena, const char *text, size_t length) _must_check_ _nonnull_;

/* Give everything back; the arena is empty and usable again. */
void arena_finish(struct arena *arena) _nonnull_;
