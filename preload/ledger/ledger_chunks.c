/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger_chunks.c: the memory of regions: records, rows, timelines and sizes in the trace file,
 * and directories of rows beside it.
 *
 * What a region gives up goes to a list and to the next one that begins. In the file it is
 * nobody's meanwhile, and what is in it means nothing; it is made ready before it gets an owner.
 */
#include "blocks.h"
#include "ledger_rows.h"
#include "sysmem.h"
#include "timeline.h"

#include <string.h>

#define DIRECTORY_ENTRIES ((BLOCKS_SITE_MAX + 2) / TRACE_ROWS_PER_CHUNK)
#define DIRECTORY_BYTES   (DIRECTORY_ENTRIES * sizeof(struct trace_row *))

struct trace_region *ledger_record_new(struct ledger *ledger) {
    uint32_t at = ledger->region_count % LEDGER_REGIONS_PER_CHUNK;
    if (at == 0) {
        struct trace_region *chunk =
            tracefile_chunk(ledger->file, TRACE_CHUNK_REGIONS,
                            (struct tracefile_ids){.first = ledger->region_count,
                                                   .count = LEDGER_REGIONS_PER_CHUNK},
                            LEDGER_REGIONS_PER_CHUNK * sizeof(*chunk));
        if (chunk == NULL)
            return NULL;
        ledger->record_chunk = chunk;
    }
    return &ledger->record_chunk[at];
}

struct trace_row *ledger_rows_new(struct ledger *ledger, uint32_t region, uint32_t lane,
                                  uint32_t first_site) {
    struct trace_row *rows = ledger->free_rows;
    if (rows == NULL)
        return tracefile_chunk(ledger->file, TRACE_CHUNK_ROWS,
                               (struct tracefile_ids){.first = first_site,
                                                      .count = TRACE_ROWS_PER_CHUNK,
                                                      .owner = region,
                                                      .lane = lane},
                               TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    ledger->free_rows = ledger_next_of(rows)->next;
    memset(rows, 0, TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    ledger_store_order();
    struct trace_chunk *chunk = ledger_chunk_of(rows);
    chunk->first = first_site;
    chunk->lane = lane;
    ledger_store_order();
    chunk->owner = region;
    return rows;
}

void ledger_rows_free(struct ledger *ledger, struct trace_row *rows) {
    ledger_chunk_of(rows)->owner = TRACE_NO_OWNER;
    ledger_store_order();
    ledger_next_of(rows)->next = ledger->free_rows;
    ledger->free_rows = rows;
}

struct trace_row **ledger_directory_new(struct ledger *ledger) {
    struct trace_row **rows = ledger->free_directory;
    if (rows == NULL)
        return sysmem_map(DIRECTORY_BYTES);
    ledger->free_directory = ledger_next_of(rows)->next;
    rows[0] = NULL;
    return rows;
}

void ledger_directory_free(struct ledger *ledger, struct trace_row **rows) {
    ledger_next_of(rows)->next = ledger->free_directory;
    ledger->free_directory = rows;
}

/* Heap allocations so far, by size. */
void ledger_sum_sizes(const struct ledger *ledger, uint64_t ret_counts[TRACE_SIZE_BUCKETS]) {
    memset(ret_counts, 0, TRACE_SIZE_BUCKETS * sizeof(*ret_counts));
    for (uint32_t lane = 0; lane < ledger->lane_count; lane++)
        for (uint32_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++)
            ret_counts[bucket] += ledger->lane_records[lane]->size_counts[bucket];
}

struct trace_timeline *ledger_timeline_new(struct ledger *ledger, uint32_t region) {
    struct trace_timeline *timeline = ledger->free_timelines;
    if (timeline == NULL) {
        timeline = tracefile_chunk(ledger->file, TRACE_CHUNK_TIMELINE,
                                   (struct tracefile_ids){.owner = region}, sizeof(*timeline));
        if (timeline != NULL)
            timeline_init(timeline);
        return timeline;
    }
    ledger->free_timelines = ledger_next_of(timeline)->next;
    *ledger_next_of(timeline) = (struct ledger_given_up){0};
    timeline_init(timeline);
    ledger_store_order();
    ledger_chunk_of(timeline)->owner = region;
    return timeline;
}

struct trace_sizes *ledger_sizes_new(struct ledger *ledger,
                                     const struct ledger_region *region) {
    struct trace_sizes *sizes = ledger->free_sizes;
    if (sizes != NULL) {
        ledger->free_sizes = ledger_next_of(sizes)->next;
        memset(sizes, 0, sizeof(*sizes));
    } else {
        sizes =
            tracefile_chunk(ledger->file, TRACE_CHUNK_SIZES,
                            (struct tracefile_ids){.owner = TRACE_NO_OWNER}, sizeof(*sizes));
        if (sizes == NULL)
            return NULL;
    }
    if (region->thread == 0)
        ledger_sum_sizes(ledger, sizes->start);
    ledger_store_order();
    ledger_chunk_of(sizes)->owner = region->id;
    return sizes;
}

void ledger_extras_free(struct ledger *ledger, const struct ledger_region *region) {
    if (region->timeline != NULL) {
        ledger_chunk_of(region->timeline)->owner = TRACE_NO_OWNER;
        ledger_store_order();
        ledger_next_of(region->timeline)->next = ledger->free_timelines;
        ledger->free_timelines = region->timeline;
    }
    if (region->sizes != NULL) {
        ledger_chunk_of(region->sizes)->owner = TRACE_NO_OWNER;
        ledger_store_order();
        ledger_next_of(region->sizes)->next = ledger->free_sizes;
        ledger->free_sizes = region->sizes;
    }
}
