/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger_regions.c: how regions begin and end, and what is kept of them.
 *
 * Beginning a region copies nothing, whatever is live: its rows come as they are touched. Of
 * each name only the worst instances keep their rows, timeline and sizes; the memory of the
 * others, in the trace file, is used again.
 */
#include "blocks.h"
#include "ledger_rows.h"
#include "sysmem.h"

#include <errno.h>
#include <string.h>

_Static_assert(LEDGER_REGIONS_MAX < BLOCKS_BIRTH_MAX, "a block can tell when it was born");

/* Begin */

/* @process: what the region begins with; NULL: with nothing. */
static void record_begin(struct trace_region *record, const struct trace_region *process,
                         const struct ledger_moment *now) {
    record->begin_elapsed_ns = now->elapsed_ns;
    record->begin_cpu_ns = now->cpu_ns;
    record->begin_thread = now->thread;
    for (int space = 0; space < TRACE_SPACES; space++) {
        struct trace_totals *totals = &record->space[space];
        if (process != NULL)
            totals->start = process->space[space].live;
        totals->live = totals->start;
        totals->peak.bytes = totals->start.bytes;
        totals->peak.epoch = 1;
        totals->peak_elapsed_ns = now->elapsed_ns;
    }
    if (process != NULL)
        record->usable_start_bytes = process->usable_live_bytes;
    record->usable_live_bytes = record->usable_start_bytes;
    record->usable_at_peak_bytes = record->usable_start_bytes;
    record->combined_start_bytes = ledger_combined_live(record);
    record->combined_peak_bytes = record->combined_start_bytes;
    record->open = 1;
}

/* Not beyond a limit, and not by the name of the process region, which never ends. */
static bool may_begin(const struct ledger *ledger, uint32_t thread,
                      const struct ledger_name *name) {
    bool reserved = ledger->open_count > 0 && ledger_name_index(name) == 0;
    /* Inside a dropped region of this name another one is dropped, so that ends find theirs. */
    return name != NULL && !reserved &&
           ledger_find_drop(ledger, thread, ledger_name_index(name)) == NULL &&
           (thread != 0 || ledger->open_count < LEDGER_OPEN_MAX) &&
           ledger->region_count < LEDGER_REGIONS_MAX && ledger_threads_may_begin(ledger);
}

/* The youngest region that the thread is inside of. */
static uint32_t innermost(const struct ledger *ledger, uint32_t thread) {
    const struct ledger_region *own = thread != 0 ? ledger_own_first(ledger) : NULL;
    uint32_t id = ledger->open_count > 0 ? ledger->open[ledger->open_count - 1].id : 0;
    return own != NULL && own->id > id ? own->id : id;
}

static void update_simple(struct ledger *ledger) {
    ledger->simple = !ledger_is_marked(ledger) && !ledger->usable;
}

/* Make a region of @region, which has its thread; @rows and @record are its own. */
static void region_begin(struct ledger *ledger, struct ledger_region *region,
                         struct ledger_name *name, const struct ledger_moment *now) {
    struct trace_region *record = region->record;
    region->id = ledger->region_count;
    region->name = ledger_name_index(name);
    region->birth = ++ledger->births;
    memcpy(record->name, name->name, TRACE_NAME_BYTES);
    record->instance = ++name->instances;
    record->parent = innermost(ledger, region->thread);
    if (region->thread != 0)
        record->flags = TRACE_REGION_THREAD;
    bool inherits = region->thread == 0 && ledger->open_count > 0;
    record_begin(record, inherits ? ledger->open[0].record : NULL, now);
    region->timeline = ledger_timeline_new(ledger, region->id);
    region->left_events = region->timeline != NULL ? 1 : INT64_MAX;
    region->sizes = ledger_sizes_new(ledger, region);
    name->youngest = record;
}

