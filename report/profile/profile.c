/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c: the checks that every profile passes, whether it was derived from a trace or read
 * from a store, and the words for what a recorder can miss.
 *
 * The invariants are the reason to believe a number: the sites' bytes at the peak add up to the
 * peak, their live bytes to live, their starts to start. A profile that breaks one is refused,
 * never shown.
 */
#include "profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct profile_gap_text gap_texts[PROFILE_GAPS] = {
    [PROFILE_EVENTS_LOST] = {"events_lost", "allocations or frees not recorded",
                             "allocation or free not recorded", true, false},
    [PROFILE_UNKNOWN_FREES] = {"unknown_frees", "frees of blocks never seen allocated",
                               "free of a block never seen allocated", true, false},
    [PROFILE_TABLE_REFUSED] = {"table_refused", "times no memory for the table of live blocks",
                               "time no memory for the table of live blocks", true, false},
    [PROFILE_FILE_REFUSED] = {"file_refused", "times the trace file could not grow",
                              "time the trace file could not grow", false, false},
    [PROFILE_STACKS_MISSING] = {"stacks_missing", "allocations without a call stack",
                                "allocation without a call stack", false, false},
    [PROFILE_STACKS_OTHER] = {"stacks_other",
                              "allocations booked on \"other\", a table was full",
                              "allocation booked on \"other\", a table was full", false, false},
    [PROFILE_FORKED_CHILDREN] = {"forked_children", "forked children not measured",
                                 "forked child not measured", true, false},
    [PROFILE_UNBALANCED_ENDS] = {"unbalanced_ends", "region ends without a begin",
                                 "region end without a begin", false, false},
    [PROFILE_REGIONS_DROPPED] = {"regions_dropped", "regions beyond the limit not measured",
                                 "region beyond the limit not measured", true, false},
    [PROFILE_SETTINGS_IGNORED] = {"settings_ignored", "VOTRACE_* settings not understood",
                                  "VOTRACE_* setting not understood", false, false},
    [PROFILE_MALLOC_ELSEWHERE] =
        {"malloc_elsewhere", "the program brings its own malloc: its allocations were not seen",
         "the program brings its own malloc: its allocations were not seen", true, true},
};

const char *profile_space_words(enum trace_space space) {
    static const char *const words[] = {"heap", "anonymous mappings", "file mappings",
                                        "reserved addresses"};
    _Static_assert(sizeof(words) / sizeof(words[0]) == TRACE_SPACES, "a word for each space");
    return words[space];
}

const struct profile_gap_text *profile_gap_text(enum profile_gap gap) {
    return &gap_texts[gap];
}

const char *profile_gap_meaning(enum profile_gap gap, int64_t count) {
    return count == 1 ? gap_texts[gap].singular : gap_texts[gap].meaning;
}

bool profile_is_incomplete(const struct profile *profile) {
    for (size_t i = 0; i < PROFILE_GAPS; i++)
        if (profile->gaps[i] != 0 && gap_texts[i].spoils_the_sums)
            return true;
    bool ended = profile->end == PROFILE_ENDED || profile->end == PROFILE_EXECED;
    return !ended || profile->truncated || profile->cut;
}

int64_t profile_peak_added(const struct profile_totals *totals) {
    return totals->peak_bytes - totals->start.bytes;
}

int64_t profile_net(const struct profile_totals *totals) {
    return totals->end.bytes - totals->start.bytes;
}

int64_t profile_slack(const struct profile_region *region) {
    return region->usable_peak_bytes - region->totals[TRACE_HEAP].peak_bytes;
}

bool profile_counts_are_known(const struct profile_region *region) {
    return region->has_rows || region->pruned || !region->open;
}

static int tables_check(const struct profile *profile, struct fault *fault) {
    const char *what = "call stacks";
    if (profile->node_count == 0 || profile->module_count == 0)
        goto bad;
    for (size_t i = 1; i < profile->node_count; i++)
        if (profile->nodes[i].parent >= i || profile->nodes[i].frame >= profile->frame_count)
            goto bad;
    what = "frames";
    for (size_t i = 0; i < profile->frame_count; i++)
        if (profile->frames[i].module >= profile->module_count)
            goto bad;
    what = "call sites";
    for (size_t i = 0; i < profile->site_count; i++)
        if (profile->sites[i].node >= profile->node_count ||
            profile->sites[i].space >= TRACE_SPACES)
            goto bad;
    what = "regions";
    if (profile->region_count == 0)
        goto bad;
    for (size_t i = 0; i < profile->region_count; i++)
        if (profile->regions[i].parent > i || (i > 0 && profile->regions[i].parent == i))
            goto bad;
    return 0;
bad:
    return fault_set(fault, -EBADMSG, "damaged: its %s point nowhere", what);
}

