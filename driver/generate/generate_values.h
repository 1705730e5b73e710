/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate_values.h: random cells, the same on every machine.
 *
 * Values come from a splitmix64 sequence by integer arithmetic, conversions that are exact and
 * at most one rounded multiplication: no libm, no sum of products that a compiler might fuse.
 */
#pragma once

#include "attributes.h"
#include "field.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct generator {
    uint64_t state;
    uint64_t null_state; /* a sequence of its own, so that values do not depend on nulls */
    uint64_t row;
    size_t used;          /* of arena */
    unsigned char *arena; /* of one row's items, owned */
};

/* Make the next cell of a column. Its items stay in the arena until the row is written. */
typedef void generate_cell(struct generator *generator, const struct field *field,
                           struct wire_cell *ret_cell);

/* A column: @make is NULL behind the last of a list. */
struct generate_column {
    const char *name;
    enum field_type type;
    const char *arraysize;
    const char *null_text;
    generate_cell *make;
};

/* Columns that a preset has; NULL when there is no such preset. */
const struct generate_column *generate_preset_find(const char *name) _nonnull_;

/* Cells of any field, for schemas: whatever the datatype holds, also what is hard to print. */
generate_cell generate_any;

/* Bytes of the arena that a cell may take. */
uint64_t generate_cell_bytes(const struct field *field) _nonnull_;

/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014. */
static inline uint64_t generate_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. bound-1. The bias of the multiplication is far below what a table shows. */

static inline uint64_t generate_below(struct generator *generator, uint32_t bound) {
    return (generate_random(&generator->state) >> 32) * bound >> 32;
}

/* Keep @bytes of items until the row is written. */
void generate_keep(struct generator *generator, struct wire_cell *ret_cell, const void *items,
                   size_t bytes, uint64_t count) _nonnull_;
