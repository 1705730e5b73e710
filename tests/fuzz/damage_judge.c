/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_judge.c: read a damaged trace and see that the reader neither crashed nor lied.
 *
 * Nothing is held against a refusal but silence. What is accepted as whole has to keep every
 * invariant in the eyes of the witness, which has to come to the same sums. What is accepted as
 * cut off has to say so, show no sites, and, where the file was only cut, have the totals that
 * the whole file has.
 */
#include "damage.h"

#include "profile.h"
#include "trace_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than this the reader may not ask for, all requests added up, freed ones included. */
#define BYTES_FOR_A_BYTE 64
#define BYTES_FOR_A_FILE ((uint64_t)4 << 20)

struct damage_truth {
    uint64_t memory; /* hash over what was live, in totals and sites */
    uint64_t counts; /* and over what was allocated and freed */
    size_t region_count;
    struct profile_totals (*totals)[TRACE_SPACES]; /* by region */
};

__attribute__((format(printf, 2, 3))) static enum damage_verdict
broken(char why[DAMAGE_WHY_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, DAMAGE_WHY_BYTES, format, arguments);
    va_end(arguments);
    return DAMAGE_BROKEN;
}

/* FNV-1a, by words. */
static void hash_number(uint64_t *hash, int64_t number) {
    *hash = (*hash ^ (uint64_t)number) * UINT64_C(0x100000001b3);
    *hash ^= *hash >> 29;
}

static void hash_pair(uint64_t *hash, const struct profile_pair *pair) {
    hash_number(hash, pair->blocks);
    hash_number(hash, pair->bytes);
}

static void hash_profile(const struct profile *profile, uint64_t *ret_memory,
                         uint64_t *ret_counts) {
    uint64_t memory = UINT64_C(0xcbf29ce484222325);
    uint64_t counts = memory;
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct profile_region *region = &profile->regions[i];
        for (size_t space = 0; space < TRACE_SPACES; space++) {
            const struct profile_totals *totals = &region->totals[space];
            hash_pair(&memory, &totals->start);
            hash_pair(&memory, &totals->end);
            hash_number(&memory, totals->peak_bytes);
            hash_pair(&counts, &totals->allocated);
            hash_pair(&counts, &totals->freed);
        }
        for (size_t j = 0; j < region->rows_count; j++) {
            const struct profile_row *row = &region->rows[j];
            bool moved =
                row->start.blocks != 0 || row->peak.blocks != 0 || row->end.blocks != 0;
            if (moved) {
                hash_number(&memory, row->site);
                hash_pair(&memory, &row->start);
                hash_pair(&memory, &row->peak);
                hash_pair(&memory, &row->end);
            }
            hash_number(&counts, row->site);
            hash_pair(&counts, &row->allocated);
            hash_pair(&counts, &row->freed);
        }
    }
    *ret_memory = memory;
    *ret_counts = counts;
}

static bool sums_agree(const struct profile_totals *totals, const struct damage_sums *sums) {
    return totals->start.blocks == sums->start_blocks &&
           totals->start.bytes == sums->start_bytes &&
           totals->end.blocks == sums->live_blocks && totals->end.bytes == sums->live_bytes &&
           totals->peak_bytes == sums->peak_bytes &&
           totals->allocated.blocks == sums->allocated_blocks &&
           totals->allocated.bytes == sums->allocated_bytes &&
           totals->freed.blocks == sums->freed_blocks &&
           totals->freed.bytes == sums->freed_bytes;
}

/* Accepted as whole: ask the witness, and compare what both add up. */
static enum damage_verdict judge_whole(const struct damage_original *original,
                                       const struct profile *profile, const uint8_t *bytes,
                                       size_t size, char why[DAMAGE_WHY_BYTES]) {
    struct damage_sums *sums;
    unsigned in_event;
    if (damage_witness(bytes, size, &sums, &in_event, why) < 0)
        return DAMAGE_BROKEN;
    uint64_t memory, counts;
    hash_profile(profile, &memory, &counts);
    enum damage_verdict verdict = memory != original->truth->memory   ? DAMAGE_OTHER
                                  : counts != original->truth->counts ? DAMAGE_COUNTS
                                                                      : DAMAGE_SAME;
    for (size_t i = 0; in_event == 0 && i < profile->region_count; i++)
        for (size_t space = 0; profile->regions[i].has_rows && space < TRACE_SPACES; space++)
            if (!sums_agree(&profile->regions[i].totals[space],
                            &sums[i * TRACE_SPACES + space]))
                verdict =
                    broken(why, "region %zu space %zu: reader and witness differ", i, space);
    free(sums);
    return verdict;
}

/*
 * What the record of an open region has of live can be behind, so live is certain only for one
 * that ended; allocations and frees likewise, and they say so themselves.
 */
static bool totals_are_true(const struct profile_region *region, size_t space,
                            const struct profile_totals *truth) {
    const struct profile_totals *totals = &region->totals[space];
    if (totals->start.bytes != truth->start.bytes || totals->peak_bytes != truth->peak_bytes)
        return false;
    return region->open || (totals->end.bytes == truth->end.bytes &&
                            totals->allocated.bytes == truth->allocated.bytes &&
                            totals->freed.bytes == truth->freed.bytes);
}

