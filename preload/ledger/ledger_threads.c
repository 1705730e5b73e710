/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger_threads.c: regions of single threads.
 *
 * An event must find the regions of its thread among those of a thousand: they are in lists by
 * the thread's number. Numbers are never used again, so that a region whose thread has ended is
 * no other thread's.
 *
 * Whose a block was is told by its birth, which is all that the table of blocks has room for.
 * While a thread has a region open its blocks are born with a number that no other thread uses.
 * It takes a new one when a region of the process has begun since, for births must also tell
 * what is older than that region. Births that are the process's never reach beyond the newest.
 */
#include "blocks.h"
#include "ledger_rows.h"
#include "sysmem.h"

#define BIRTH_THREADS_BYTES ((BLOCKS_BIRTH_MAX + (size_t)1) * sizeof(uint32_t))

static bool provide(struct ledger_threads *threads) {
    const size_t bytes = LEDGER_THREAD_OPEN_MAX * sizeof(*threads->regions);
    if (threads->regions != NULL)
        return true;
    struct ledger_region *regions = sysmem_map(bytes);
    uint32_t *birth_threads = sysmem_map(BIRTH_THREADS_BYTES);
    if (regions == NULL || birth_threads == NULL) {
        sysmem_unmap(regions, bytes);
        sysmem_unmap(birth_threads, BIRTH_THREADS_BYTES);
        return false;
    }
    threads->regions = regions;
    threads->birth_threads = birth_threads;
    for (uint32_t i = LEDGER_THREAD_OPEN_MAX; i-- > 0;)
        ledger_threads_give(threads, &regions[i]);
    return true;
}

bool ledger_threads_may_begin(const struct ledger *ledger) {
    /* One for the region, and one for each thread, whose own may be too old after that. */
    return BLOCKS_BIRTH_MAX - ledger->births > ledger->threads.open_count + 1;
}

struct ledger_region *ledger_threads_take(struct ledger_threads *threads) {
    if (!provide(threads) || threads->free == NULL)
        return NULL;
    struct ledger_region *region = threads->free;
    threads->free = region->next;
    return region;
}

void ledger_threads_give(struct ledger_threads *threads, struct ledger_region *region) {
    *region = (struct ledger_region){.next = threads->free};
    threads->free = region;
}

static struct ledger_region **list_of(struct ledger *ledger, uint32_t thread) {
    return &ledger->threads.lists[thread % LEDGER_THREAD_LISTS];
}

static void take_birth(struct ledger *ledger, struct ledger_region *region, uint32_t birth) {
    region->own_birth = birth;
    ledger->threads.birth_threads[birth] = region->thread;
}

void ledger_threads_add(struct ledger *ledger, struct ledger_region *region) {
    struct ledger_region **list = list_of(ledger, region->thread);
    take_birth(ledger, region, region->birth);
    region->next = *list;
    *list = region;
    ledger->threads.open_count++;
}

void ledger_threads_remove(struct ledger *ledger, struct ledger_region *region) {
    struct ledger_region **place = list_of(ledger, region->thread);
    while (*place != region)
        place = &(*place)->next;
    *place = region->next;
    ledger->threads.open_count--;
    ledger_threads_give(&ledger->threads, region);
}

uint32_t ledger_birth_own(struct ledger *ledger) {
    struct ledger_region *region = ledger_own_first(ledger);
    if (region == NULL)
        return ledger->begun;
    if (region->own_birth < ledger->begun && ledger->births < BLOCKS_BIRTH_MAX)
        take_birth(ledger, region, ++ledger->births);
    return region->own_birth;
}

const struct ledger_region *ledger_threads_find(const struct ledger_threads *threads,
                                                const struct trace_region *record) {
    for (uint32_t i = 0; threads->open_count > 0 && i < LEDGER_THREAD_LISTS; i++)
        for (const struct ledger_region *region = threads->lists[i]; region != NULL;
             region = region->next)
            if (region->record == record)
                return region;
    return NULL;
}
