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
#include "ledger_rows.h"
#include "timeline.h"

#include <string.h>

/* Rows */

static bool reserve_row(struct ledger *ledger, struct ledger_region *region, uint32_t site) {
    struct trace_row **rows = &region->rows[site / TRACE_ROWS_PER_CHUNK];
    if (__builtin_expect(*rows != NULL, 1))
        return true;
    *rows = ledger_rows_new(ledger, region->id, 0, site & ~(TRACE_ROWS_PER_CHUNK - 1));
    if (*rows == NULL)
        ledger->file->header->completeness.events_lost++;
    return *rows != NULL;
}

/* Make sure that every region of the event has a row for @site, before anything is booked. */
static bool reserve(struct ledger *ledger, uint32_t site) {
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        if (!reserve_row(ledger, own, site))
            return false;
    for (uint32_t i = 0; i < ledger->open_count; i++)
        if (!reserve_row(ledger, &ledger->open[i], site))
            return false;
    return true;
}

/*
 * What the region allocated itself. The process region owns everything: there it is its live.
 */
static inline void count_owned(struct trace_totals *totals, uint64_t bytes) {
    totals->owned_live_bytes += (int64_t)bytes;
    if (totals->owned_live_bytes > totals->owned_peak_bytes)
        totals->owned_peak_bytes = totals->owned_live_bytes;
}

/*
 * The row of @site in an open region; one that is new in a region that began with what was live
 * starts as the process's.
 */
static inline struct trace_row *row_in(const struct ledger *ledger,
                                       const struct ledger_region *region, uint32_t site) {
    struct trace_row *row = ledger_row(region, site);
    if (region->id > 0 && region->thread == 0 && row->epoch == 0)
        ledger_pair_set(&row->start, ledger_site_live(ledger, site));
    return row;
}

static void allocate_in(const struct ledger *ledger, const struct ledger_region *region,
                        enum trace_space space, uint32_t site, ledger_pair delta) {
    struct trace_region *record = region->record;
    struct trace_totals *totals = &record->space[space];
    uint64_t epoch = totals->peak.epoch;
    ledger_region_allocate(record, row_in(ledger, region, site), space, delta);
    if (region->id > 0)
        count_owned(totals, delta[1]);
    if (!ledger->usable || space != TRACE_HEAP)
        return;
    record->usable_live_bytes += (int64_t)ledger->usable_bytes;
    if (totals->peak.epoch != epoch)
        record->usable_at_peak_bytes = record->usable_live_bytes;
}

static void free_in(const struct ledger *ledger, const struct ledger_region *region,
                    enum trace_space space, uint32_t site, ledger_pair delta, uint32_t birth,
                    bool temporary) {
    struct trace_region *record = region->record;
    ledger_region_free(record, row_in(ledger, region, site), space, delta, temporary);
    if (region->id > 0 && ledger_owns(ledger, region, birth))
        record->space[space].owned_live_bytes -= (int64_t)delta[1];
    if (ledger->usable && space == TRACE_HEAP)
        record->usable_live_bytes -= (int64_t)ledger->usable_bytes;
}

static void count_own_size(const struct ledger *ledger, uint64_t bytes) {
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        if (own->sizes != NULL)
            own->sizes->counted[ledger_size_bucket(bytes)]++;
}

