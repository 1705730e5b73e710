/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_regions.c: rows and totals of every region, by the rules at the top of trace_layout.h.
 *
 * Rows of a region hold what changed since it began; a site that was not touched is known from
 * the process region. There a site has a row in each lane, derived one by one and added up. The
 * counts of a region that is still open are the sums of its rows, and live of the process
 * region, too, while threads have lanes. When the process died inside an event, or one in each
 * lane, live and peak are the sums, which is what the next instructions would have made of them.
 */
#include "profile_derive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct fault *fault) {
    return fault_set(fault, -ENOMEM, "out of memory");
}

/* Counters beyond 2^63 are nonsense; as negative numbers they fail profile_check(). */
static struct profile_pair pair_of(const struct trace_pair *pair) {
    return (struct profile_pair){(int64_t)pair->blocks, (int64_t)pair->bytes};
}

static struct profile_pair pair_live(const struct profile_pair *start,
                                     const struct profile_pair *allocated,
                                     const struct profile_pair *freed) {
    return (struct profile_pair){
        (int64_t)((uint64_t)start->blocks + (uint64_t)allocated->blocks -
                  (uint64_t)freed->blocks),
        (int64_t)((uint64_t)start->bytes + (uint64_t)allocated->bytes - (uint64_t)freed->bytes),
    };
}

static void pair_sum(struct profile_pair *sum, const struct profile_pair *value) {
    sum->blocks = (int64_t)((uint64_t)sum->blocks + (uint64_t)value->blocks);
    sum->bytes = (int64_t)((uint64_t)sum->bytes + (uint64_t)value->bytes);
}

static bool pair_is_equal(const struct profile_pair *a, const struct profile_pair *b) {
    return a->blocks == b->blocks && a->bytes == b->bytes;
}

/* What one lane counted of a site is added to what the others did. */
static void row_add(struct profile_row *sum, const struct trace_row *row, uint64_t peak_epoch) {
    struct profile_pair start = pair_of(&row->start);
    struct profile_pair allocated = pair_of(&row->allocated);
    struct profile_pair freed = pair_of(&row->freed);
    struct profile_pair end = pair_live(&start, &allocated, &freed);
    struct profile_pair peak = row->epoch < peak_epoch ? end : pair_of(&row->peak);
    pair_sum(&sum->start, &start);
    pair_sum(&sum->allocated, &allocated);
    pair_sum(&sum->freed, &freed);
    pair_sum(&sum->end, &end);
    pair_sum(&sum->peak, &peak);
    sum->temporary = (int64_t)((uint64_t)sum->temporary + row->temporary);
}

static bool row_is_empty(const struct profile_row *row) {
    return row->allocated.blocks == 0 && row->freed.blocks == 0 && row->start.blocks == 0 &&
           row->peak.blocks == 0 && row->end.blocks == 0 && row->allocated.bytes == 0 &&
           row->freed.bytes == 0 && row->start.bytes == 0 && row->peak.bytes == 0 &&
           row->end.bytes == 0 && row->temporary == 0;
}

/* A row's first touch begins with other fields than its epoch: a kill may come in between. */
static bool row_may_be_untouched(const struct trace *trace, const struct trace_row *row) {
    static const struct trace_row untouched;
    return !trace_has_ended(trace) || memcmp(row, &untouched, sizeof(untouched)) == 0;
}

/*
 * Add up what the chunks of @region_id say of every site: @sums is zero, one for each site.
 * Returns 0; -EBADMSG for a row that looks back at a peak yet to come.
 */
