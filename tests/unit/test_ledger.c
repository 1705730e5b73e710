/* SPDX-License-Identifier: BSD-3-Clause */
/* The accounting: by hand where the epoch rule shows, and against a model that copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blocks.h"
#include "ledger.h"
#include "random.h"
#include "sysmem_wrap.h"
#include "trace_scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace_scratch scratch;
static struct tracefile file;
static struct stacktree *tree;
static struct ledger *ledger;
static const struct ledger_moment moment = {.elapsed_ns = 5, .cpu_ns = 6, .thread = 7};

static int setup(void **state) {
    trace_scratch_init(&scratch);
    tree = calloc(1, sizeof(*tree));
    ledger = calloc(1, sizeof(*ledger));
    assert_int_equal(tracefile_open(&file, scratch.path), 0);
    file.header->depth_limit = BACKTRACE_DEPTH_MAX;
    assert_int_equal(stacktree_init(tree, &file), 0);
    assert_int_equal(ledger_init(ledger, &file, tree, &moment), 0);
    return 0;
}

static int teardown(void **state) {
    trace_scratch_finish(&scratch);
    free(tree);
    free(ledger);
    return 0;
}

static uint32_t add_site(uintptr_t address, enum trace_space space) {
    struct backtrace backtrace = {0};
    bool other;
    backtrace_set(&backtrace, &address, 1, false);
    return stacktree_add(tree, &backtrace, space, &other);
}

static void allocate(uint32_t site, uint64_t bytes) {
    assert_true(ledger_allocate(ledger, stacktree_site(tree, site)->space, site, 1, bytes));
}

static void release(uint32_t site, uint64_t bytes, uint32_t birth) {
    assert_true(
        ledger_free(ledger, stacktree_site(tree, site)->space, site, 1, bytes, birth, false));
}

static struct votrace_region_totals query(const char *name) {
    struct votrace_region_totals totals;
    assert_int_equal(ledger_query(ledger, name, &totals), 0);
    return totals;
}

/* Bytes that @site held at the peak of region @region, by the layout's rule. */
static uint64_t at_peak(uint32_t region, uint32_t site) {
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    const struct trace_row *row = trace_check_row(&check, region, site);
    assert_non_null(row);
    uint64_t epoch = check.regions[region]->space[check.sites[site]->space].peak.epoch;
    uint64_t bytes = row->epoch < epoch
                         ? row->start.bytes + row->allocated.bytes - row->freed.bytes
                         : row->peak.bytes;
    trace_scratch_check_finish(&check);
    return bytes;
}

/* A: +100, B: +50, A: -100, B: +20. The peak is 150, and A held 100 of it though it is gone. */
static void test_a_site_that_shrank_after_the_peak_is_as_it_was_at_the_peak(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t b = add_site(0xb, TRACE_HEAP);
    allocate(a, 100);
    allocate(b, 50);
    release(a, 100, 1);
    allocate(b, 20);
    struct votrace_region_totals totals = query("process");
    assert_int_equal(totals.live_peak_bytes, 150);
    assert_int_equal(totals.live_bytes, 70);
    assert_int_equal(at_peak(0, a), 100);
    assert_int_equal(at_peak(0, b), 50);
    /* A second peak makes the first one's snapshots old. */
    allocate(a, 90);
    assert_int_equal(query("process").live_peak_bytes, 160);
    assert_int_equal(at_peak(0, a), 90);
    assert_int_equal(at_peak(0, b), 70);
}

/* As high as the peak is no new peak: the split stays the first one's. */
static void test_the_first_of_two_equal_peaks_counts(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t b = add_site(0xb, TRACE_HEAP);
    allocate(a, 100);
    release(a, 100, 1);
    allocate(b, 100);
    assert_int_equal(at_peak(0, a), 100);
    assert_int_equal(at_peak(0, b), 0);
}

