/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.c: doubling. */
#include "vector.h"

#include <stdlib.h>
#include <string.h>

void *vector_add(struct vector *vector) {
    if (vector->count == vector->room) {
        size_t room = vector->room > 0 ? vector->room * 2 : 16;
        void *items = reallocarray(vector->items, room, vector->item_bytes);
        if (!items)
            return NULL;
        vector->items = items;
        vector->room = room;
    }
    void *item = (char *)vector->items + vector->count * vector->item_bytes;
    vector->count++;
    return memset(item, 0, vector->item_bytes);
}

void vector_finish(struct vector *vector) {
    free(vector->items);
    *vector = (struct vector){.item_bytes = vector->item_bytes};
}
