/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.h: an array that grows. Items move when it does; keep indexes, not pointers. */
#pragma once

#include "attributes.h"

#include <stddef.h>

struct vector {
    void *items; /* NULL when empty */
    size_t count;
    size_t room;
    size_t item_bytes;
};

#define VECTOR_OF(type) ((struct vector){.item_bytes = sizeof(type)})

/* Add a zeroed item and return it; NULL when there is no memory, then nothing changed. */
void *vector_add(struct vector *vector) _must_check_ _nonnull_;

void vector_finish(struct vector *vector) _nonnull_;