/* Before the region: A 100. In it: A freed, B +30. Peak added 0; at its begin A held 100. */
static void test_a_region_that_frees_what_was_there_adds_nothing(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t b = add_site(0xb, TRACE_HEAP);
    allocate(a, 100);
    uint32_t birth = ledger->begun;
    assert_int_equal(ledger_begin(ledger, "r", &moment), 0);
    release(a, 100, birth);
    allocate(b, 30);
    struct votrace_region_totals totals = query("r");
    assert_int_equal(totals.live_start_bytes, 100);
    assert_int_equal(totals.live_peak_bytes, 100);
    assert_int_equal(totals.peak_added_bytes, 0);
    assert_int_equal(totals.net_bytes, -70);
    assert_int_equal(totals.owned_peak_bytes, 30);
    assert_int_equal(totals.allocations, 1);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(totals.allocated_bytes, 30);
    assert_int_equal(totals.freed_bytes, 100);
    assert_int_equal(at_peak(1, a), 100);
    assert_int_equal(ledger_end(ledger, "r", &moment), 0);
    assert_int_equal(at_peak(1, a), 100);
    assert_int_equal(at_peak(1, b), 0);
}

/* A peak before the region must not hide the region's own. */
static void test_a_peak_before_the_region_does_not_hide_the_regions_own(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    allocate(a, 1000);
    release(a, 1000, 1);
    ledger_begin(ledger, "r", &moment);
    allocate(a, 10);
    assert_int_equal(query("process").live_peak_bytes, 1000);
    assert_int_equal(query("r").live_peak_bytes, 10);
    assert_int_equal(at_peak(1, a), 10);
    assert_int_equal(at_peak(0, a), 1000);
}

static void test_a_region_keeps_the_live_of_sites_it_never_touched(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t b = add_site(0xb, TRACE_HEAP);
    allocate(a, 64);
    ledger_begin(ledger, "r", &moment);
    allocate(b, 1);
    ledger_end(ledger, "r", &moment);
    release(a, 64, 1);
    assert_int_equal(at_peak(1, a), 64);
}

static void test_a_combined_peak_is_not_the_sum_of_two_peaks(void **state) {
    uint32_t heap = add_site(0xa, TRACE_HEAP);
    uint32_t anon = add_site(0xb, TRACE_MAP_ANON);
    uint32_t mapped_file = add_site(0xc, TRACE_MAP_FILE);
    ledger_begin(ledger, "r", &moment);
    allocate(heap, 100);
    release(heap, 100, 2);
    allocate(anon, 4096);
    allocate(mapped_file, 8192);
    allocate(heap, 50);
    struct votrace_region_totals totals = query("r");
    assert_int_equal(totals.peak_added_bytes, 100);
    assert_int_equal(totals.map_anon_peak_added_bytes, 4096);
    assert_int_equal(totals.combined_peak_added_bytes, 4146);
}

static void test_the_youngest_open_region_of_a_name_ends_first(void **state) {
    ledger_begin(ledger, "r", &moment);
    ledger_begin(ledger, "r", &moment);
    ledger_begin(ledger, "s", &moment);
    assert_int_equal(query("r").instance, 2);
    assert_int_equal(ledger_end(ledger, "r", &moment), 0);
    assert_int_equal(query("r").open, 0);
    assert_int_equal(query("s").open, 1);
    assert_int_equal(ledger_end(ledger, "r", &moment), 0);
    assert_int_equal(ledger_end(ledger, "r", &moment), -ENOENT);
    assert_int_equal(file.header->completeness.unbalanced_ends, 1);
    assert_int_equal(ledger->open_count, 2);
}

static void test_the_process_region_cannot_be_ended(void **state) {
    assert_int_equal(ledger_end(ledger, "process", &moment), -ENOENT);
    assert_int_equal(query("process").open, 1);
    assert_int_equal(file.header->completeness.unbalanced_ends, 1);
}

