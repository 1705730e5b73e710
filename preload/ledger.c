/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger.c: exact sums at the peak, without copying anything at a peak.
 *
 * Every region counts its new peaks: peak.epoch. A row remembers in which epoch it last took a
 * snapshot of itself. Before a row changes it looks: if the region has had a new peak since,
 * the row is now as it was at that peak, and is copied aside. At any time the row's bytes at
 * the peak are the snapshot if its epoch is the region's, else what it holds now. One
 * comparison for an event; nothing to do at a new peak but to count it.
 *
 *     before(row)     row.epoch < region.epoch ?  row.peak = live(row), row.epoch =
 * region.epoch then            row.allocated += (1, bytes)             live(row) = start +
 * allocated - freed region          live += (1, bytes); live > peak ?  (peak, epoch) = (live,
 * epoch + 1)
 *
 * The order of the stores is part of the trace format: a process that is killed between any two
 * of them leaves sums that hold. The inner regions are booked before the process region,
 * because the first touch of a row in an inner region takes its start from the process's row.
 */
#include "ledger.h"

#include "blocks.h"
#include "sysmem.h"

#include <errno.h>
#include <string.h>

#define DIRECTORY_ENTRIES ((BLOCKS_SITE_MAX + 2) / TRACE_ROWS_PER_CHUNK)
#define DIRECTORY_BYTES   (DIRECTORY_ENTRIES * sizeof(struct trace_row *))

#define store_order() __asm__ volatile("" ::: "memory")

static inline ledger_pair pair(uint64_t blocks, uint64_t bytes) {
    return (ledger_pair){blocks, bytes};
}

static inline ledger_pair pair_get(const struct trace_pair *from) {
    return *(const ledger_pair *)(const void *)from;
}

static inline void pair_set(struct trace_pair *to, ledger_pair value) {
    *(ledger_pair *)(void *)to = value;
}

static inline ledger_pair row_live(const struct trace_row *row) {
    return pair_get(&row->start) + pair_get(&row->allocated) - pair_get(&row->freed);
}

/* Only after reserve(): the chunk is there. */
static inline struct trace_row *row_at(const struct ledger_region *region, uint32_t site) {
    return &region->rows[site / TRACE_ROWS_PER_CHUNK][site % TRACE_ROWS_PER_CHUNK];
}

/* Rows */

static struct trace_chunk *chunk_of(struct trace_row *rows) {
    return (struct trace_chunk *)(void *)rows - 1;
}

