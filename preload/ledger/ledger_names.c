/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger_names.c: names of regions, and begins that were dropped.
 *
 * The end of a region that was dropped, because there were too many, must not end another of
 * that name: for each name and thread it is counted how many such ends are still to come.
 */
#include "ledger_rows.h"
#include "sysmem.h"

#include <string.h>

/* Names */

struct ledger_name *ledger_name_at(const struct ledger *ledger, uint32_t index) {
    return &ledger->names
                ->chunks[index / LEDGER_NAMES_PER_CHUNK][index % LEDGER_NAMES_PER_CHUNK];
}

/* FNV-1a of what is kept of the name. */
static uint32_t name_list(const char *name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < TRACE_NAME_BYTES - 1 && name[i] != '\0'; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> 16) % LEDGER_NAME_LISTS;
}

struct ledger_name *ledger_find_name(const struct ledger *ledger, const char *name) {
    uint32_t next = ledger->names->lists[name_list(name)];
    while (next != 0) {
        struct ledger_name *found = ledger_name_at(ledger, next - 1);
        if (strncmp(found->name, name, TRACE_NAME_BYTES - 1) == 0)
            return found;
        next = found->next;
    }
    return NULL;
}

static struct ledger_name *add_name(struct ledger_names *names, const char *name) {
    if (names->count == LEDGER_NAMES_MAX)
        return NULL;
    struct ledger_name **chunk = &names->chunks[names->count / LEDGER_NAMES_PER_CHUNK];
    if (*chunk == NULL)
        *chunk = sysmem_map(LEDGER_NAMES_PER_CHUNK * sizeof(**chunk));
    if (*chunk == NULL)
        return NULL;
    struct ledger_name *added = &(*chunk)[names->count % LEDGER_NAMES_PER_CHUNK];
    uint32_t *list = &names->lists[name_list(name)];
    memcpy(added->name, name, strnlen(name, TRACE_NAME_BYTES - 1));
    added->index = names->count++;
    added->next = *list;
    *list = added->index + 1;
    return added;
}

struct ledger_name *ledger_find_or_add_name(struct ledger *ledger, const char *name) {
    struct ledger_name *found = ledger_find_name(ledger, name);
    return found != NULL ? found : add_name(ledger->names, name);
}

uint32_t ledger_name_index(const struct ledger_name *name) {
    return name != NULL ? name->index : LEDGER_NAMES_MAX;
}

/* Drops */

struct ledger_drop *ledger_find_drop(const struct ledger *ledger, uint32_t thread,
                                     uint32_t name) {
    for (uint32_t i = 0; i < ledger->drop_count; i++)
        if (ledger->drops[i].thread == thread && ledger->drops[i].name == name)
            return &ledger->drops[i];
    return NULL;
}

static struct ledger_drop *add_drop(struct ledger *ledger, uint32_t thread, uint32_t name) {
    if (ledger->drops == NULL)
        ledger->drops = sysmem_map(LEDGER_DROPS_MAX * sizeof(*ledger->drops));
    if (ledger->drops == NULL || ledger->drop_count == LEDGER_DROPS_MAX)
        return NULL;
    struct ledger_drop *drop = &ledger->drops[ledger->drop_count++];
    *drop = (struct ledger_drop){.thread = thread, .name = name};
    return drop;
}

void ledger_note_drop(struct ledger *ledger, uint32_t thread, uint32_t name) {
    struct ledger_drop *drop = ledger_find_drop(ledger, thread, name);
    if (drop == NULL)
        drop = add_drop(ledger, thread, name);
    if (drop != NULL)
        drop->count++;
    else
        ledger->drops_beyond++;
    ledger->file->header->completeness.regions_dropped++;
}

/* Whether an end is that of a begin that was dropped. */
bool ledger_take_drop(struct ledger *ledger, uint32_t thread, uint32_t name) {
    struct ledger_drop *drop = ledger_find_drop(ledger, thread, name);
    if (drop == NULL)
        return false;
    if (--drop->count == 0)
        *drop = ledger->drops[--ledger->drop_count];
    return true;
}