/* The name belongs to region 0: a query for it must not find another. */
static void test_a_marked_region_cannot_take_the_name_of_the_process(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    allocate(a, 100);
    assert_int_equal(ledger_begin(ledger, "process", &moment), -ENOSPC);
    assert_int_equal(file.header->completeness.regions_dropped, 1);
    allocate(a, 50);
    assert_int_equal(query("process").peak_added_bytes, 150);
    assert_int_equal(ledger_end(ledger, "process", &moment), 0);
    assert_int_equal(query("process").open, 1);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
}

static void test_an_unknown_name_is_not_found(void **state) {
    struct votrace_region_totals totals;
    assert_int_equal(ledger_query(ledger, "nowhere", &totals), -ENOENT);
    assert_int_equal(ledger_end(ledger, "nowhere", &moment), -ENOENT);
}

static void test_names_are_kept_to_63_bytes_and_found_by_the_whole(void **state) {
    char name[100];
    memset(name, 'n', sizeof(name) - 1);
    name[99] = '\0';
    assert_int_equal(ledger_begin(ledger, name, &moment), 0);
    assert_int_equal(ledger_begin(ledger, "", &moment), 0);
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(strlen(check.regions[1]->name), 63);
    trace_scratch_check_finish(&check);
    assert_int_equal(query(name).open, 1);
    assert_int_equal(query("").instance, 1);
    assert_int_equal(ledger_end(ledger, name, &moment), 0);
    name[62] = '\0'; /* 62 bytes are another name */
    assert_int_equal(ledger_end(ledger, name, &moment), -ENOENT);
}

static void test_only_the_worst_instances_keep_their_rows(void **state) {
    static const unsigned peaks[20] = {5, 1, 9, 3,  14, 2, 16, 8,  4,  20,
                                       6, 7, 1, 18, 11, 2, 13, 19, 17, 15};
    uint32_t a = add_site(0xa, TRACE_HEAP);
    for (unsigned i = 0; i < 20; i++) {
        ledger_begin(ledger, "r", &moment);
        allocate(a, peaks[i]);
        release(a, peaks[i], ledger->begun);
        ledger_end(ledger, "r", &moment);
    }
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    for (unsigned i = 0; i < 20; i++) {
        bool kept = (check.regions[1 + i]->flags & TRACE_REGION_NO_ROWS) == 0;
        assert_int_equal(kept, peaks[i] >= 13); /* 20 19 18 17 16 15 14 13 */
        assert_int_equal(check.regions[1 + i]->space[TRACE_HEAP].peak.bytes, peaks[i]);
        assert_int_equal(check.regions[1 + i]->space[TRACE_HEAP].allocated.blocks, 1);
    }
    trace_scratch_check_finish(&check);
}

/* A recursion deeper than the limit: the ends of what was dropped must not end what was not. */
static void test_the_end_of_a_dropped_region_ends_no_other(void **state) {
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(ledger_begin(ledger, "deep", &moment),
                         i + 1 < LEDGER_OPEN_MAX ? 0 : -ENOSPC);
    unsigned dropped = 100 - (LEDGER_OPEN_MAX - 1);
    assert_int_equal(file.header->completeness.regions_dropped, dropped);
    for (unsigned i = 0; i < dropped; i++) {
        ledger_end(ledger, "deep", &moment);
        assert_int_equal(ledger->open_count, LEDGER_OPEN_MAX);
    }
    for (unsigned i = 0; i < LEDGER_OPEN_MAX - 1; i++)
        assert_int_equal(ledger_end(ledger, "deep", &moment), 0);
    assert_int_equal(ledger->open_count, 1);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
    assert_int_equal(ledger_begin(ledger, "deep", &moment), 0);
}

