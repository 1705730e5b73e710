/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_original.c: a trace in memory, and where its chunks are, so that damage can be aimed.
 *
 * What is behind used_bytes is zeros that nobody reads: one page of them is kept.
 */
#include "damage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

/* The first @size bytes of a file; zeros where it is shorter. */
static int load(const char *path, uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return -errno;
    size_t got = fread(bytes, 1, size, file);
    int r = ferror(file) ? -EIO : 0;
    fclose(file);
    if (r == 0)
        memset(bytes + got, 0, size - got);
    return r;
}

static int find_chunks(struct damage_original *original) {
    size_t count = 0;
    for (uint64_t at = TRACE_HEADER_BYTES; at < original->used_bytes;) {
        struct trace_chunk chunk;
        memcpy(&chunk, original->bytes + at, sizeof(chunk));
        if (chunk.magic != TRACE_CHUNK_MAGIC || chunk.bytes < sizeof(chunk) ||
            chunk.bytes > original->used_bytes - at)
            return -EBADMSG;
        if (count % 64 == 0) {
            void *larger = realloc(original->chunks, (count + 64) * sizeof(*original->chunks));
            if (larger == NULL)
                return -ENOMEM;
            original->chunks = larger;
        }
        original->chunks[count++] = (struct damage_chunk){at, chunk.bytes};
        at += chunk.bytes;
    }
    original->chunk_count = count;
    return count > 0 ? 0 : -EBADMSG;
}

int damage_original_load(const char *path, struct damage_original *ret_original) {
    struct damage_original original = {.path = path};
    struct trace_header header;
    char early[4096];
    int r = load(path, (uint8_t *)&header, sizeof(header));
    if (r < 0)
        return r;
    if (memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)) != 0 ||
        header.used_bytes <= TRACE_HEADER_BYTES || header.used_bytes > (UINT64_C(1) << 30))
        return -EBADMSG;

    original.used_bytes = header.used_bytes;
    original.size = (header.used_bytes + 2 * PAGE - 1) / PAGE * PAGE;
    original.bytes = malloc(original.size);
    original.early = malloc(original.size);
    r = original.bytes != NULL && original.early != NULL
            ? load(path, original.bytes, original.size)
            : -ENOMEM;
    if (r == 0)
        r = find_chunks(&original);
    if (r < 0) {
        damage_original_finish(&original);
        return r;
    }
    snprintf(early, sizeof(early), "%s.early", path);
    if (load(early, original.early, original.size) < 0) {
        free(original.early);
        original.early = NULL;
    }
    *ret_original = original;
    return 0;
}

void damage_original_finish(struct damage_original *original) {
    free(original->bytes);
    free(original->early);
    free(original->chunks);
    damage_truth_free(original->truth);
    *original = (struct damage_original){0};
}
