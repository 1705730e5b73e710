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

struct ledger_name *ledger_find_name(const struct ledger *ledger, const char *name) {
    for (uint32_t i = 0; i < ledger->name_count; i++)
        if (strncmp(ledger->names[i].name, name, TRACE_NAME_BYTES - 1) == 0)
            return &ledger->names[i];
    return NULL;
}

struct ledger_name *ledger_find_or_add_name(struct ledger *ledger, const char *name) {
    struct ledger_name *found = ledger_find_name(ledger, name);
    if (found != NULL || ledger->name_count == LEDGER_NAMES_MAX)
        return found;
    found = &ledger->names[ledger->name_count++];
    size_t length = strnlen(name, TRACE_NAME_BYTES - 1);
    memcpy(found->name, name, length);
    return found;
}

uint32_t ledger_name_index(const struct ledger *ledger, const struct ledger_name *name) {
    return name != NULL ? (uint32_t)(name - ledger->names) : LEDGER_NAMES_MAX;
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