__attribute__((noinline)) bool ledger_allocate_nested(struct ledger *ledger,
                                                      enum trace_space space, uint32_t site,
                                                      uint64_t blocks, uint64_t bytes) {
    if (!reserve(ledger, site))
        return false;
    ledger_pair delta = {blocks, bytes};
    ledger_event_begin(ledger);
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        allocate_in(ledger, own, space, site, delta);
    for (uint32_t i = ledger->open_count; i-- > 0;)
        allocate_in(ledger, &ledger->open[i], space, site, delta);
    if (space == TRACE_HEAP) {
        ledger_count_size(ledger->lane_records[0], bytes);
        count_own_size(ledger, bytes);
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
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        free_in(ledger, own, space, site, delta, birth, temporary);
    for (uint32_t i = ledger->open_count; i-- > 0;)
        free_in(ledger, &ledger->open[i], space, site, delta, birth, temporary);
    ledger_event_end(ledger);
    return true;
}

/* In marked regions alone */

bool ledger_inner_ready(const struct ledger *ledger, uint32_t site) {
    for (uint32_t i = 1; i < ledger->open_count; i++)
        if (ledger->open[i].rows[site / TRACE_ROWS_PER_CHUNK] == NULL)
            return false;
    return true;
}

bool ledger_reserve_inner(struct ledger *ledger, uint32_t site) {
    for (uint32_t i = 1; i < ledger->open_count; i++)
        if (!reserve_row(ledger, &ledger->open[i], site))
            return false;
    return true;
}

void ledger_allocate_inner(struct ledger *ledger, uint32_t site, uint64_t bytes) {
    for (uint32_t i = ledger->open_count; i-- > 1;)
        allocate_in(ledger, &ledger->open[i], TRACE_HEAP, site, (ledger_pair){1, bytes});
}

void ledger_free_inner(struct ledger *ledger, uint32_t site, uint64_t bytes, uint32_t birth,
                       bool temporary) {
    for (uint32_t i = ledger->open_count; i-- > 1;)
        free_in(ledger, &ledger->open[i], TRACE_HEAP, site, (ledger_pair){1, bytes}, birth,
                temporary);
}

void ledger_count_inner_reallocation(struct ledger *ledger) {
    for (uint32_t i = 1; i < ledger->open_count; i++)
        ledger->open[i].record->space[TRACE_HEAP].reallocations++;
}

bool ledger_count_inner_event(struct ledger *ledger) {
    bool due = false;
    for (uint32_t i = 1; i < ledger->open_count; i++)
        due |= --ledger->open[i].left_events <= 0;
    return due;
}

/* Beside the bookings */

void ledger_count_failed(struct ledger *ledger, enum trace_space space) {
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        own->record->space[space].failed++;
    for (uint32_t i = 0; i < ledger->open_count; i++)
        ledger->open[i].record->space[space].failed++;
}

void ledger_count_reallocation(struct ledger *ledger, enum trace_space space) {
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        own->record->space[space].reallocations++;
    for (uint32_t i = 0; i < ledger->open_count; i++)
        ledger->open[i].record->space[space].reallocations++;
}

/* Points */

bool ledger_count_event_nested(struct ledger *ledger) {
    bool due = false;
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        due |= --own->left_events <= 0;
    for (uint32_t i = 0; i < ledger->open_count; i++)
        due |= --ledger->open[i].left_events <= 0;
    return due;
}

void ledger_date(struct trace_region *record, uint64_t elapsed_ns) {
    for (int space = 0; space < TRACE_SPACES; space++)
        if (record->space[space].peak_elapsed_ns == 0)
            record->space[space].peak_elapsed_ns = elapsed_ns;
}

void ledger_date_peaks(const struct ledger *ledger, uint64_t elapsed_ns) {
    ledger_date(ledger->open[0].record, elapsed_ns);
}

static void add_point(struct ledger_region *region, int64_t live_bytes, uint64_t elapsed_ns) {
    const struct trace_point point = {.elapsed_ns = elapsed_ns, .live_bytes = live_bytes};
    region->left_events = INT64_MAX;
    if (region->timeline != NULL)
        region->left_events = (int64_t)timeline_add(region->timeline, point);
    ledger_date(region->record, elapsed_ns);
}

static void add_if_due(struct ledger_region *region, uint64_t elapsed_ns) {
    if (region->left_events <= 0)
        add_point(region, (int64_t)region->record->space[TRACE_HEAP].live.bytes, elapsed_ns);
}

void ledger_add_inner_points(struct ledger *ledger, uint64_t elapsed_ns) {
    for (uint32_t i = 1; i < ledger->open_count; i++)
        add_if_due(&ledger->open[i], elapsed_ns);
}

void ledger_add_points(struct ledger *ledger, uint64_t elapsed_ns) {
    for (struct ledger_region *own = ledger_own_first(ledger); own != NULL;
         own = ledger_own_next(ledger, own))
        add_if_due(own, elapsed_ns);
    for (uint32_t i = 0; i < ledger->open_count; i++)
        add_if_due(&ledger->open[i], elapsed_ns);
}

int64_t ledger_add_process_point(struct ledger *ledger, int64_t live_bytes,
                                 uint64_t elapsed_ns) {
    add_point(&ledger->open[0], live_bytes, elapsed_ns);
    return ledger->open[0].left_events;
}

/* Of a forked child's parent */

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

void ledger_inherit_more(struct ledger *ledger, uint32_t births, int64_t usable_bytes) {
    struct ledger_region *process = &ledger->open[0];
    ledger->births += births + LEDGER_BIRTH_ADOPTED;
    ledger->begun = ledger->births;
    process->birth = ledger->begun;
    process->record->usable_start_bytes = usable_bytes;
    process->record->usable_live_bytes = usable_bytes;
    process->record->usable_at_peak_bytes = usable_bytes;
}