/* Begin an instance of @name in the place @region, which is NULL if there is none. */
static int begin_in(struct ledger *ledger, struct ledger_region *region, uint32_t thread,
                    struct ledger_name *name, const struct ledger_moment *now) {
    struct trace_row **rows = region != NULL ? ledger_directory_new(ledger) : NULL;
    struct trace_region *record = rows != NULL ? ledger_record_new(ledger) : NULL;
    if (record == NULL) {
        if (rows != NULL)
            ledger_directory_free(ledger, rows);
        ledger_note_drop(ledger, thread, ledger_name_index(name));
        return -ENOSPC;
    }
    *region = (struct ledger_region){.record = record, .rows = rows, .thread = thread};
    region_begin(ledger, region, name, now);
    if (thread != 0)
        ledger_threads_add(ledger, region);
    else
        ledger->begun = region->birth;
    ledger->open_count += thread == 0;
    update_simple(ledger);
    ledger->region_count++;
    __atomic_store_n(&ledger->file->header->region_count, ledger->region_count,
                     __ATOMIC_RELEASE);
    return 0;
}

int ledger_begin(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    struct ledger_name *known = ledger_find_or_add_name(ledger, name);
    struct ledger_region *region =
        may_begin(ledger, 0, known) ? &ledger->open[ledger->open_count] : NULL;
    return begin_in(ledger, region, 0, known, now);
}

int ledger_begin_own(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    struct ledger_name *known = ledger_find_or_add_name(ledger, name);
    struct ledger_region *region =
        may_begin(ledger, ledger->thread, known) ? ledger_threads_take(&ledger->threads) : NULL;
    int r = begin_in(ledger, region, ledger->thread, known, now);
    if (r < 0 && region != NULL)
        ledger_threads_give(&ledger->threads, region);
    return r;
}

void ledger_keep_usable(struct ledger *ledger) {
    ledger->usable = true;
    update_simple(ledger);
}

int ledger_init(struct ledger *ledger, struct tracefile *file, const struct stacktree *stacks,
                const struct ledger_moment *now) {
    *ledger = (struct ledger){.file = file, .stacks = stacks};
    ledger->names = sysmem_map(sizeof(*ledger->names));
    if (ledger->names == NULL || ledger_begin(ledger, "process", now) < 0)
        return -ENOMEM;
    return ledger_add_lane(ledger) == 0 ? 0 : -ENOMEM;
}

int ledger_add_lane(struct ledger *ledger) {
    uint32_t lane = ledger->lane_count;
    if (lane == TRACE_LANES_MAX)
        return -ENOSPC;
    struct trace_row **rows = lane == 0 ? ledger->open[0].rows : ledger_directory_new(ledger);
    if (rows == NULL)
        return -ENOMEM;
    struct trace_lane *record =
        tracefile_chunk(ledger->file, TRACE_CHUNK_LANE,
                        (struct tracefile_ids){.first = lane, .count = 1}, sizeof(*record));
    if (record == NULL) {
        if (lane > 0)
            ledger_directory_free(ledger, rows);
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
        *place = ledger_rows_new(ledger, 0, lane, index * TRACE_ROWS_PER_CHUNK);
    return *place != NULL;
}

/* Whether a lane has rows for @first_site and those after it. */
static bool chunk_is_known(const struct ledger *ledger, uint32_t first_site) {
    for (uint32_t lane = 0; lane < ledger->lane_count; lane++)
        if (ledger->lane_rows[lane][first_site / TRACE_ROWS_PER_CHUNK] != NULL)
            return true;
    return false;
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
            ledger_pair live = ledger_site_live(ledger, first + i);
            if ((live[0] | live[1]) == 0)
                continue;
            if (*rows == NULL)
                *rows = ledger_rows_new(ledger, region->id, 0, first);
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
            ledger_rows_free(ledger, region->rows[i]);
        region->rows[i] = NULL;
    }
    ledger_directory_free(ledger, region->rows);
    region->rows = NULL;
    ledger_extras_free(ledger, region);
}