static bool pair_is_sane(const struct profile_pair *pair) {
    return pair->blocks >= 0 && pair->bytes >= 0;
}

/* What is live cannot be less than nothing, unless others' blocks count as well. */
static bool live_is_sane(const struct profile_region *region, const struct profile_pair *live) {
    return region->thread != 0 || pair_is_sane(live);
}

/* Sums saturate: a sum that does not fit equals no total that passed the checks. */
static void sum_add(int64_t *sum, int64_t value) {
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = value > 0 ? INT64_MAX : INT64_MIN;
}

static void pair_add(struct profile_pair *sum, const struct profile_pair *value) {
    sum_add(&sum->blocks, value->blocks);
    sum_add(&sum->bytes, value->bytes);
}

static int region_fault(const struct profile_region *region, struct fault *fault,
                        const char *what) {
    return fault_set(fault, -EBADMSG, "damaged: region \"%s\" (instance %" PRIu32 ") %s",
                     region->name, region->instance, what);
}

static int totals_fault(const struct profile_region *region, size_t space, struct fault *fault,
                        const char *what, int64_t sites, int64_t says) {
    return fault_set(fault, -EBADMSG,
                     "damaged: region \"%s\" (instance %" PRIu32 ", %s): %s add up to %" PRId64
                     ", its total says %" PRId64,
                     region->name, region->instance,
                     profile_space_words((enum trace_space)space), what, sites, says);
}

/* start + allocated - freed, which is what is live at the end. */
static struct profile_pair end_of(const struct profile_totals *totals) {
    struct profile_pair end = totals->start;
    pair_add(&end, &totals->allocated);
    pair_add(&end, &(struct profile_pair){-totals->freed.blocks, -totals->freed.bytes});
    return end;
}

static int totals_check(const struct profile_region *region, size_t space,
                        struct fault *fault) {
    const struct profile_totals *totals = &region->totals[space];
    const struct profile_pair *pairs[] = {&totals->start, &totals->allocated, &totals->freed};
    const int64_t counts[] = {totals->temporary, totals->largest_bytes, totals->failed,
                              totals->reallocations, totals->owned_peak_bytes};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i] < 0)
            return totals_fault(region, space, fault, "its counts", 0, counts[i]);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (!pair_is_sane(pairs[i]))
            return totals_fault(region, space, fault, "bytes or blocks", 0, pairs[i]->bytes);
    if (!live_is_sane(region, &totals->end))
        return totals_fault(region, space, fault, "bytes or blocks", 0, totals->end.bytes);
    if (region->thread != 0 && (totals->start.blocks != 0 || totals->start.bytes != 0))
        return totals_fault(region, space, fault, "a thread's bytes at the start", 0,
                            totals->start.bytes);

    int64_t least =
        totals->start.bytes > totals->end.bytes ? totals->start.bytes : totals->end.bytes;
    if (totals->peak_bytes < least)
        return totals_fault(region, space, fault, "live bytes before or after the peak", least,
                            totals->peak_bytes);
    if (!profile_counts_are_known(region))
        return 0;
    struct profile_pair end = end_of(totals);
    if (end.blocks != totals->end.blocks)
        return totals_fault(region, space, fault, "start, allocations and frees", end.blocks,
                            totals->end.blocks);
    if (end.bytes != totals->end.bytes)
        return totals_fault(region, space, fault, "start, allocated and freed bytes", end.bytes,
                            totals->end.bytes);
    int64_t given = totals->start.bytes;
    sum_add(&given, totals->allocated.bytes);
    if (!region->has_rows && totals->peak_bytes > given)
        return totals_fault(region, space, fault, "bytes at the peak beyond the allocated",
                            given, totals->peak_bytes);
    return 0;
}