/* 300 names, of which 255 find a place beside "process": begun, and ended in the same order. */
static void test_the_ends_of_names_beyond_the_limit_are_not_unbalanced(void **state) {
    char name[16];
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 300; i++) {
            snprintf(name, sizeof(name), "region %u", i);
            bool fits = i < LEDGER_NAMES_MAX - 1;
            assert_int_equal(ledger_begin(ledger, name, &moment), fits ? 0 : -ENOSPC);
            assert_int_equal(ledger_end(ledger, name, &moment), 0);
        }
    }
    unsigned beyond = 300 - (LEDGER_NAMES_MAX - 1);
    assert_int_equal(file.header->completeness.regions_dropped, 2 * beyond);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
    assert_int_equal(ledger_end(ledger, "region 299", &moment), -ENOENT);
    assert_int_equal(file.header->completeness.unbalanced_ends, 1);
}

static void test_regions_beyond_the_limits_are_counted_as_dropped(void **state) {
    char name[16];
    for (unsigned i = 0; i < LEDGER_NAMES_MAX + 3; i++) {
        snprintf(name, sizeof(name), "name %u", i);
        int r = ledger_begin(ledger, name, &moment);
        assert_int_equal(r, i + 1 < LEDGER_NAMES_MAX ? 0 : -ENOSPC);
        if (r == 0)
            assert_int_equal(ledger_end(ledger, name, &moment), 0);
    }
    assert_int_equal(file.header->completeness.regions_dropped, 4);
    ledger->region_count = LEDGER_REGIONS_MAX;
    assert_int_equal(ledger_begin(ledger, "name 0", &moment), -ENOSPC);
    assert_int_equal(file.header->completeness.regions_dropped, 5);
}

static void test_refused_memory_loses_the_event_and_says_so(void **state) {
    uint32_t site = 0;
    for (uintptr_t i = 0; i < 4000; i++)
        site = add_site(0x1000 + i, TRACE_HEAP);
    file.left_bytes = 0;
    file.spilling = true; /* as if the file could not grow */
    sysmem_refuse_after(0);
    bool booked = ledger_allocate(ledger, TRACE_HEAP, site, 1, 10);
    int begun = ledger_begin(ledger, "r", &moment);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_false(booked);
    assert_int_equal(begun, -ENOSPC);
    assert_int_equal(file.header->completeness.events_lost, 1);
    assert_int_equal(file.header->completeness.regions_dropped, 1);
    assert_int_equal(query("process").live_bytes, 0);
    assert_int_equal(query("process").allocations, 0);
}

/* The model: a peak copies everything. */

#define SITES  90
#define BLOCKS 400
#define NAMES  4

struct model_region {
    bool open;
    uint32_t id;
    uint32_t name;
    int64_t start[SITES], live[SITES], peak[SITES];
    uint64_t allocations[SITES], frees[SITES];
    int64_t owned_live[TRACE_SPACES], owned_peak[TRACE_SPACES];
    int64_t combined_start, combined_peak;
};

struct model {
    uint32_t sites[SITES];
    enum trace_space spaces[SITES];
    struct model_region regions[2000];
    uint32_t region_count;
    struct {
        bool live;
        uint32_t site;
        int64_t bytes;
        uint32_t birth;
        uint32_t begun_regions;
    } blocks[BLOCKS];
};

static int64_t sum(const struct model *model, const int64_t *values, enum trace_space space) {
    int64_t total = 0;
    for (unsigned i = 0; i < SITES; i++)
        total += model->spaces[i] == space ? values[i] : 0;
    return total;
}

static int64_t combined(const struct model *model, const struct model_region *region) {
    return sum(model, region->live, TRACE_HEAP) + sum(model, region->live, TRACE_MAP_ANON);
}

static void model_begin(struct model *model, uint32_t name) {
    struct model_region *region = &model->regions[model->region_count];
    memset(region, 0, sizeof(*region));
    if (model->region_count > 0)
        memcpy(region->start, model->regions[0].live, sizeof(region->start));
    memcpy(region->live, region->start, sizeof(region->live));
    memcpy(region->peak, region->start, sizeof(region->peak));
    region->combined_start = region->combined_peak = combined(model, region);
    region->id = model->region_count;
    region->name = name;
    region->open = true;
    model->region_count++;
}

