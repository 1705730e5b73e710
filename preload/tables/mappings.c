/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.c: a sorted array. The kernel allows 65530 mappings a process by default, so that
 * the longest move is 2 MiB, and mapping calls are rare beside allocations.
 */
#include "mappings.h"

#include "sysmem.h"
#include "trace_layout.h"

#include <errno.h>
#include <string.h>

#define MAPPINGS_AT_FIRST 128

/* Index of the first entry that ends after @address. */
static size_t find_after(const struct mappings *mappings, uintptr_t address) {
    size_t low = 0;
    size_t high = mappings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mappings->entries[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int make_room(struct mappings *mappings) {
    if (mappings->count < mappings->capacity)
        return 0;
    size_t capacity = mappings->capacity > 0 ? mappings->capacity * 2 : MAPPINGS_AT_FIRST;
    struct mapping *entries = sysmem_map(capacity * sizeof(*entries));
    if (entries == NULL)
        return -ENOMEM;
    if (mappings->count > 0)
        memcpy(entries, mappings->entries, mappings->count * sizeof(*entries));
    sysmem_unmap(mappings->entries, mappings->capacity * sizeof(*entries));
    mappings->entries = entries;
    mappings->capacity = capacity;
    return 0;
}

static void insert_at(struct mappings *mappings, size_t index, struct mapping mapping) {
    memmove(&mappings->entries[index + 1], &mappings->entries[index],
            (mappings->count - index) * sizeof(mapping));
    mappings->entries[index] = mapping;
    mappings->count++;
    if (mapping.space == TRACE_MAP_RESERVED)
        mappings->reserved_count++;
}

static void remove_at(struct mappings *mappings, size_t index) {
    if (mappings->entries[index].space == TRACE_MAP_RESERVED)
        mappings->reserved_count--;
    mappings->count--;
    memmove(&mappings->entries[index], &mappings->entries[index + 1],
            (mappings->count - index) * sizeof(struct mapping));
}

int mappings_insert(struct mappings *mappings, struct mapping mapping) {
    int r = make_room(mappings);
    if (r < 0)
        return r;
    mapping.serial = ++mappings->serial;
    insert_at(mappings, find_after(mappings, mapping.start), mapping);
    return 0;
}

const struct mapping *mappings_find(const struct mappings *mappings, uintptr_t start,
                                    uintptr_t end) {
    size_t index = find_after(mappings, start);
    if (index == mappings->count || mappings->entries[index].start >= end)
        return NULL;
    return &mappings->entries[index];
}

const struct mapping *mappings_find_space(const struct mappings *mappings, uintptr_t start,
                                          uintptr_t end, uint32_t space) {
    for (size_t index = find_after(mappings, start);
         index < mappings->count && mappings->entries[index].start < end; index++)
        if (mappings->entries[index].space == space)
            return &mappings->entries[index];
    return NULL;
}

const struct mapping *mappings_find_attached(const struct mappings *mappings,
                                             uintptr_t address) {
    for (size_t index = 0; index < mappings->count; index++)
        if (mappings->entries[index].attached_at == address)
            return &mappings->entries[index];
    return NULL;
}

int mappings_cut(struct mappings *mappings, uintptr_t start, uintptr_t end, uint64_t serial,
                 struct mapping *ret_part, int *ret_pieces_added) {
    size_t index = find_after(mappings, start);
    while (index < mappings->count && mappings->entries[index].serial > serial)
        index++;
    if (index == mappings->count || mappings->entries[index].start >= end)
        return 0;

    struct mapping *entry = &mappings->entries[index];
    struct mapping part = *entry;
    if (part.start < start)
        part.start = start;
    if (part.end > end)
        part.end = end;

    if (part.start == entry->start && part.end == entry->end) {
        remove_at(mappings, index);
        *ret_pieces_added = -1;
    } else if (part.start == entry->start) {
        entry->start = part.end;
        *ret_pieces_added = 0;
    } else if (part.end == entry->end) {
        entry->end = part.start;
        *ret_pieces_added = 0;
    } else {
        int r = make_room(mappings);
        if (r < 0)
            return r;
        entry = &mappings->entries[index];
        struct mapping rest = *entry;
        rest.start = part.end;
        entry->end = part.start;
        insert_at(mappings, index + 1, rest);
        *ret_pieces_added = 1;
    }
    *ret_part = part;
    return 1;
}