static bool row_is_sane(const struct profile_region *region, const struct profile_row *row) {
    return pair_is_sane(&row->allocated) && pair_is_sane(&row->freed) &&
           pair_is_sane(&row->start) &&
           (region->thread == 0 || (row->start.blocks == 0 && row->start.bytes == 0)) &&
           live_is_sane(region, &row->peak) && live_is_sane(region, &row->end) &&
           row->temporary >= 0;
}

/* A site holds no more than it was ever given, and no bytes without a block. */
static bool row_is_possible(const struct profile_region *region,
                            const struct profile_row *row) {
    struct profile_pair given = row->start;
    pair_add(&given, &row->allocated);
    if (row->peak.blocks > given.blocks || row->peak.bytes > given.bytes)
        return false;
    const struct profile_pair *held[] = {&row->start, &row->peak, &row->end};
    for (size_t i = 0; region->thread == 0 && i < sizeof(held) / sizeof(held[0]); i++)
        if (held[i]->blocks == 0 && held[i]->bytes != 0)
            return false;
    return true;
}

static int rows_check(const struct profile *profile, const struct profile_region *region,
                      struct fault *fault) {
    struct profile_totals sums[TRACE_SPACES] = {0};
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        if (row->site >= profile->site_count ||
            (i > 0 && row->site <= region->rows[i - 1].site))
            return region_fault(region, fault, "names a call site that is not there");
        if (!row_is_sane(region, row))
            return region_fault(region, fault, "has a call site with a negative count");
        if (!row_is_possible(region, row))
            return region_fault(region, fault, "has a call site with more than it was given");
        struct profile_totals *sum = &sums[profile->sites[row->site].space];
        pair_add(&sum->start, &row->start);
        pair_add(&sum->end, &row->end);
        pair_add(&sum->allocated, &row->allocated);
        pair_add(&sum->freed, &row->freed);
        sum_add(&sum->peak_bytes, row->peak.bytes);
        sum_add(&sum->temporary, row->temporary);
    }
    for (size_t space = 0; space < TRACE_SPACES; space++) {
        const struct profile_totals *says = &region->totals[space];
        const struct {
            const char *what;
            int64_t sites, says;
        } facts[] = {
            {"its sites' bytes at the peak", sums[space].peak_bytes, says->peak_bytes},
            {"its sites' bytes at the start", sums[space].start.bytes, says->start.bytes},
            {"its sites' live bytes", sums[space].end.bytes, says->end.bytes},
            {"its sites' blocks at the start", sums[space].start.blocks, says->start.blocks},
            {"its sites' live blocks", sums[space].end.blocks, says->end.blocks},
            {"its sites' allocations", sums[space].allocated.blocks, says->allocated.blocks},
            {"its sites' allocated bytes", sums[space].allocated.bytes, says->allocated.bytes},
            {"its sites' frees", sums[space].freed.blocks, says->freed.blocks},
            {"its sites' freed bytes", sums[space].freed.bytes, says->freed.bytes},
            {"its sites' temporary blocks", sums[space].temporary, says->temporary},
        };
        for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
            if (facts[i].sites != facts[i].says)
                return totals_fault(region, space, fault, facts[i].what, facts[i].sites,
                                    facts[i].says);
    }
    return 0;
}

/* The peak is among the points, and none is above it. */
static int points_check(const struct profile_region *region, struct fault *fault) {
    int64_t peak = region->totals[TRACE_HEAP].peak_bytes;
    bool has_peak = region->points_count == 0;
    if (region->points_count > PROFILE_POINTS_MAX)
        return region_fault(region, fault, "has more points in time than were ever kept");
    for (size_t i = 0; i < region->points_count; i++) {
        const struct profile_point *point = &region->points[i];
        if (point->elapsed_ns < 0 || (i > 0 && point->elapsed_ns < point[-1].elapsed_ns))
            return region_fault(region, fault, "goes back in time");
        if (point->live_bytes > peak || (region->thread == 0 && point->live_bytes < 0))
            return region_fault(region, fault, "has a point in time with impossible bytes");
        has_peak |= point->live_bytes == peak;
    }
    return has_peak ? 0 : region_fault(region, fault, "never was at its peak");
}

static int64_t combined(int64_t heap, int64_t mapped) {
    sum_add(&heap, mapped);
    return heap;
}