static struct trace_row *rows_new(struct ledger *ledger, uint32_t region, uint32_t first_site) {
    struct trace_row *rows = ledger->free_rows;
    if (rows == NULL)
        return tracefile_chunk(ledger->file, TRACE_CHUNK_ROWS, first_site, TRACE_ROWS_PER_CHUNK,
                               region, TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    memcpy(&ledger->free_rows, rows, sizeof(rows));
    memset(rows, 0, TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    store_order();
    struct trace_chunk *chunk = chunk_of(rows);
    chunk->first = first_site;
    chunk->owner = region;
    return rows;
}

static void rows_free(struct ledger *ledger, struct trace_row *rows) {
    chunk_of(rows)->owner = TRACE_NO_OWNER;
    store_order();
    memcpy(rows, &ledger->free_rows, sizeof(rows));
    ledger->free_rows = rows;
}

static __attribute__((noinline, cold)) bool reserve_rows(struct ledger *ledger, uint32_t site) {
    uint32_t index = site / TRACE_ROWS_PER_CHUNK;
    for (uint32_t i = 0; i < ledger->open_count; i++) {
        struct ledger_region *region = &ledger->open[i];
        if (region->rows[index] == NULL)
            region->rows[index] = rows_new(ledger, region->id, index * TRACE_ROWS_PER_CHUNK);
        if (region->rows[index] == NULL) {
            ledger->file->header->completeness.events_lost++;
            return false;
        }
    }
    return true;
}

/* Make sure that every open region has a row for @site, before anything is booked. */
static inline bool reserve(struct ledger *ledger, uint32_t site) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        if (__builtin_expect(ledger->open[i].rows[site / TRACE_ROWS_PER_CHUNK] == NULL, 0))
            return reserve_rows(ledger, site);
    return true;
}

/* Keep what the row was at the region's latest peak, if it still is what it was then. */
static inline void row_before_change(struct trace_row *row, const struct trace_totals *totals,
                                     const struct trace_row *process_row) {
    if (row->epoch == totals->peak.epoch)
        return;
    if (row->epoch == 0 && row != process_row)
        pair_set(&row->start, row_live(process_row));
    pair_set(&row->peak, row_live(row));
    store_order();
    row->epoch = totals->peak.epoch;
    store_order();
}

/* Bookings */

static inline int64_t combined_live(const struct trace_region *record) {
    return (int64_t)(record->space[TRACE_HEAP].live.bytes +
                     record->space[TRACE_MAP_ANON].live.bytes);
}

static inline void totals_allocate(struct trace_totals *totals, ledger_pair delta) {
    ledger_pair live = pair_get(&totals->live) + delta;
    pair_set(&totals->live, live);
    pair_set(&totals->allocated, pair_get(&totals->allocated) + delta);
    if (live[1] > totals->peak.bytes)
        *(ledger_pair *)(void *)&totals->peak = pair(live[1], totals->peak.epoch + 1);

    if (delta[1] > totals->largest_bytes)
        totals->largest_bytes = delta[1];
    totals->owned_live_bytes += (int64_t)delta[1];
    if (totals->owned_live_bytes > totals->owned_peak_bytes)
        totals->owned_peak_bytes = totals->owned_live_bytes;
}

bool ledger_allocate(struct ledger *ledger, enum trace_space space, uint32_t site,
                     uint64_t blocks, uint64_t bytes) {
    if (!reserve(ledger, site))
        return false;
    struct trace_header *header = ledger->file->header;
    const struct trace_row *process_row = row_at(&ledger->open[0], site);
    ledger_pair delta = pair(blocks, bytes);

    header->updating++;
    store_order();
    for (uint32_t i = ledger->open_count; i-- > 0;) {
        struct trace_region *record = ledger->open[i].record;
        struct trace_row *row = row_at(&ledger->open[i], site);
        row_before_change(row, &record->space[space], process_row);
        pair_set(&row->allocated, pair_get(&row->allocated) + delta);
        store_order();
        totals_allocate(&record->space[space], delta);
        if (space != TRACE_MAP_FILE) {
            int64_t combined = combined_live(record);
            record->combined_live_bytes = combined;
            if (combined > record->combined_peak_bytes)
                record->combined_peak_bytes = combined;
        }
    }
    store_order();
    header->updating++;
    return true;
}

bool ledger_free(struct ledger *ledger, enum trace_space space, uint32_t site, uint64_t blocks,
                 uint64_t bytes, uint32_t birth, bool temporary) {
    if (!reserve(ledger, site))
        return false;
    struct trace_header *header = ledger->file->header;
    const struct trace_row *process_row = row_at(&ledger->open[0], site);
    ledger_pair delta = pair(blocks, bytes);

    header->updating++;
    store_order();
    for (uint32_t i = ledger->open_count; i-- > 0;) {
        struct trace_region *record = ledger->open[i].record;
        struct trace_totals *totals = &record->space[space];
        struct trace_row *row = row_at(&ledger->open[i], site);
        row_before_change(row, totals, process_row);
        pair_set(&row->freed, pair_get(&row->freed) + delta);
        row->temporary += temporary;
        store_order();
        pair_set(&totals->live, pair_get(&totals->live) - delta);
        pair_set(&totals->freed, pair_get(&totals->freed) + delta);
        totals->temporary += temporary;
        if (birth >= ledger->open[i].birth)
            totals->owned_live_bytes -= (int64_t)bytes;
        if (space != TRACE_MAP_FILE)
            record->combined_live_bytes = combined_live(record);
    }
    store_order();
    header->updating++;
    return true;
}

void ledger_count_failed(struct ledger *ledger, enum trace_space space) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        ledger->open[i].record->space[space].failed++;
}

void ledger_count_reallocation(struct ledger *ledger, enum trace_space space) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        ledger->open[i].record->space[space].reallocations++;
}

/* Regions */

static struct ledger_name *find_name(const struct ledger *ledger, const char *name) {
    for (uint32_t i = 0; i < ledger->name_count; i++)
        if (strncmp(ledger->names[i].name, name, TRACE_NAME_BYTES - 1) == 0)
            return &ledger->names[i];
    return NULL;
}

static struct ledger_name *find_or_add_name(struct ledger *ledger, const char *name) {
    struct ledger_name *found = find_name(ledger, name);
    if (found != NULL || ledger->name_count == LEDGER_NAMES_MAX)
        return found;
    found = &ledger->names[ledger->name_count++];
    size_t length = strnlen(name, TRACE_NAME_BYTES - 1);
    memcpy(found->name, name, length);
    return found;
}