static uint64_t heap_peak_added(const struct ledger_region *region) {
    const struct trace_totals *heap = &region->record->space[TRACE_HEAP];
    return heap->peak.bytes - heap->start.bytes;
}

/*
 * Keep the rows of the worst instances of each name, so that 100,000 of them stay affordable.
 */
static void keep_or_drop(struct ledger *ledger, struct ledger_region *region) {
    struct ledger_name *name = ledger_name_at(ledger, region->name);
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

/* What a region that ends has to say for good, before it is said to have ended. */
static void finish_record(struct ledger *ledger, struct ledger_region *region,
                          const struct ledger_moment *now) {
    struct trace_region *record = region->record;
    write_counts(ledger, region);
    if (region->sizes != NULL && region->thread == 0) {
        ledger_sum_sizes(ledger, region->sizes->counted);
        for (uint32_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++)
            region->sizes->counted[bucket] -= region->sizes->start[bucket];
    }
    ledger_date(record, now->elapsed_ns);
    record->end_elapsed_ns = now->elapsed_ns;
    record->end_cpu_ns = now->cpu_ns;
    record->end_thread = now->thread;
    ledger_store_order();
    record->open = 0;
}

static void take_out(struct ledger *ledger, struct ledger_region *region) {
    if (region->thread != 0) {
        ledger_threads_remove(ledger, region);
    } else {
        const struct ledger_region *end = &ledger->open[ledger->open_count--];
        memmove(region, region + 1, (size_t)(end - (region + 1)) * sizeof(*region));
    }
    update_simple(ledger);
}

static void region_end(struct ledger *ledger, struct ledger_region *region,
                       const struct ledger_moment *now) {
    /* What a thread's region did not touch is 0, and needs no row. */
    bool complete = region->thread != 0 || complete_rows(ledger, region);
    if (!complete)
        region->record->flags |= TRACE_REGION_NO_ROWS;
    finish_record(ledger, region, now);
    struct ledger_region ended = *region;
    take_out(ledger, region);
    if (complete) {
        keep_or_drop(ledger, &ended);
    } else {
        ledger->file->header->completeness.table_refused++;
        drop_rows(ledger, &ended);
    }
}

/* @region is what an end of @name ends, if it is not a begin that was dropped; or NULL. */
static int end_of(struct ledger *ledger, struct ledger_region *region,
                  const struct ledger_moment *now) {
    if (region != NULL) {
        region_end(ledger, region, now);
        return 0;
    }
    if (ledger->drops_beyond > 0) {
        ledger->drops_beyond--;
        return 0;
    }
    ledger->file->header->completeness.unbalanced_ends++;
    return -ENOENT;
}

int ledger_end(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    uint32_t known = ledger_name_index(ledger_find_name(ledger, name));
    if (ledger_take_drop(ledger, 0, known))
        return 0;
    uint32_t at = ledger->open_count;
    while (at-- > 1)
        if (ledger->open[at].name == known)
            break;
    return end_of(ledger, at > 0 && at < ledger->open_count ? &ledger->open[at] : NULL, now);
}

int ledger_end_own(struct ledger *ledger, const char *name, const struct ledger_moment *now) {
    uint32_t known = ledger_name_index(ledger_find_name(ledger, name));
    if (ledger_take_drop(ledger, ledger->thread, known))
        return 0;
    struct ledger_region *own = ledger_own_first(ledger);
    while (own != NULL && own->name != known)
        own = ledger_own_next(ledger, own);
    return end_of(ledger, own, now);
}

/* The open region that @record is of; NULL when it has ended. */
static const struct ledger_region *find_open(const struct ledger *ledger,
                                             const struct trace_region *record) {
    for (uint32_t i = 0; i < ledger->open_count; i++)
        if (ledger->open[i].record == record)
            return &ledger->open[i];
    return ledger_threads_find(&ledger->threads, record);
}

int ledger_query(const struct ledger *ledger, const char *name,
                 struct votrace_region_totals *ret_totals) {
    const struct ledger_name *known = ledger_find_name(ledger, name);
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