/* Heap and anonymous mappings together: not the sum of the two peaks, but no more than that. */
static int combined_check(const struct profile *profile, const struct profile_region *region,
                          struct fault *fault) {
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    const struct profile_totals *anon = &region->totals[TRACE_MAP_ANON];
    int64_t peak = region->combined_peak_bytes;
    int64_t end = combined(heap->end.bytes, anon->end.bytes);
    /* What died inside an event, or was cut off, may have them from two moments. */
    bool exact = !profile->cut && !profile->truncated;
    if (region->combined_start_bytes != combined(heap->start.bytes, anon->start.bytes) ||
        peak < region->combined_start_bytes || region->combined_end_bytes != end ||
        (exact && (peak < end || peak > combined(heap->peak_bytes, anon->peak_bytes))))
        return region_fault(region, fault, "has other bytes of heap and mappings together");
    for (size_t space = 0; exact && region->thread == 0 && space < TRACE_SPACES; space++)
        if (region->totals[space].owned_peak_bytes > region->totals[space].peak_bytes)
            return region_fault(region, fault, "allocated more than was live");
    return 0;
}

static int extras_check(const struct profile_region *region, struct fault *fault) {
    for (size_t i = 0; region->sizes && i < TRACE_SIZE_BUCKETS; i++)
        if (region->sizes[i] < 0)
            return region_fault(region, fault, "has sizes with a negative count");
    const struct profile_totals *heap = &region->totals[TRACE_HEAP];
    if (region->usable_is_known && region->thread == 0 &&
        (region->usable_start_bytes < heap->start.bytes ||
         region->usable_peak_bytes < heap->peak_bytes ||
         region->usable_end_bytes < heap->end.bytes))
        return region_fault(region, fault, "was given less than it requested");
    return points_check(region, fault);
}

int profile_check(const struct profile *profile, struct fault *fault) {
    int r = tables_check(profile, fault);
    for (size_t i = 0; r == 0 && i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        for (size_t space = 0; r == 0 && space < TRACE_SPACES; space++)
            r = totals_check(region, space, fault);
        if (r == 0 && region->has_rows)
            r = rows_check(profile, region, fault);
        if (r == 0)
            r = combined_check(profile, region, fault);
        if (r == 0)
            r = extras_check(region, fault);
    }
    return r;
}

static const struct profile_module *module_of_node(const struct profile *profile,
                                                   uint32_t node) {
    return &profile->modules[profile->frames[profile->nodes[node].frame].module];
}

void profile_note_interpreters(struct profile *profile) {
    for (size_t i = 0; i < profile->module_count; i++)
        profile->modules[i].is_code = strcmp(profile->modules[i].path, PROFILE_CODE_PATH) == 0;
    for (size_t i = 1; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (parent == 0)
            continue;
        struct profile_module *outer =
            &profile->modules[profile->frames[profile->nodes[parent].frame].module];
        if (module_of_node(profile, (uint32_t)i)->is_code && !outer->is_code)
            outer->is_interpreter = true;
    }
}

static bool has_interpreters(const struct profile *profile) {
    for (size_t i = 0; i < profile->module_count; i++)
        if (profile->modules[i].is_interpreter)
            return true;
    return false;
}

int profile_fold_interpreters(struct profile *profile) {
    if (!has_interpreters(profile))
        return 0;
    struct profile_node *nodes =
        arena_array(&profile->arena, profile->node_count, sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    memcpy(nodes, profile->nodes, profile->node_count * sizeof(*nodes));
    for (uint32_t i = 1; i < profile->node_count; i++) {
        uint32_t caller = nodes[i].parent;
        if (!module_of_node(profile, i)->is_code)
            continue;
        while (caller != 0 && module_of_node(profile, caller)->is_interpreter)
            caller = nodes[caller].parent;
        nodes[i].parent = caller;
    }
    profile->native_nodes = profile->nodes;
    profile->nodes = nodes;
    return 0;
}

void profile_unfold_interpreters(struct profile *profile) {
    if (profile->native_nodes)
        profile->nodes = profile->native_nodes;
}

void profile_finish(struct profile *profile) {
    arena_finish(&profile->arena);
    memset(profile, 0, sizeof(*profile));
}