static struct trace_region *record_new(struct ledger *ledger) {
    uint32_t at = ledger->region_count % LEDGER_REGIONS_PER_CHUNK;
    if (at == 0) {
        struct trace_region *chunk = tracefile_chunk(
            ledger->file, TRACE_CHUNK_REGIONS, ledger->region_count, LEDGER_REGIONS_PER_CHUNK,
            0, LEDGER_REGIONS_PER_CHUNK * sizeof(*chunk));
        if (chunk == NULL)
            return NULL;
        ledger->record_chunk = chunk;
    }
    return &ledger->record_chunk[at];
}

static struct trace_row **directory_new(struct ledger *ledger) {
    struct trace_row **rows = ledger->free_directory;
    if (rows == NULL)
        return sysmem_map(DIRECTORY_BYTES);
    memcpy(&ledger->free_directory, rows, sizeof(rows));
    rows[0] = NULL;
    return rows;
}

static void directory_free(struct ledger *ledger, struct trace_row **rows) {
    memcpy(rows, &ledger->free_directory, sizeof(rows));
    ledger->free_directory = rows;
}

static void record_begin(struct ledger *ledger, struct trace_region *record,
                         const struct ledger_moment *now) {
    const struct trace_region *process = ledger->open[0].record;
    record->begin_elapsed_ns = now->elapsed_ns;
    record->begin_cpu_ns = now->cpu_ns;
    record->begin_thread = now->thread;
    for (int space = 0; space < TRACE_SPACES; space++) {
        struct trace_totals *totals = &record->space[space];
        if (record != process)
            totals->start = process->space[space].live;
        totals->live = totals->start;
        totals->peak.bytes = totals->start.bytes;
        totals->peak.epoch = 1;
    }
    record->combined_start_bytes = combined_live(record);
    record->combined_live_bytes = record->combined_start_bytes;
    record->combined_peak_bytes = record->combined_start_bytes;
    record->open = 1;
}

int ledger_begin(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    struct trace_completeness *completeness = &ledger->file->header->completeness;
    struct ledger_name *known = find_or_add_name(ledger, name);
    struct trace_row **rows = NULL;
    struct trace_region *record = NULL;

    if (known != NULL && ledger->open_count < LEDGER_OPEN_MAX &&
        ledger->region_count < LEDGER_REGIONS_MAX)
        rows = directory_new(ledger);
    if (rows != NULL)
        record = record_new(ledger);
    if (record == NULL) {
        if (rows != NULL)
            directory_free(ledger, rows);
        completeness->regions_dropped++;
        return -ENOSPC;
    }
    if (ledger->begun < BLOCKS_BIRTH_MAX)
        ledger->begun++;
    else
        completeness->owned_inexact = 1;

    struct ledger_region *region = &ledger->open[ledger->open_count];
    *region = (struct ledger_region){
        .record = record,
        .rows = rows,
        .id = ledger->region_count,
        .name = (uint32_t)(known - ledger->names),
        .birth = ledger->begun,
    };
    memcpy(record->name, known->name, TRACE_NAME_BYTES);
    record->instance = ++known->instances;
    record->parent = ledger->open_count > 0 ? ledger->open[ledger->open_count - 1].id : 0;
    record_begin(ledger, record, now);
    known->youngest = record;
    ledger->open_count++;
    ledger->region_count++;
    __atomic_store_n(&ledger->file->header->region_count, ledger->region_count,
                     __ATOMIC_RELEASE);
    return 0;
}

int ledger_init(struct ledger *ledger, struct tracefile *file,
                const struct ledger_moment *now) {
    *ledger = (struct ledger){.file = file};
    ledger->names = sysmem_map(LEDGER_NAMES_MAX * sizeof(*ledger->names));
    if (ledger->names == NULL || ledger_begin(ledger, "process", now) < 0)
        return -ENOMEM;
    return 0;
}