static void model_change(struct model *model, uint32_t block, int64_t sign) {
    uint32_t site = model->blocks[block].site;
    enum trace_space space = model->spaces[site];
    int64_t bytes = sign * model->blocks[block].bytes;
    for (uint32_t i = 0; i < model->region_count; i++) {
        struct model_region *region = &model->regions[i];
        if (!region->open)
            continue;
        region->live[site] += bytes;
        region->allocations[site] += sign > 0;
        region->frees[site] += sign < 0;
        if (sum(model, region->live, space) > sum(model, region->peak, space))
            for (unsigned s = 0; s < SITES; s++)
                if (model->spaces[s] == space)
                    region->peak[s] = region->live[s];
        if (combined(model, region) > region->combined_peak)
            region->combined_peak = combined(model, region);
        /* Blocks born while fewer regions had begun are not the region's own. */
        if (i > 0 && model->blocks[block].begun_regions > i) {
            region->owned_live[space] += bytes;
            if (region->owned_live[space] > region->owned_peak[space])
                region->owned_peak[space] = region->owned_live[space];
        }
    }
}

static void compare_sites(const struct model *model, const struct trace_check *check,
                          const struct model_region *region) {
    const struct trace_region *record = check->regions[region->id];
    for (unsigned s = 0; s < SITES; s++) {
        const struct trace_row *row = trace_check_row(check, region->id, model->sites[s]);
        if (row == NULL || row->epoch == 0) {
            /* Not touched: nothing has changed since the region began. */
            assert_int_equal(region->allocations[s] + region->frees[s], 0);
            assert_true(region->open || region->live[s] == 0);
            continue;
        }
        int64_t live = (int64_t)(row->start.bytes + row->allocated.bytes - row->freed.bytes);
        bool moved = row->epoch < record->space[model->spaces[s]].peak.epoch;
        assert_int_equal(row->start.bytes, region->start[s]);
        assert_int_equal(live, region->live[s]);
        assert_int_equal(moved ? live : (int64_t)row->peak.bytes, region->peak[s]);
        assert_int_equal(row->allocated.blocks, region->allocations[s]);
        assert_int_equal(row->freed.blocks, region->frees[s]);
    }
}

static void compare_region(const struct model *model, const struct trace_check *check,
                           const struct model_region *region) {
    const struct trace_region *record = check->regions[region->id];
    for (int space = 0; space < TRACE_SPACES; space++) {
        const struct trace_totals *totals = &record->space[space];
        enum trace_space s = (enum trace_space)space;
        assert_int_equal(totals->start.bytes, sum(model, region->start, s));
        assert_int_equal(totals->live.bytes, sum(model, region->live, s));
        assert_int_equal(totals->peak.bytes, sum(model, region->peak, s));
        if (region->id > 0) {
            assert_int_equal(totals->owned_live_bytes, region->owned_live[space]);
            assert_int_equal(totals->owned_peak_bytes, region->owned_peak[space]);
        }
    }
    assert_int_equal(record->open, region->open);
    assert_int_equal(record->combined_start_bytes, region->combined_start);
    assert_int_equal(record->combined_peak_bytes, region->combined_peak);
    if ((record->flags & TRACE_REGION_NO_ROWS) == 0)
        compare_sites(model, check, region);
}

static void compare(const struct model *model) {
    struct trace_check check;
    trace_scratch_check(scratch.path, &check); /* all invariants of trace_layout.h */
    assert_int_equal(check.header->region_count, model->region_count);
    for (uint32_t i = 0; i < model->region_count; i++)
        compare_region(model, &check, &model->regions[i]);
    trace_scratch_check_finish(&check);
}