static int rows_add(struct derivation *d, uint32_t region_id, struct profile_row *sums,
                    bool *touched) {
    const struct trace *trace = d->trace;
    const struct trace_totals *totals = trace->regions[region_id].space;
    for (; d->next_rows < trace->rows_count; d->next_rows++) {
        const struct trace_rows *rows = &trace->rows[d->next_rows];
        if (rows->region > region_id)
            break;
        for (uint32_t i = 0; rows->region == region_id && i < rows->count; i++) {
            uint32_t site = rows->first + i;
            uint64_t epoch = totals[trace->sites[site].space].peak.epoch;
            if (rows->rows[i].epoch == 0 && !row_may_be_untouched(trace, &rows->rows[i]))
                return fault_set(d->fault, -EBADMSG,
                                 "trace damaged: site %" PRIu32 " of region %" PRIu32
                                 " was never touched, and is not empty",
                                 site, region_id);
            if (rows->rows[i].epoch == 0)
                continue;
            if (rows->rows[i].epoch > epoch)
                return fault_set(d->fault, -EBADMSG,
                                 "trace damaged: site %" PRIu32 " of region %" PRIu32
                                 " knows of a peak that never was",
                                 site, region_id);
            row_add(&sums[site], &rows->rows[i], epoch);
            touched[site] = true;
        }
    }
    return 0;
}

/*
 * Move the rows of a region that are not empty to the front of @rows, *ret_count of them. While
 * a region is open, its sites hold what they hold in the process: -EBADMSG when they do not.
 */
static int rows_finish(struct derivation *d, uint32_t region_id, struct profile_row *rows,
                       const bool *touched, size_t *ret_count) {
    const struct trace_region *region = &d->trace->regions[region_id];
    bool inherits = region_id != 0 && region->open && !(region->flags & TRACE_REGION_THREAD);
    bool exact = trace_events_in_flight(d->trace) == 0;
    size_t count = 0;
    for (uint32_t site = 0; site < d->trace->header->site_count; site++) {
        struct profile_row row = rows[site];
        row.site = site;
        if (!touched[site] && inherits)
            row.start = row.peak = row.end = d->process_live[site];
        else if (inherits && exact && !pair_is_equal(&row.end, &d->process_live[site]))
            return fault_set(d->fault, -EBADMSG,
                             "trace damaged: site %" PRIu32 " of region %" PRIu32
                             " has other bytes live than in the process",
                             site, region_id);
        if (region_id == 0)
            d->process_live[site] = row.end;
        if (!row_is_empty(&row))
            rows[count++] = row;
    }
    *ret_count = count;
    return 0;
}

static int rows_derive(struct derivation *d, uint32_t region_id, struct profile_row *ret_rows,
                       size_t *ret_count) {
    uint32_t site_count = d->trace->header->site_count;
    memset(ret_rows, 0, site_count * sizeof(*ret_rows));
    memset(d->touched, 0, site_count * sizeof(*d->touched));
    int r = rows_add(d, region_id, ret_rows, d->touched);
    return r < 0 ? r : rows_finish(d, region_id, ret_rows, d->touched, ret_count);
}

static void totals_derive(const struct trace_totals *from, struct profile_totals *ret) {
    *ret = (struct profile_totals){
        .start = pair_of(&from->start),
        .end = pair_of(&from->live),
        .allocated = pair_of(&from->allocated),
        .freed = pair_of(&from->freed),
        .peak_bytes = (int64_t)from->peak.bytes,
        .temporary = (int64_t)from->temporary,
        .largest_bytes = (int64_t)from->largest_bytes,
        .failed = (int64_t)from->failed,
        .reallocations = (int64_t)from->reallocations,
        .owned_peak_bytes = from->owned_peak_bytes,
    };
}

/* What the rows of one region add up to, by space. */
static void rows_sum(const struct profile *profile, const struct profile_region *region,
                     struct profile_totals ret_sums[TRACE_SPACES]) {
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        struct profile_totals *sum = &ret_sums[profile->sites[row->site].space];
        pair_sum(&sum->start, &row->start);
        pair_sum(&sum->end, &row->end);
        pair_sum(&sum->allocated, &row->allocated);
        pair_sum(&sum->freed, &row->freed);
        sum->peak_bytes = (int64_t)((uint64_t)sum->peak_bytes + (uint64_t)row->peak.bytes);
        sum->temporary = (int64_t)((uint64_t)sum->temporary + (uint64_t)row->temporary);
    }
}

