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
 *     before(row)   row.epoch < region.epoch ?  row.peak = live(row), row.epoch = region.epoch
 *     then          row.allocated += (1, bytes)         live(row) = start + allocated - freed
 *     region        live += (1, bytes);  live > peak ?  (peak, epoch) = (live, epoch + 1)
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
_Static_assert(LEDGER_REGIONS_MAX < BLOCKS_BIRTH_MAX, "a block can tell when it was born");

#define DIRECTORY_BYTES (DIRECTORY_ENTRIES * sizeof(struct trace_row *))

/* What was given up is kept in a list that runs through its own memory. */
struct given_up {
    void *next;
};

static inline struct given_up *next_of(void *memory) {
    return memory;
}

/* Rows */

static struct trace_chunk *chunk_of(struct trace_row *rows) {
    return (struct trace_chunk *)(void *)rows - 1;
}

static struct trace_row *rows_new(struct ledger *ledger, uint32_t region, uint32_t lane,
                                  uint32_t first_site) {
    struct trace_row *rows = ledger->free_rows;
    if (rows == NULL)
        return tracefile_chunk(ledger->file, TRACE_CHUNK_ROWS,
                               (struct tracefile_ids){.first = first_site,
                                                      .count = TRACE_ROWS_PER_CHUNK,
                                                      .owner = region,
                                                      .lane = lane},
                               TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    ledger->free_rows = next_of(rows)->next;
    memset(rows, 0, TRACE_ROWS_PER_CHUNK * sizeof(*rows));
    ledger_store_order();
    struct trace_chunk *chunk = chunk_of(rows);
    chunk->first = first_site;
    chunk->lane = lane;
    ledger_store_order();
    chunk->owner = region;
    return rows;
}

static void rows_free(struct ledger *ledger, struct trace_row *rows) {
    chunk_of(rows)->owner = TRACE_NO_OWNER;
    ledger_store_order();
    next_of(rows)->next = ledger->free_rows;
    ledger->free_rows = rows;
}

static __attribute__((noinline, cold)) bool reserve_rows(struct ledger *ledger, uint32_t site) {
    uint32_t index = site / TRACE_ROWS_PER_CHUNK;
    for (uint32_t i = 0; i < ledger->open_count; i++) {
        struct ledger_region *region = &ledger->open[i];
        if (region->rows[index] == NULL)
            region->rows[index] = rows_new(ledger, region->id, 0, index * TRACE_ROWS_PER_CHUNK);
        if (region->rows[index] == NULL) {
            ledger->file->header->completeness.events_lost++;
            return false;
        }
    }
    return true;
}

/* Make sure that every open region has a row for @site, before anything is booked. */
static bool reserve(struct ledger *ledger, uint32_t site) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        if (ledger->open[i].rows[site / TRACE_ROWS_PER_CHUNK] == NULL)
            return reserve_rows(ledger, site);
    return true;
}

/*
 * What the region allocated itself. The process region owns everything: there it is its live.
 */
static inline void own(struct trace_totals *totals, uint64_t bytes) {
    totals->owned_live_bytes += (int64_t)bytes;
    if (totals->owned_live_bytes > totals->owned_peak_bytes)
        totals->owned_peak_bytes = totals->owned_live_bytes;
}

/* What @site has live in the process region: the sum over its lanes. */
static inline ledger_pair site_live(const struct ledger *ledger, uint32_t site) {
    ledger_pair live = {0, 0};
    for (uint32_t lane = 0; lane < ledger->lane_count; lane++) {
        const struct trace_row *rows = ledger->lane_rows[lane][site / TRACE_ROWS_PER_CHUNK];
        if (rows != NULL)
            live += ledger_row_live(&rows[site % TRACE_ROWS_PER_CHUNK]);
    }
    return live;
}

/* The row of @site in an open region; one that is new in an inner region starts as the process's. */
static inline struct trace_row *row_in(const struct ledger *ledger, uint32_t region,
                                       uint32_t site) {
    struct trace_row *row = ledger_row(&ledger->open[region], site);
    if (region > 0 && row->epoch == 0)
        ledger_pair_set(&row->start, site_live(ledger, site));
    return row;
}

