/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c: a hash table with open addressing, at most half full. */
#include "names.h"

#include "utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 256

uint32_t names_hash(const char *text) {
    uint32_t hash = 2166136261u;
    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash;
}

/* The slot of @text, or the free one where it belongs. */
static size_t slot_find(const struct names *names, const char *text) {
    const char *const *texts = names->texts.items;
    size_t slot = names_hash(text) & (names->slot_count - 1);
    while (names->slots[slot] != 0 && strcmp(texts[names->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

static int slots_grow(struct names *names) {
    const char *const *texts = names->texts.items;
    size_t count = names->slot_count == 0 ? SLOTS_FIRST : 2 * names->slot_count;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (size_t i = 0; i < names->texts.count; i++)
        names->slots[slot_find(names, texts[i])] = (uint32_t)i + 1;
    return 0;
}

int names_init(struct names *names) {
    uint32_t number;
    *names = (struct names){.texts = VECTOR_OF(const char *)};
    int r = names_number(names, "", &number);
    if (r < 0)
        names_finish(names);
    return r;
}

/* Where to cut @text: never inside a character. */
static size_t kept_length(const char *text) {
    size_t length = strnlen(text, NAMES_TEXT_MAX + 1);
    if (length <= NAMES_TEXT_MAX)
        return length;
    length = NAMES_TEXT_MAX;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* As it is shown; "..." stands for what was cut off. */
static char *text_make(struct names *names, const char *text) {
    static const char dots[] = "...";
    size_t length = kept_length(text);
    bool is_cut = text[length] != '\0';
    char *kept = arena_array(&names->arena, length + sizeof(dots), 1);
    if (!kept)
        return NULL;
    memcpy(kept, text, length);
    if (is_cut)
        memcpy(kept + length, dots, sizeof(dots));
    utf8_clean(kept);
    return kept;
}

int names_number(struct names *names, const char *text, uint32_t *ret_number) {
    if (2 * (names->texts.count + 1) > names->slot_count && slots_grow(names) < 0)
        return -ENOMEM;
    char *kept = text_make(names, text);
    if (!kept)
        return -ENOMEM;
    size_t slot = slot_find(names, kept);
    if (names->slots[slot] == 0) {
        const char **added = vector_add(&names->texts);
        if (!added)
            return -ENOMEM;
        *added = kept;
        names->slots[slot] = (uint32_t)names->texts.count;
    }
    *ret_number = names->slots[slot] - 1;
    return 0;
}

void names_finish(struct names *names) {
    arena_finish(&names->arena);
    vector_finish(&names->texts);
    free(names->slots);
    names->slots = NULL;
    names->slot_count = 0;
}