/* The event that was cut short, finished: live from the rows, and its new peak if it is one. */
static void totals_finish(const struct profile *profile, struct profile_totals *totals,
                          const struct profile_totals *sum, struct profile_row *rows,
                          size_t rows_count, size_t space) {
    totals->end = sum->end;
    if (sum->end.bytes <= sum->peak_bytes)
        return;
    totals->peak_bytes = sum->end.bytes;
    for (size_t i = 0; i < rows_count; i++)
        if (profile->sites[rows[i].site].space == space)
            rows[i].peak = rows[i].end;
}

/*
 * Rows may be ahead of their record, by no more than the events that were being written; if
 * that is one, by the same in every region where they are.
 */
static int lag_check(struct derivation *d, size_t space, const struct profile_pair *record,
                     const struct profile_pair *rows) {
    int64_t limit = trace_events_in_flight(d->trace);
    struct profile_pair lag = {(int64_t)((uint64_t)rows->blocks - (uint64_t)record->blocks),
                               (int64_t)((uint64_t)rows->bytes - (uint64_t)record->bytes)};
    if (lag.blocks == 0 && lag.bytes == 0)
        return 0;
    if (d->lag_space < 0) {
        d->lag_space = (int)space;
        d->lag = lag;
    }
    bool same =
        d->lag_space == (int)space && d->lag.blocks == lag.blocks && d->lag.bytes == lag.bytes;
    if ((same || limit > 1) && lag.blocks >= -limit && lag.blocks <= limit)
        return 0;
    return fault_set(d->fault, -EBADMSG,
                     "trace damaged: rows are ahead of their region by more than the process "
                     "was doing when it died");
}

/* An open region's counts are in its rows only; its record gets them when it ends. */
static int open_totals_derive(struct derivation *d, struct profile_region *region,
                              struct profile_row *rows, bool live_lags) {
    const struct profile *profile = d->profile;
    struct profile_totals sums[TRACE_SPACES] = {0};
    rows_sum(profile, region, sums);
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        struct profile_totals *totals = &region->totals[space];
        int r = profile->cut && !live_lags ? lag_check(d, space, &totals->end, &sums[space].end)
                                           : 0;
        if (r < 0)
            return r;
        totals->allocated = sums[space].allocated;
        totals->freed = sums[space].freed;
        totals->temporary = sums[space].temporary;
        if (live_lags)
            totals->end = sums[space].end;
        if (profile->cut)
            totals_finish(profile, totals, &sums[space], rows, region->rows_count, space);
    }
    return 0;
}

/* What an open region's record does not have yet, whether rows are there or not. */
static void open_record_derive(struct profile_region *region, bool is_process) {
    region->combined_end_bytes = (int64_t)((uint64_t)region->totals[TRACE_HEAP].end.bytes +
                                           (uint64_t)region->totals[TRACE_MAP_ANON].end.bytes);
    /* The process owns whatever was allocated: nothing is counted twice for it. */
    for (size_t space = 0; is_process && space < TRACE_SPACES; space++)
        region->totals[space].owned_peak_bytes = region->totals[space].peak_bytes;
}

/* What lanes count for themselves. */
static void lanes_add(const struct trace *trace, struct profile_totals *heap) {
    for (size_t i = 0; i < TRACE_LANES_MAX; i++) {
        const struct trace_lane *lane = trace->lanes[i];
        if (!lane)
            continue;
        if ((int64_t)lane->largest_bytes > heap->largest_bytes)
            heap->largest_bytes = (int64_t)lane->largest_bytes;
        heap->reallocations = (int64_t)((uint64_t)heap->reallocations + lane->reallocations);
    }
}