__attribute__((noinline)) bool ledger_allocate_nested(struct ledger *ledger,
                                                      enum trace_space space, uint32_t site,
                                                      uint64_t blocks, uint64_t bytes) {
    if (!reserve(ledger, site))
        return false;
    ledger_pair delta = {blocks, bytes};
    ledger_event_begin(ledger);
    for (uint32_t i = ledger->open_count; i-- > 0;) {
        struct trace_region *record = ledger->open[i].record;
        ledger_region_allocate(record, row_in(ledger, i, site), space, delta);
        if (i > 0)
            own(&record->space[space], bytes);
    }
    ledger_event_end(ledger);
    return true;
}

__attribute__((noinline)) bool ledger_free_nested(struct ledger *ledger, enum trace_space space,
                                                  uint32_t site, uint64_t blocks,
                                                  uint64_t bytes, uint32_t birth,
                                                  bool temporary) {
    if (!reserve(ledger, site))
        return false;
    ledger_pair delta = {blocks, bytes};
    ledger_event_begin(ledger);
    for (uint32_t i = ledger->open_count; i-- > 0;) {
        struct trace_region *record = ledger->open[i].record;
        ledger_region_free(record, row_in(ledger, i, site), space, delta, temporary);
        if (i > 0 && birth >= ledger->open[i].birth)
            record->space[space].owned_live_bytes -= (int64_t)bytes;
    }
    ledger_event_end(ledger);
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

static struct trace_row **directory_new(struct ledger *ledger) {
    struct trace_row **rows = ledger->free_directory;
    if (rows == NULL)
        return sysmem_map(DIRECTORY_BYTES);
    ledger->free_directory = next_of(rows)->next;
    rows[0] = NULL;
    return rows;
}

static void directory_free(struct ledger *ledger, struct trace_row **rows) {
    next_of(rows)->next = ledger->free_directory;
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
    record->combined_start_bytes = ledger_combined_live(record);
    record->combined_peak_bytes = record->combined_start_bytes;
    record->open = 1;
}

/* Not beyond a limit, and not by the name of the process region, which never ends. */
static bool may_begin(const struct ledger *ledger, const struct ledger_name *name) {
    bool reserved = ledger->open_count > 0 && name == &ledger->names[0];
    /* Inside a dropped region of this name another one is dropped, so that ends find theirs. */
    return name != NULL && !reserved && name->dropped_open == 0 &&
           ledger->open_count < LEDGER_OPEN_MAX && ledger->region_count < LEDGER_REGIONS_MAX;
}

int ledger_begin(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    struct trace_completeness *completeness = &ledger->file->header->completeness;
    struct ledger_name *known = find_or_add_name(ledger, name);
    struct trace_row **rows = NULL;
    struct trace_region *record = NULL;

    if (may_begin(ledger, known))
        rows = directory_new(ledger);
    if (rows != NULL)
        record = record_new(ledger);
    if (record == NULL) {
        if (rows != NULL)
            directory_free(ledger, rows);
        if (known != NULL)
            known->dropped_open++;
        else
            ledger->nameless_open++;
        completeness->regions_dropped++;
        return -ENOSPC;
    }
    ledger->begun++;

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

int ledger_init(struct ledger *ledger, struct tracefile *file, const struct stacktree *stacks,
                const struct ledger_moment *now) {
    *ledger = (struct ledger){.file = file, .stacks = stacks};
    ledger->names = sysmem_map(LEDGER_NAMES_MAX * sizeof(*ledger->names));
    if (ledger->names == NULL || ledger_begin(ledger, "process", now) < 0)
        return -ENOMEM;
    return ledger_add_lane(ledger) == 0 ? 0 : -ENOMEM;
}

int ledger_add_lane(struct ledger *ledger) {
    uint32_t lane = ledger->lane_count;
    if (lane == TRACE_LANES_MAX)
        return -ENOSPC;
    struct trace_row **rows = lane == 0 ? ledger->open[0].rows : directory_new(ledger);
    if (rows == NULL)
        return -ENOMEM;
    struct trace_lane *record =
        tracefile_chunk(ledger->file, TRACE_CHUNK_LANE,
                        (struct tracefile_ids){.first = lane, .count = 1}, sizeof(*record));
    if (record == NULL) {
        if (lane > 0)
            directory_free(ledger, rows);
        return -ENOMEM;
    }
    ledger->lane_rows[lane] = rows;
    ledger->lane_records[lane] = record;
    ledger->lane_count++;
    return (int)lane;
}

bool ledger_reserve_lane_row(struct ledger *ledger, uint32_t lane, uint32_t site) {
    uint32_t index = site / TRACE_ROWS_PER_CHUNK;
    struct trace_row **place = &ledger->lane_rows[lane][index];
    if (*place == NULL)
        *place = rows_new(ledger, 0, lane, index * TRACE_ROWS_PER_CHUNK);
    return *place != NULL;
}

/* Whether a lane has rows for @first_site and those after it. */
static bool chunk_is_known(const struct ledger *ledger, uint32_t first_site) {
    for (uint32_t lane = 0; lane < ledger->lane_count; lane++)
        if (ledger->lane_rows[lane][first_site / TRACE_ROWS_PER_CHUNK] != NULL)
            return true;
    return false;
}

ledger_pair ledger_live(const struct ledger *ledger, enum trace_space space) {
    return ledger_pair_get(&ledger->open[0].record->space[space].live);
}

bool ledger_inherit(struct ledger *ledger, enum trace_space space, uint32_t site,
                    ledger_pair live) {
    if (!reserve(ledger, site))
        return false;
    struct trace_region *record = ledger->open[0].record;
    struct trace_row *row = ledger_row(&ledger->open[0], site);
    struct trace_totals *totals = &record->space[space];
    ledger_event_begin(ledger);
    ledger_pair_set(&row->start, live);
    ledger_pair_set(&row->peak, live);
    row->epoch = totals->peak.epoch;
    ledger_pair_set(&totals->start, live);
    ledger_pair_set(&totals->live, live);
    totals->peak.bytes = live[1];
    record->combined_start_bytes = ledger_combined_live(record);
    record->combined_peak_bytes = record->combined_start_bytes;
    ledger_event_end(ledger);
    return true;
}

/*
 * Write rows for the live sites that the region never touched: later they would be lost.
 * Returns false when memory is refused.
 */
static bool complete_rows(struct ledger *ledger, struct ledger_region *region) {
    uint32_t site_count = ledger->file->header->site_count;

    for (uint32_t first = 0; first < site_count; first += TRACE_ROWS_PER_CHUNK) {
        if (!chunk_is_known(ledger, first))
            continue;
        struct trace_row **rows = &region->rows[first / TRACE_ROWS_PER_CHUNK];
        for (uint32_t i = 0; i < TRACE_ROWS_PER_CHUNK; i++) {
            ledger_pair live = site_live(ledger, first + i);
            if ((live[0] | live[1]) == 0)
                continue;
            if (*rows == NULL)
                *rows = rows_new(ledger, region->id, 0, first);
            if (*rows == NULL)
                return false;
            struct trace_row *row = &(*rows)[i];
            if (row->epoch != 0)
                continue;
            ledger_pair_set(&row->start, live);
            ledger_pair_set(&row->peak, live);
            ledger_store_order();
            row->epoch = 1;
        }
    }
    return true;
}

/* Add up the rows in one directory, by space. */
static void sum_directory(const struct ledger *ledger, struct trace_row *const *rows,
                          struct trace_totals totals_by_space[TRACE_SPACES]) {
    uint32_t site_count = ledger->file->header->site_count;
    for (uint32_t site = 0; site < site_count; site++) {
        if (rows[site / TRACE_ROWS_PER_CHUNK] == NULL) {
            site |= TRACE_ROWS_PER_CHUNK - 1;
            continue;
        }
        const struct trace_row *row =
            &rows[site / TRACE_ROWS_PER_CHUNK][site % TRACE_ROWS_PER_CHUNK];
        struct trace_totals *totals =
            &totals_by_space[stacktree_site(ledger->stacks, site)->space];
        ledger_pair_set(&totals->allocated,
                        ledger_pair_get(&totals->allocated) + ledger_pair_get(&row->allocated));
        ledger_pair_set(&totals->freed,
                        ledger_pair_get(&totals->freed) + ledger_pair_get(&row->freed));
        totals->temporary += row->temporary;
    }
}

/* The counts of @region so far, by space: sums over its rows, and over lanes. */
static void sum_rows(const struct ledger *ledger, const struct ledger_region *region,
                     struct trace_totals ret_totals[TRACE_SPACES]) {
    sum_directory(ledger, region->rows, ret_totals);
    if (region->id == 0)
        for (uint32_t lane = 1; lane < ledger->lane_count; lane++)
            sum_directory(ledger, ledger->lane_rows[lane], ret_totals);
}

/* What an ended region's record says for good. */
static void write_counts(const struct ledger *ledger, const struct ledger_region *region) {
    struct trace_totals counts[TRACE_SPACES] = {0};
    sum_rows(ledger, region, counts);
    for (int space = 0; space < TRACE_SPACES; space++) {
        struct trace_totals *totals = &region->record->space[space];
        totals->allocated = counts[space].allocated;
        totals->freed = counts[space].freed;
        totals->temporary = counts[space].temporary;
    }
    region->record->combined_end_bytes = ledger_combined_live(region->record);
}

/* Give up the rows of an ended region: its totals remain. */
static void drop_rows(struct ledger *ledger, struct ledger_region *region) {
    uint32_t chunks = ledger->file->header->site_count / TRACE_ROWS_PER_CHUNK + 1;
    region->record->flags |= TRACE_REGION_NO_ROWS;
    ledger_store_order();
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

/*
 * Keep the rows of the worst instances of each name, so that 100,000 of them stay affordable.
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
    struct ledger_name *known = find_name(ledger, name);
    if (known != NULL && known->dropped_open > 0) {
        known->dropped_open--;
        return 0;
    }
    if (known == NULL && ledger->nameless_open > 0) {
        ledger->nameless_open--;
        return 0;
    }
    uint32_t at = ledger->open_count;
    while (at-- > 1)
        if (strncmp(ledger->open[at].record->name, name, TRACE_NAME_BYTES - 1) == 0)
            break;
    if (at == 0 || at >= ledger->open_count) {
        ledger->file->header->completeness.unbalanced_ends++;
        return -ENOENT;
    }
    struct ledger_region region = ledger->open[at];
    bool complete = complete_rows(ledger, &region);
    write_counts(ledger, &region);
    if (!complete)
        region.record->flags |= TRACE_REGION_NO_ROWS;
    region.record->end_elapsed_ns = now->elapsed_ns;
    region.record->end_cpu_ns = now->cpu_ns;
    region.record->end_thread = now->thread;
    ledger_store_order();
    region.record->open = 0;

    ledger->open_count--;
    memmove(&ledger->open[at], &ledger->open[at + 1],
            (ledger->open_count - at) * sizeof(ledger->open[0]));
    if (complete) {
        keep_or_drop(ledger, &region);
    } else {
        ledger->file->header->completeness.table_refused++;
        drop_rows(ledger, &region);
    }
    return 0;
}

/* The open region that @record is of; NULL when it has ended. */
static const struct ledger_region *find_open(const struct ledger *ledger,
                                             const struct trace_region *record) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        if (ledger->open[i].record == record)
            return &ledger->open[i];
    return NULL;
}

int ledger_query(const struct ledger *ledger, const char *name,
                 struct votrace_region_totals *ret_totals) {
    const struct ledger_name *known = find_name(ledger, name);
    if (known == NULL || known->youngest == NULL)
        return -ENOENT;
    const struct trace_region *record = known->youngest;
    const struct trace_totals *heap = &record->space[TRACE_HEAP];
    const struct trace_totals *anon = &record->space[TRACE_MAP_ANON];
    const struct ledger_region *open = find_open(ledger, record);
    struct trace_totals counts[TRACE_SPACES] = {0};
    if (open != NULL)
        sum_rows(ledger, open, counts);
    else
        counts[TRACE_HEAP] = *heap;

    *ret_totals = (struct votrace_region_totals){
        .instance = record->instance,
        .open = record->open,
        .live_start_bytes = (int64_t)heap->start.bytes,
        .live_bytes = (int64_t)heap->live.bytes,
        .live_peak_bytes = (int64_t)heap->peak.bytes,
        .peak_added_bytes = (int64_t)(heap->peak.bytes - heap->start.bytes),
        .net_bytes = (int64_t)(heap->live.bytes - heap->start.bytes),
        .owned_peak_bytes = record == ledger->open[0].record ? (int64_t)heap->peak.bytes
                                                             : heap->owned_peak_bytes,
        .allocations = counts[TRACE_HEAP].allocated.blocks,
        .frees = counts[TRACE_HEAP].freed.blocks,
        .allocated_bytes = counts[TRACE_HEAP].allocated.bytes,
        .freed_bytes = counts[TRACE_HEAP].freed.bytes,
        .map_anon_peak_added_bytes = (int64_t)(anon->peak.bytes - anon->start.bytes),
        .combined_peak_added_bytes = record->combined_peak_bytes - record->combined_start_bytes,
    };
    return 0;
}
