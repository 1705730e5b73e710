/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger_rows.h: what the files of the ledger share. Nobody else includes it, but their test.
 *
 *     ledger.c           events: rows, totals, points
 *     ledger_regions.c   how regions begin and end, and what is kept of them
 *     ledger_threads.c   regions of single threads
 *     ledger_chunks.c    the memory of regions
 *     ledger_names.c     names, and begins that were dropped
 */
#pragma once

#include "ledger.h"

#include <stddef.h>

/* What was given up is kept in a list that runs through its own memory. */
struct ledger_given_up {
    void *next;
};

static inline struct ledger_given_up *ledger_next_of(void *memory) {
    return memory;
}

/* The chunk that a payload is in. */
static inline struct trace_chunk *ledger_chunk_of(void *payload) {
    return (struct trace_chunk *)payload - 1;
}

/* A chunk of rows; NULL when memory is refused. And back, for another region. */
struct trace_row *ledger_rows_new(struct ledger *ledger, uint32_t region, uint32_t lane,
                                  uint32_t first_site);
void ledger_rows_free(struct ledger *ledger, struct trace_row *rows);

/* A record, zeroed; NULL when memory is refused. It counts when the header's count says so. */
struct trace_region *ledger_record_new(struct ledger *ledger);

/* An empty directory of rows, or NULL; and back, emptied. */
struct trace_row **ledger_directory_new(struct ledger *ledger);
void ledger_directory_free(struct ledger *ledger, struct trace_row **rows);

/* Of a region whose id and thread are known; NULL when memory is refused. And both back. */
struct trace_timeline *ledger_timeline_new(struct ledger *ledger, uint32_t region);
struct trace_sizes *ledger_sizes_new(struct ledger *ledger, const struct ledger_region *region);
void ledger_extras_free(struct ledger *ledger, const struct ledger_region *region);

/* Heap allocations so far, by size. */
void ledger_sum_sizes(const struct ledger *ledger, uint64_t ret_counts[TRACE_SIZE_BUCKETS]);

struct ledger_name *ledger_name_at(const struct ledger *ledger, uint32_t index);

/* NULL: there is none of that name; there is no place or no memory for another. */
struct ledger_name *ledger_find_name(const struct ledger *ledger, const char *name);
struct ledger_name *ledger_find_or_add_name(struct ledger *ledger, const char *name);

/* LEDGER_NAMES_MAX for NULL: all names that found no place together. */
uint32_t ledger_name_index(const struct ledger_name *name);

/* Begins of @name by @thread (0: of the process) that were dropped; NULL: none. */
struct ledger_drop *ledger_find_drop(const struct ledger *ledger, uint32_t thread,
                                     uint32_t name);
void ledger_note_drop(struct ledger *ledger, uint32_t thread, uint32_t name);

/* Whether an end is that of a begin that was dropped. */
bool ledger_take_drop(struct ledger *ledger, uint32_t thread, uint32_t name);

/* What @site has live in the process region: the sum over its lanes. */
static inline ledger_pair ledger_site_live(const struct ledger *ledger, uint32_t site) {
    ledger_pair live = {0, 0};
    for (uint32_t lane = 0; lane < ledger->lane_count; lane++) {
        const struct trace_row *rows = ledger->lane_rows[lane][site / TRACE_ROWS_PER_CHUNK];
        if (rows != NULL)
            live += ledger_row_live(&rows[site % TRACE_ROWS_PER_CHUNK]);
    }
    return live;
}

/* Peaks of @record that no point has dated were before now. */
void ledger_date(struct trace_region *record, uint64_t elapsed_ns);

/* Regions of single threads */

/* The current thread's youngest open region, and the next older one; NULL: there is none. */
static inline struct ledger_region *ledger_own_from(const struct ledger *ledger,
                                                    struct ledger_region *region) {
    while (region != NULL && region->thread != ledger->thread)
        region = region->next;
    return region;
}
static inline struct ledger_region *ledger_own_first(const struct ledger *ledger) {
    if (__builtin_expect(ledger->threads.open_count == 0, 1))
        return NULL;
    return ledger_own_from(ledger, ledger->threads.lists[ledger->thread % LEDGER_THREAD_LISTS]);
}
static inline struct ledger_region *ledger_own_next(const struct ledger *ledger,
                                                    const struct ledger_region *region) {
    return ledger_own_from(ledger, region->next);
}

/* Whether a block born as @birth was allocated inside of @region, and by its thread. */
static inline bool ledger_owns(const struct ledger *ledger, const struct ledger_region *region,
                               uint32_t birth) {
    return birth >= region->birth &&
           (region->thread == 0 || ledger->threads.birth_threads[birth] == region->thread);
}

/* Whether births are left for another region, and for all threads that will need one. */
bool ledger_threads_may_begin(const struct ledger *ledger);

/* A place for a region of the current thread. NULL: there are too many, or no memory. */
struct ledger_region *ledger_threads_take(struct ledger_threads *threads);
void ledger_threads_give(struct ledger_threads *threads, struct ledger_region *region);

/* Put a region that was taken, and has its thread, among the open ones; or out of them. */
void ledger_threads_add(struct ledger *ledger, struct ledger_region *region);
void ledger_threads_remove(struct ledger *ledger, struct ledger_region *region);

/* The open region of any thread that @record is of, or NULL. */
const struct ledger_region *ledger_threads_find(const struct ledger_threads *threads,
                                                const struct trace_region *record);