static void step_block(struct model *model, struct random *random) {
    uint32_t block = (uint32_t)random_below(random, BLOCKS);
    if (model->blocks[block].live) {
        uint32_t site = model->blocks[block].site;
        release(model->sites[site], (uint64_t)model->blocks[block].bytes,
                model->blocks[block].birth);
        model_change(model, block, -1);
        model->blocks[block].live = false;
        return;
    }
    uint32_t site = (uint32_t)random_below(random, SITES);
    model->blocks[block].live = true;
    model->blocks[block].site = site;
    model->blocks[block].bytes =
        (int64_t)(random_below(random, 1000) >> random_below(random, 9));
    model->blocks[block].birth = ledger->begun;
    model->blocks[block].begun_regions = model->region_count;
    allocate(model->sites[site], (uint64_t)model->blocks[block].bytes);
    model_change(model, block, 1);
}

static void step_region(struct model *model, struct random *random) {
    static const char *const names[NAMES] = {"a", "b", "c", "d"};
    uint32_t name = (uint32_t)random_below(random, NAMES);
    if (random_below(random, 2) == 0 && ledger->open_count < 10 && model->region_count < 2000) {
        assert_int_equal(ledger_begin(ledger, names[name], &moment), 0);
        model_begin(model, name);
        return;
    }
    uint32_t at = model->region_count;
    while (at-- > 1)
        if (model->regions[at].open && model->regions[at].name == name)
            break;
    assert_int_equal(ledger_end(ledger, names[name], &moment), at > 0 ? 0 : -ENOENT);
    if (at > 0)
        model->regions[at].open = false;
}

static void test_random_bookings_agree_with_a_model_that_copies_at_every_peak(void **state) {
    struct model *model = calloc(1, sizeof(*model));
    struct random random = {31};
    for (unsigned i = 0; i < SITES; i++) {
        model->spaces[i] = i % 10 == 0   ? TRACE_MAP_ANON
                           : i % 10 == 1 ? TRACE_MAP_FILE
                                         : TRACE_HEAP;
        /* Sparse, so that rows come in many chunks. */
        for (unsigned k = 0; k < 9; k++)
            model->sites[i] = add_site(0x1000 + i * 16 + k, model->spaces[i]);
    }
    model_begin(model, NAMES);
    for (unsigned i = 0; i < 12000; i++) {
        if (random_below(&random, 25) == 0)
            step_region(model, &random);
        else
            step_block(model, &random);
        if (i % 100 == 0)
            compare(model);
    }
    while (ledger->open_count > 1) {
        step_region(model, &random);
        compare(model);
    }
    free(model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_site_that_shrank_after_the_peak_is_as_it_was_at_the_peak),
        TEST(test_the_first_of_two_equal_peaks_counts),
        TEST(test_a_region_that_frees_what_was_there_adds_nothing),
        TEST(test_a_peak_before_the_region_does_not_hide_the_regions_own),
        TEST(test_a_region_keeps_the_live_of_sites_it_never_touched),
        TEST(test_a_combined_peak_is_not_the_sum_of_two_peaks),
        TEST(test_the_youngest_open_region_of_a_name_ends_first),
        TEST(test_the_process_region_cannot_be_ended),
        TEST(test_a_marked_region_cannot_take_the_name_of_the_process),
        TEST(test_an_unknown_name_is_not_found),
        TEST(test_names_are_kept_to_63_bytes_and_found_by_the_whole),
        TEST(test_only_the_worst_instances_keep_their_rows),
        TEST(test_the_end_of_a_dropped_region_ends_no_other),
        TEST(test_the_ends_of_names_beyond_the_limit_are_not_unbalanced),
        TEST(test_regions_beyond_the_limits_are_counted_as_dropped),
        TEST(test_refused_memory_loses_the_event_and_says_so),
        TEST(test_random_bookings_agree_with_a_model_that_copies_at_every_peak),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