/* The fields that are the same in the record, ended or not. */
static struct profile_region record_of(const struct derivation *d, uint32_t id) {
    const struct trace_region *from = &d->trace->regions[id];
    struct profile_region region = {
        .instance = from->instance,
        .thread = from->flags & TRACE_REGION_THREAD ? from->begin_thread : 0,
        .parent = from->parent,
        .open = from->open != 0,
        .has_rows = !(from->flags & TRACE_REGION_NO_ROWS) && !d->trace->truncated,
        .begin_elapsed_ns = (int64_t)from->begin_elapsed_ns,
        .end_elapsed_ns = (int64_t)from->end_elapsed_ns,
        .cpu_ns = from->end_cpu_ns > from->begin_cpu_ns
                      ? (int64_t)(from->end_cpu_ns - from->begin_cpu_ns)
                      : 0,
        .combined_start_bytes = from->combined_start_bytes,
        .combined_peak_bytes = from->combined_peak_bytes,
        .combined_end_bytes = from->combined_end_bytes,
    };
    for (size_t space = 0; space < TRACE_SPACES; space++)
        totals_derive(&from->space[space], &region.totals[space]);
    if (id == 0)
        lanes_add(d->trace, &region.totals[TRACE_HEAP]);
    return region;
}

static int region_rows_derive(struct derivation *d, uint32_t id, struct profile_row *scratch,
                              struct profile_region *region) {
    const struct trace *trace = d->trace;
    size_t count = 0;
    int r = rows_derive(d, id, scratch, &count);
    if (r < 0)
        return r;
    struct profile_row *rows = arena_array(&d->profile->arena, count, sizeof(*rows));
    if (!rows)
        return out_of_memory(d->fault);
    memcpy(rows, scratch, count * sizeof(*rows));
    region->rows = rows;
    region->rows_count = count;
    /* A thread that is alone books in a lane, too: that of number 0. */
    bool in_lanes = trace->lanes[0] || trace_has_lanes(trace);
    bool live_lags = id == 0 && in_lanes && !trace_has_ended(trace);
    return region->open ? open_totals_derive(d, region, rows, live_lags) : 0;
}

/* What profile_check() does not see any more. */
static int record_check(struct derivation *d, uint32_t id) {
    const struct trace_region *region = &d->trace->regions[id];
    bool exact = trace_events_in_flight(d->trace) == 0;
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        const struct trace_totals *totals = &region->space[space];
        if (totals->peak.epoch == 0 ||
            (exact && (totals->owned_live_bytes < 0 ||
                       totals->owned_live_bytes > totals->owned_peak_bytes ||
                       (!(region->flags & TRACE_REGION_THREAD) &&
                        totals->owned_peak_bytes > (int64_t)totals->peak.bytes))))
            return fault_set(
                d->fault, -EBADMSG,
                "trace damaged: totals of region %" PRIu32 " contradict each other", id);
    }
    return 0;
}

static int region_derive(struct derivation *d, uint32_t id, struct profile_row *scratch,
                         struct profile_region *ret) {
    const struct trace_region *from = &d->trace->regions[id];
    *ret = record_of(d, id);
    ret->name =
        arena_text(&d->profile->arena, from->name, strnlen(from->name, sizeof(from->name)));
    int r = ret->name ? record_check(d, id) : out_of_memory(d->fault);
    if (r == 0 && ret->has_rows)
        r = region_rows_derive(d, id, scratch, ret);
    if (ret->open)
        open_record_derive(ret, id == 0);
    return r < 0 ? r : profile_extras_derive(d, id, ret);
}

int profile_regions_derive(struct derivation *d) {
    struct profile *profile = d->profile;
    uint32_t count = d->trace->header->region_count;
    uint32_t site_count = d->trace->header->site_count;
    struct profile_region *regions = arena_array(&profile->arena, count, sizeof(*regions));
    struct profile_row *scratch = calloc(site_count, sizeof(*scratch));
    d->process_live = calloc(site_count, sizeof(*d->process_live));
    d->touched = calloc(site_count, sizeof(*d->touched));

    d->lag_space = -1;
    int r = regions && scratch && d->process_live && d->touched ? 0 : out_of_memory(d->fault);
    for (uint32_t id = 0; r == 0 && id < count; id++)
        r = region_derive(d, id, scratch, &regions[id]);
    free(scratch);
    free(d->process_live);
    free(d->touched);
    if (r < 0)
        return r;
    profile->regions = regions;
    profile->region_count = count;
    return 0;
}
