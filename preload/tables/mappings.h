/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.h: the mappings that the program made, by address range.
 *
 * Ranges never overlap; unmapping may cut them. Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mapping {
    uintptr_t start; /* page-aligned: [start, end) */
    uintptr_t end;
    uint32_t site;
    uint32_t birth;        /* regions begun when it was mapped */
    uint32_t space;        /* enum trace_space */
    uint64_t serial;       /* set by mappings_insert(): later entries have greater ones */
    uintptr_t attached_at; /* of a shared memory segment: where it was attached; else 0 */
};

struct mappings {
    struct mapping *entries; /* sorted by start */
    size_t count;
    size_t capacity;
    uint64_t serial;               /* of the latest entry */
    _Atomic size_t reserved_count; /* entries in TRACE_MAP_RESERVED; read without the lock */
};

/* Returns 0 or -ENOMEM; then nothing changed. @mapping must not overlap an entry. */
int mappings_insert(struct mappings *mappings, struct mapping mapping);

/* The first entry that overlaps [start, end); NULL when none does. Until the next change. */
const struct mapping *mappings_find(const struct mappings *mappings, uintptr_t start,
                                    uintptr_t end);

/* Likewise, the first that is in @space. */
const struct mapping *mappings_find_space(const struct mappings *mappings, uintptr_t start,
                                          uintptr_t end, uint32_t space);

/* The first piece that is left of the segment attached at @address; NULL: none. */
const struct mapping *mappings_find_attached(const struct mappings *mappings,
                                             uintptr_t address);

/*
 * Take the first entry, or part of one, that overlaps [start, end) and is no later than
 * @serial out of the table and describe the part taken in @ret_part. *@ret_pieces_added says
 * how the number of entries changed: -1 a whole entry went, 0 one end of it, +1 its middle (two
 * pieces remain).
 *
 * Returns 1; 0 when nothing overlaps; -ENOMEM when a middle cannot be cut for want of memory.
 */
int mappings_cut(struct mappings *mappings, uintptr_t start, uintptr_t end, uint64_t serial,
                 struct mapping *ret_part, int *ret_pieces_added);