/* Write rows for the live sites that the region never touched: later they would be lost. */
static void complete_rows(struct ledger *ledger, struct ledger_region *region) {
    uint32_t site_count = ledger->file->header->site_count;
    const struct ledger_region *process = &ledger->open[0];

    for (uint32_t first = 0; first < site_count; first += TRACE_ROWS_PER_CHUNK) {
        const struct trace_row *process_rows = process->rows[first / TRACE_ROWS_PER_CHUNK];
        if (process_rows == NULL)
            continue;
        struct trace_row **rows = &region->rows[first / TRACE_ROWS_PER_CHUNK];
        for (uint32_t i = 0; i < TRACE_ROWS_PER_CHUNK; i++) {
            ledger_pair live = row_live(&process_rows[i]);
            if ((live[0] | live[1]) == 0)
                continue;
            if (*rows == NULL)
                *rows = rows_new(ledger, region->id, first);
            if (*rows == NULL) {
                ledger->file->header->completeness.events_lost++;
                return;
            }
            struct trace_row *row = &(*rows)[i];
            if (row->epoch != 0)
                continue;
            pair_set(&row->start, live);
            pair_set(&row->peak, live);
            store_order();
            row->epoch = 1;
        }
    }
}

/* Give up the rows of an ended region: its totals remain. */
static void drop_rows(struct ledger *ledger, struct ledger_region *region) {
    uint32_t chunks = ledger->file->header->site_count / TRACE_ROWS_PER_CHUNK + 1;
    region->record->flags |= TRACE_REGION_NO_ROWS;
    store_order();
    for (uint32_t i = 0; i < chunks; i++) {
        if (region->rows[i] != NULL)
            rows_free(ledger, region->rows[i]);
        region->rows[i] = NULL;
    }
    directory_free(ledger, region->rows);
    region->rows = NULL;
}

static uint64_t heap_peak_added(const struct ledger_region *region) {
    const struct trace_totals *heap = &region->record->space[TRACE_HEAP];
    return heap->peak.bytes - heap->start.bytes;
}

/* Keep the rows of the worst instances of each name, so that 100,000 of them stay affordable.
 */
static void keep_or_drop(struct ledger *ledger, struct ledger_region *region) {
    struct ledger_name *name = &ledger->names[region->name];
    if (name->kept_count < LEDGER_KEPT_INSTANCES) {
        name->kept[name->kept_count++] = *region;
        return;
    }
    struct ledger_region *least = &name->kept[0];
    for (uint32_t i = 1; i < name->kept_count; i++)
        if (heap_peak_added(&name->kept[i]) < heap_peak_added(least))
            least = &name->kept[i];
    if (heap_peak_added(region) > heap_peak_added(least)) {
        drop_rows(ledger, least);
        *least = *region;
    } else {
        drop_rows(ledger, region);
    }
}

int ledger_end(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    uint32_t at = ledger->open_count;
    while (at-- > 1)
        if (strncmp(ledger->open[at].record->name, name, TRACE_NAME_BYTES - 1) == 0)
            break;
    if (at == 0 || at >= ledger->open_count) {
        ledger->file->header->completeness.unbalanced_ends++;
        return -ENOENT;
    }
    struct ledger_region region = ledger->open[at];
    complete_rows(ledger, &region);
    region.record->end_elapsed_ns = now->elapsed_ns;
    region.record->end_cpu_ns = now->cpu_ns;
    region.record->end_thread = now->thread;
    store_order();
    region.record->open = 0;

    ledger->open_count--;
    memmove(&ledger->open[at], &ledger->open[at + 1],
            (ledger->open_count - at) * sizeof(ledger->open[0]));
    keep_or_drop(ledger, &region);
    return 0;
}

int ledger_query(const struct ledger *ledger, const char *name,
                 struct votrace_region_totals *ret_totals) {
    const struct ledger_name *known = find_name(ledger, name);
    if (known == NULL || known->youngest == NULL)
        return -ENOENT;
    const struct trace_region *record = known->youngest;
    const struct trace_totals *heap = &record->space[TRACE_HEAP];
    const struct trace_totals *anon = &record->space[TRACE_MAP_ANON];
    *ret_totals = (struct votrace_region_totals){
        .instance = record->instance,
        .open = record->open,
        .live_start_bytes = (int64_t)heap->start.bytes,
        .live_bytes = (int64_t)heap->live.bytes,
        .live_peak_bytes = (int64_t)heap->peak.bytes,
        .peak_added_bytes = (int64_t)(heap->peak.bytes - heap->start.bytes),
        .net_bytes = (int64_t)(heap->live.bytes - heap->start.bytes),
        .owned_peak_bytes = heap->owned_peak_bytes,
        .allocations = heap->allocated.blocks,
        .frees = heap->freed.blocks,
        .allocated_bytes = heap->allocated.bytes,
        .freed_bytes = heap->freed.bytes,
        .map_anon_peak_added_bytes = (int64_t)(anon->peak.bytes - anon->start.bytes),
        .combined_peak_added_bytes = record->combined_peak_bytes - record->combined_start_bytes,
    };
    return 0;
}
