/* SPDX-License-Identifier: BSD-3-Clause */
/* codes.c: a hash table of what CODE chunks say, which are compared in the trace itself. */
#include "codes.h"

#include "sysmem.h"

#include <string.h>

#define CAPACITY_AT_FIRST 256u

void codes_restart(struct codes *codes, struct tracefile *file) {
    sysmem_unmap(codes->places, codes->capacity * sizeof(*codes->places));
    codes->file = file;
    codes->places = NULL;
    codes->capacity = 0;
    codes->count = 0;
}

static uint64_t codes_hash_bytes(uint64_t hash, const char *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t codes_hash(const struct code_names *names) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ names->first_line;
    hash = codes_hash_bytes(hash, names->function, names->function_bytes);
    return codes_hash_bytes(hash * UINT64_C(0x100000001b3), names->path, names->path_bytes);
}

static bool code_is_of(const struct trace_code *record, const struct code_names *names) {
    const char *text = (const char *)(record + 1);
    return record->function_bytes == names->function_bytes &&
           record->path_bytes == names->path_bytes && record->first_line == names->first_line &&
           memcmp(text, names->function, names->function_bytes) == 0 &&
           memcmp(text + names->function_bytes, names->path, names->path_bytes) == 0;
}

/* The place of @hash for which @names (NULL: nothing) is what is looked for, or a free one. */
static struct code_place *codes_place(const struct codes *codes, uint64_t hash,
                                      const struct code_names *names) {
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (codes->capacity - 1);
    for (;; at = (at + 1) & (codes->capacity - 1)) {
        struct code_place *place = &codes->places[at];
        if (place->record == NULL)
            return place;
        if (names != NULL && place->hash == hash && code_is_of(place->record, names))
            return place;
    }
}

/* Room for one more, half of the places being free. */
static bool codes_make_room(struct codes *codes) {
    if (codes->count < codes->capacity / 2)
        return true;
    struct codes larger = *codes;
    larger.capacity = codes->capacity == 0 ? CAPACITY_AT_FIRST : codes->capacity * 2;
    larger.places = sysmem_map(larger.capacity * sizeof(*larger.places));
    if (larger.places == NULL)
        return false;
    for (uint32_t i = 0; i < codes->capacity; i++)
        if (codes->places[i].record != NULL)
            *codes_place(&larger, codes->places[i].hash, NULL) = codes->places[i];
    sysmem_unmap(codes->places, codes->capacity * sizeof(*codes->places));
    codes->places = larger.places;
    codes->capacity = larger.capacity;
    return true;
}

static const struct trace_code *code_write(struct codes *codes, uint32_t id,
                                           const struct code_names *names) {
    struct trace_code *record =
        tracefile_chunk(codes->file, TRACE_CHUNK_CODE, (struct tracefile_ids){.first = id},
                        sizeof(*record) + names->function_bytes + names->path_bytes);
    if (record == NULL)
        return NULL;
    char *text = (char *)(record + 1);
    record->first_line = names->first_line;
    memcpy(text, names->function, names->function_bytes);
    memcpy(text + names->function_bytes, names->path, names->path_bytes);
    record->function_bytes = names->function_bytes;
    record->path_bytes = names->path_bytes;
    return record;
}

uint32_t codes_id(struct codes *codes, const struct code_names *names) {
    if (!codes_make_room(codes))
        return 0;
    uint64_t hash = codes_hash(names);
    struct code_place *place = codes_place(codes, hash, names);
    if (place->record != NULL)
        return place->id;
    const struct trace_code *record = code_write(codes, codes->count + 1, names);
    if (record == NULL)
        return 0;
    *place = (struct code_place){.hash = hash, .record = record, .id = ++codes->count};
    return place->id;
}