static enum damage_verdict judge_cut(const struct damage_original *original,
                                     const struct profile *profile, bool only_cuts,
                                     char why[DAMAGE_WHY_BYTES]) {
    const struct damage_truth *truth = original->truth;
    if (!profile_is_incomplete(profile))
        return broken(why, "cut off, and called complete");
    for (size_t i = 0; i < profile->region_count; i++)
        if (profile->regions[i].has_rows)
            return broken(why, "cut off, and region %zu shows sites", i);
    if (!only_cuts)
        return DAMAGE_CUT;
    if (profile->region_count != truth->region_count)
        return broken(why, "%zu regions instead of %zu", profile->region_count,
                      truth->region_count);
    for (size_t i = 0; i < profile->region_count; i++)
        for (size_t space = 0; space < TRACE_SPACES; space++)
            if (!totals_are_true(&profile->regions[i], space, &truth->totals[i][space]))
                return broken(why, "region %zu space %zu: other totals than before the cut", i,
                              space);
    return DAMAGE_CUT;
}

static enum damage_verdict judge_profile(const struct damage_original *original,
                                         const struct damage_way *way,
                                         const struct profile *profile, const uint8_t *bytes,
                                         size_t size, char why[DAMAGE_WHY_BYTES]) {
    struct fault fault = {0};
    if (profile_check(profile, &fault) < 0)
        return broken(why, "accepted, and refused when checked again: %s", fault.text);
    if (way->only_cuts && profile->truncated != (size < original->used_bytes))
        return broken(why, "%zu of %" PRIu64 " bytes are there, and it is called %s", size,
                      original->used_bytes, profile->truncated ? "cut off" : "whole");
    return profile->truncated ? judge_cut(original, profile, way->only_cuts, why)
                              : judge_whole(original, profile, bytes, size, why);
}

/* 1 and @ret_profile when it is accepted, 0 when it is refused, -1 for a refusal in silence. */
static int read_profile(const uint8_t *bytes, size_t size, struct trace **ret_trace,
                        struct profile *ret_profile, struct fault *fault) {
    fault->text[0] = '\0';
    if (trace_from_bytes(bytes, size, ret_trace, fault) < 0)
        return fault->text[0] != '\0' ? 0 : -1;
    if (profile_from_trace(*ret_trace, ret_profile, fault) == 0)
        return 1;
    trace_close(*ret_trace);
    return fault->text[0] != '\0' ? 0 : -1;
}

enum damage_verdict damage_judge(const struct damage_original *original,
                                 const struct damage_way *way, const uint8_t *bytes,
                                 size_t size, char why[DAMAGE_WHY_BYTES]) {
    enum damage_verdict verdict = DAMAGE_REFUSED;
    struct fault fault;
    struct profile profile;
    struct trace *trace;

    damage_memory_begin();
    int accepted = read_profile(bytes, size, &trace, &profile, &fault);
    uint64_t requested_bytes = damage_memory_requested();
    if (accepted > 0) {
        verdict = judge_profile(original, way, &profile, bytes, size, why);
        profile_finish(&profile);
        trace_close(trace);
    }
    if (accepted < 0)
        return broken(why, "refused without a word");
    if (accepted == 0 && way->only_cuts && size >= original->used_bytes)
        return broken(why, "nothing is missing, and it is refused: %s", fault.text);
    if (damage_memory_blocks() != 0)
        return broken(why, "%" PRIi64 " blocks were not freed", damage_memory_blocks());
    if (requested_bytes > size * BYTES_FOR_A_BYTE + BYTES_FOR_A_FILE)
        return broken(why, "%" PRIu64 " bytes of memory for a file of %zu", requested_bytes,
                      size);
    return verdict;
}

struct damage_truth *damage_truth_of(const uint8_t *bytes, size_t size,
                                     char why[DAMAGE_WHY_BYTES]) {
    struct fault fault;
    struct profile profile;
    struct trace *trace;
    if (read_profile(bytes, size, &trace, &profile, &fault) <= 0) {
        snprintf(why, DAMAGE_WHY_BYTES, "%s", fault.text);
        return NULL;
    }
    struct damage_truth *truth = calloc(1, sizeof(*truth));
    if (truth == NULL)
        abort();
    hash_profile(&profile, &truth->memory, &truth->counts);
    truth->region_count = profile.region_count;
    truth->totals = calloc(profile.region_count, sizeof(*truth->totals));
    if (truth->totals == NULL)
        abort();
    for (size_t i = 0; i < profile.region_count; i++)
        memcpy(truth->totals[i], profile.regions[i].totals, sizeof(truth->totals[i]));
    profile_finish(&profile);
    trace_close(trace);
    return truth;
}

void damage_truth_free(struct damage_truth *truth) {
    if (truth != NULL)
        free(truth->totals);
    free(truth);
}
