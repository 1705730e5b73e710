/* SPDX-License-Identifier: BSD-3-Clause */
/* The accounting: by hand where the epoch rule shows, and against a model that copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blocks.h"
#include "ledger.h"
#include "ledger_rows.h"
#include "random.h"
#include "sysmem.h"
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

/* An allocation or free by the thread of number @thread, with what belongs to one event. */
static void event_by(uint32_t thread, uint32_t site, int64_t bytes, uint32_t birth,
                     uint64_t elapsed_ns) {
    ledger->thread = thread;
    if (bytes > 0) {
        allocate(site, (uint64_t)bytes);
    } else {
        release(site, (uint64_t)-bytes, birth);
    }
    if (ledger_count_event(ledger))
        ledger_add_points(ledger, elapsed_ns);
}

static void begin_by(uint32_t thread, const char *name) {
    ledger->thread = thread;
    assert_int_equal(ledger_begin_own(ledger, name, &moment), 0);
}

static void end_by(uint32_t thread, const char *name, int expected) {
    ledger->thread = thread;
    assert_int_equal(ledger_end_own(ledger, name, &moment), expected);
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

static void begin_and_end(const char *name, int expected) {
    assert_int_equal(ledger_begin(ledger, name, &moment), expected);
    assert_int_equal(ledger_end(ledger, name, &moment), 0);
}

static void test_a_thousand_names_each_have_their_own_instances(void **state) {
    char name[16];
    for (int round = 1; round <= 2; round++)
        for (unsigned i = 0; i < 1000; i++) {
            snprintf(name, sizeof(name), "test %u", i);
            begin_and_end(name, 0);
            assert_int_equal(query(name).instance, round);
        }
    assert_int_equal(file.header->completeness.regions_dropped, 0);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
}

/* Only @count names find a place from now on. */
static void leave_names(unsigned count) {
    char name[16];
    while (ledger->names->count < LEDGER_NAMES_MAX - count) {
        snprintf(name, sizeof(name), "name %u", ledger->names->count);
        assert_non_null(ledger_find_or_add_name(ledger, name));
    }
}

static void test_the_ends_of_names_beyond_the_limit_are_not_unbalanced(void **state) {
    char name[16];
    leave_names(100);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 150; i++) {
            snprintf(name, sizeof(name), "region %u", i);
            begin_and_end(name, i < 100 ? 0 : -ENOSPC);
        }
    assert_int_equal(file.header->completeness.regions_dropped, 2 * 50);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
    assert_int_equal(ledger_end(ledger, "region 149", &moment), -ENOENT);
    assert_int_equal(file.header->completeness.unbalanced_ends, 1);
}

static void test_regions_beyond_the_limits_are_counted_as_dropped(void **state) {
    leave_names(1);
    begin_and_end("last", 0);
    for (unsigned i = 0; i < 4; i++)
        begin_and_end("beyond", -ENOSPC);
    assert_int_equal(file.header->completeness.regions_dropped, 4);
    ledger->region_count = LEDGER_REGIONS_MAX;
    assert_int_equal(ledger_begin(ledger, "last", &moment), -ENOSPC);
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

/* Regions of single threads */

static void test_a_threads_region_has_that_threads_events_only(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    event_by(2, a, 1000, 0, 0);
    begin_by(1, "r");
    begin_by(2, "s");
    event_by(1, a, 100, 0, 0);
    event_by(2, a, 7, 0, 0);
    event_by(3, a, 5000, 0, 0);
    event_by(1, a, 30, 0, 0);
    event_by(1, a, -100, ledger->begun, 0);
    struct votrace_region_totals totals = query("r");
    assert_int_equal(totals.live_start_bytes, 0);
    assert_int_equal(totals.live_bytes, 30);
    assert_int_equal(totals.live_peak_bytes, 130);
    assert_int_equal(totals.allocations, 2);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(at_peak(1, a), 130);
    assert_int_equal(query("s").live_bytes, 7);
    end_by(1, "r", 0);
    event_by(1, a, 1, 0, 0);
    assert_int_equal(query("r").live_bytes, 30);
    assert_int_equal(query("r").open, 0);
    assert_int_equal(query("process").live_bytes, 6038);
}

/* 500 are another's: live and the row fall below nothing, the peak does not. */
static void test_a_thread_that_frees_what_others_allocated_has_less_than_nothing(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t b = add_site(0xb, TRACE_HEAP);
    struct trace_check check;
    event_by(2, a, 500, 0, 0);
    begin_by(1, "r");
    event_by(1, a, -500, 1, 0);
    event_by(1, b, 200, 0, 0);
    event_by(1, b, 50, 0, 0);
    struct votrace_region_totals totals = query("r");
    assert_int_equal(totals.live_bytes, -250);
    assert_int_equal(totals.net_bytes, -250);
    assert_int_equal(totals.live_peak_bytes, 0);
    assert_int_equal(totals.owned_peak_bytes, 250);
    end_by(1, "r", 0);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(trace_check_site(&check, 1, a).live_bytes, -500);
    assert_int_equal(trace_check_site(&check, 1, a).peak_bytes, 0);
    assert_int_equal(trace_check_site(&check, 1, b).live_bytes, 250);
    assert_int_equal(trace_check_site(&check, 1, b).peak_bytes, 0);
    trace_scratch_check_finish(&check);
}

static void test_a_thread_ends_its_own_youngest_region_of_a_name(void **state) {
    begin_by(1, "r");
    begin_by(2, "r");
    begin_by(1, "r");
    ledger_begin(ledger, "r", &moment);
    end_by(3, "r", -ENOENT);
    assert_int_equal(file.header->completeness.unbalanced_ends, 1);
    end_by(1, "r", 0);
    end_by(1, "r", 0);
    end_by(1, "r", -ENOENT);
    assert_int_equal(ledger->threads.open_count, 1);
    /* An end of the process ends no thread's, and the other way round. */
    assert_int_equal(ledger_end(ledger, "r", &moment), 0);
    assert_int_equal(ledger_end(ledger, "r", &moment), -ENOENT);
    end_by(2, "r", 0);
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    for (uint32_t id = 1; id <= 4; id++)
        assert_int_equal(check.regions[id]->open, 0);
    assert_int_equal(check.regions[3]->instance, 3);
    assert_int_equal(check.regions[3]->parent, 1); /* not the other thread's */
    assert_int_equal(check.regions[4]->parent, 0);
    trace_scratch_check_finish(&check);
}

/* Whose a block was is all that tells, whoever frees it and whatever began meanwhile. */
static void test_a_thread_owns_what_it_allocated_itself(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    begin_by(1, "r");
    ledger->thread = 1;
    uint32_t mine = ledger_birth(ledger);
    event_by(1, a, 100, 0, 0);
    ledger->thread = 2;
    uint32_t other = ledger_birth(ledger);
    event_by(2, a, 40, 0, 0);
    assert_int_not_equal(mine, other);
    assert_int_equal(ledger_begin(ledger, "p", &moment), 0);
    ledger->thread = 1;
    uint32_t later = ledger_birth(ledger);
    assert_true(later > mine);
    assert_int_equal(ledger_birth(ledger), later);
    event_by(1, a, 11, 0, 0);
    assert_int_equal(query("r").owned_peak_bytes, 111);
    assert_int_equal(query("p").owned_peak_bytes, 11);
    event_by(1, a, -40, other, 0); /* not its own */
    event_by(2, a, -100, mine, 0); /* not its event */
    event_by(1, a, 1, 0, 0);
    assert_int_equal(query("r").owned_peak_bytes, 112);
    event_by(1, a, -11, later, 0);
    assert_int_equal(query("p").owned_peak_bytes, 12);
    event_by(1, a, 5, 0, 0);
    assert_int_equal(query("r").owned_peak_bytes, 112);
    assert_int_equal(query("p").owned_peak_bytes, 12);
}

static void test_mappings_and_failures_of_a_thread_are_its_own(void **state) {
    uint32_t anon = add_site(0xb, TRACE_MAP_ANON);
    struct trace_check check;
    begin_by(1, "r");
    begin_by(2, "s");
    ledger->thread = 1;
    allocate(anon, 8192);
    ledger_count_failed(ledger, TRACE_HEAP);
    ledger_count_reallocation(ledger, TRACE_HEAP);
    assert_int_equal(query("r").map_anon_peak_added_bytes, 8192);
    assert_int_equal(query("r").combined_peak_added_bytes, 8192);
    assert_int_equal(query("s").map_anon_peak_added_bytes, 0);
    trace_scratch_check(scratch.path, &check);
    for (uint32_t id = 0; id < 3; id++) {
        assert_int_equal(check.regions[id]->space[TRACE_HEAP].failed, id != 2);
        assert_int_equal(check.regions[id]->space[TRACE_HEAP].reallocations, id != 2);
    }
    trace_scratch_check_finish(&check);
}

static void test_the_end_of_a_threads_dropped_region_ends_no_other(void **state) {
    for (uint32_t i = 0; i < LEDGER_THREAD_OPEN_MAX - 1; i++)
        begin_by(1 + i % 300, "r");
    begin_by(500, "r");
    ledger->thread = 500;
    assert_int_equal(ledger_begin_own(ledger, "r", &moment), -ENOSPC);
    ledger->thread = 501;
    assert_int_equal(ledger_begin_own(ledger, "r", &moment), -ENOSPC);
    assert_int_equal(file.header->completeness.regions_dropped, 2);
    end_by(500, "r", 0);
    assert_int_equal(ledger->threads.open_count, LEDGER_THREAD_OPEN_MAX);
    end_by(501, "r", 0);
    end_by(501, "r", -ENOENT);
    assert_int_equal(ledger->threads.open_count, LEDGER_THREAD_OPEN_MAX);
    end_by(500, "r", 0);
    assert_int_equal(ledger->threads.open_count, LEDGER_THREAD_OPEN_MAX - 1);
    begin_by(502, "r");
}

static void test_drops_beyond_the_table_of_drops_are_not_unbalanced(void **state) {
    for (uint32_t i = 0; i < LEDGER_THREAD_OPEN_MAX; i++)
        begin_by(1, "r");
    for (uint32_t thread = 2; thread < LEDGER_DROPS_MAX + 12; thread++) {
        ledger->thread = thread;
        assert_int_equal(ledger_begin_own(ledger, "r", &moment), -ENOSPC);
    }
    for (uint32_t thread = 2; thread < LEDGER_DROPS_MAX + 12; thread++)
        end_by(thread, "r", 0);
    assert_int_equal(file.header->completeness.unbalanced_ends, 0);
    end_by(2, "r", -ENOENT);
    assert_int_equal(ledger->threads.open_count, LEDGER_THREAD_OPEN_MAX);
}

static void test_births_are_kept_for_the_threads_that_will_need_one(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    begin_by(1, "r");
    ledger->births = BLOCKS_BIRTH_MAX - 3;
    assert_int_equal(ledger_begin(ledger, "p", &moment), 0);
    assert_int_equal(ledger_begin(ledger, "p", &moment), -ENOSPC);
    ledger->thread = 1;
    assert_int_equal(ledger_begin_own(ledger, "s", &moment), -ENOSPC);
    uint32_t birth = ledger_birth(ledger);
    assert_in_range(birth, BLOCKS_BIRTH_MAX - 1, BLOCKS_BIRTH_MAX);
    event_by(1, a, 10, 0, 0);
    event_by(1, a, -10, birth, 0);
    event_by(1, a, 10, 0, 0);
    assert_int_equal(query("r").owned_peak_bytes, 10);
}

static void test_refused_memory_drops_a_threads_region_and_says_so(void **state) {
    ledger->thread = 1;
    sysmem_refuse_after(0);
    int begun = ledger_begin_own(ledger, "r", &moment);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(begun, -ENOSPC);
    end_by(1, "r", 0);
    assert_int_equal(file.header->completeness.regions_dropped, 1);
    begin_by(1, "r");
    assert_int_equal(query("r").open, 1);
    end_by(1, "r", 0);
}

/* Sizes */

static void check_size(struct trace_check *check, uint32_t region, unsigned bucket,
                       int64_t count) {
    int64_t counts[TRACE_SIZE_BUCKETS];
    assert_int_equal(trace_check_sizes(check, region, counts), 0);
    assert_int_equal(counts[bucket], count);
}

static void test_allocations_are_counted_by_powers_of_two(void **state) {
    static const struct {
        uint64_t bytes;
        unsigned bucket;
    } sizes[] = {{0, 0}, {1, 1},     {2, 2},     {3, 2},
                 {4, 3}, {4095, 12}, {4096, 13}, {BLOCKS_SIZE_MAX, 40}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_int_equal(ledger_size_bucket(sizes[i].bytes), sizes[i].bucket);
}

static void test_a_region_has_the_sizes_of_its_own_time(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    struct trace_check check;
    event_by(0, a, 100, 0, 0);
    ledger_begin(ledger, "r", &moment);
    event_by(0, a, 100, 0, 0);
    event_by(0, a, 64, 0, 0);
    event_by(0, a, 5, 0, 0);
    begin_by(1, "s");
    event_by(1, a, 6, 0, 0);
    event_by(2, a, 6, 0, 0);
    for (int round = 0; round < 2; round++) {
        trace_scratch_check(scratch.path, &check);
        check_size(&check, 0, 7, 3 + round);
        check_size(&check, 0, 3, 3);
        check_size(&check, 1, 7, 2);
        check_size(&check, 1, 3, 3);
        check_size(&check, 2, 3, 1);
        check_size(&check, 2, 7, 0);
        trace_scratch_check_finish(&check);
        if (round > 0)
            break;
        ledger_end(ledger, "r", &moment);
        end_by(1, "s", 0);
        event_by(1, a, 100, 0, 0); /* in neither */
    }
}

/* Timelines */

static void test_points_are_what_was_live_after_each_event(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    struct trace_check check;
    event_by(0, a, 100, 0, 10);
    ledger_begin(ledger, "r", &moment);
    begin_by(1, "s");
    event_by(1, a, 20, 0, 11);
    event_by(2, a, -100, 1, 12);
    event_by(1, a, -20, 2, 13);
    end_by(1, "s", 0);
    static const struct trace_point wanted[3][4] = {{{10, 100}, {11, 120}, {12, 20}, {13, 0}},
                                                    {{11, 120}, {12, 20}, {13, 0}},
                                                    {{11, 20}, {13, 0}}};
    static const uint32_t counts[3] = {4, 3, 2};
    trace_scratch_check(scratch.path, &check);
    for (uint32_t id = 0; id < 3; id++) {
        const struct trace_timeline *timeline = trace_check_timeline(&check, id);
        assert_non_null(timeline);
        assert_int_equal(timeline->count, counts[id]);
        assert_int_equal(timeline->interval, 1);
        assert_memory_equal(timeline->points, wanted[id],
                            counts[id] * sizeof(struct trace_point));
    }
    trace_scratch_check_finish(&check);
}

static void test_a_long_timeline_keeps_its_first_point_and_stays_in_order(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    struct trace_check check;
    for (uint64_t i = 1; i <= 5000; i++)
        event_by(0, a, 10, 0, i);
    trace_scratch_check(scratch.path, &check);
    const struct trace_timeline *timeline = trace_check_timeline(&check, 0);
    assert_int_equal(timeline->interval, 8);
    assert_int_equal(timeline->count, 4999 / 8 + 1);
    for (uint32_t i = 0; i < timeline->count; i++) {
        assert_int_equal(timeline->points[i].elapsed_ns, 1 + 8 * i);
        assert_int_equal(timeline->points[i].live_bytes, 10 * (1 + 8 * i));
    }
    trace_scratch_check_finish(&check);
}

static uint64_t peak_time(uint32_t region) {
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    uint64_t elapsed_ns = check.regions[region]->space[TRACE_HEAP].peak_elapsed_ns;
    trace_scratch_check_finish(&check);
    return elapsed_ns;
}

/* moment.elapsed_ns is 5. */
static void test_a_peak_is_dated_by_the_next_point_and_undone_by_the_next_peak(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    event_by(0, a, 100, 0, 4);
    ledger_begin(ledger, "r", &moment);
    assert_int_equal(peak_time(1), 5);
    event_by(0, a, 100, 0, 10);
    assert_int_equal(peak_time(1), 10);
    event_by(0, a, -100, 1, 11);
    assert_int_equal(peak_time(1), 10);
    ledger->open[0].left_events = ledger->open[1].left_events = 2;
    event_by(0, a, 200, 0, 12); /* no point is due */
    assert_int_equal(peak_time(1), 0);
    event_by(0, a, -100, 2, 13);
    assert_int_equal(peak_time(1), 13);
    ledger->open[1].left_events = 100;
    event_by(0, a, 400, 0, 14);
    const struct ledger_moment later = {.elapsed_ns = 20};
    ledger_end(ledger, "r", &later);
    assert_int_equal(peak_time(1), 20);
    event_by(0, a, 400, 0, 21);
    ledger_date_peaks(ledger, 30);
    assert_int_equal(peak_time(0), 21);
}

/* 30 instances, of which 8 keep what they have: what the others had is used again. */
static void test_sizes_and_timelines_of_dropped_instances_are_used_again(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    struct trace_check check;
    for (int64_t i = 1; i <= 30; i++) {
        begin_by(1, "r");
        event_by(1, a, i, 0, (uint64_t)i);
        end_by(1, "r", 0);
    }
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.timelines.count, 1 + LEDGER_KEPT_INSTANCES);
    assert_int_equal(check.sizes.count, 1 + LEDGER_KEPT_INSTANCES);
    for (uint32_t id = 1; id <= 30; id++) {
        bool kept = id > 30 - LEDGER_KEPT_INSTANCES;
        const struct trace_timeline *timeline = trace_check_timeline(&check, id);
        assert_int_equal(timeline != NULL, kept);
        if (!kept)
            continue;
        assert_int_equal(timeline->count, 1);
        assert_int_equal(timeline->points[0].live_bytes, id);
        check_size(&check, id, ledger_size_bucket(id), 1);
    }
    trace_scratch_check_finish(&check);
}

static void
test_a_region_without_memory_for_its_timeline_is_measured_all_the_same(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    event_by(0, a, 1, 0, 1);
    ledger_begin(ledger, "r", &moment); /* so that directory and record are there */
    ledger_end(ledger, "r", &moment);
    ledger_name_at(ledger, 1)->kept_count = 0; /* nothing is given back */
    file.left_bytes = 0;
    file.spilling = true; /* as if the file could not grow */
    struct trace_row **rows =
        sysmem_map(((BLOCKS_SITE_MAX + 2) / TRACE_ROWS_PER_CHUNK) * sizeof(*rows));
    ledger->free_directory = rows;
    sysmem_refuse_after(0);
    int begun = ledger_begin(ledger, "r", &moment);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(begun, 0);
    assert_null(ledger->open[1].timeline);
    assert_null(ledger->open[1].sizes);
    file.spilling = false;
    for (uint64_t i = 0; i < 10; i++)
        event_by(0, a, 1, 0, 2);
    assert_int_equal(query("r").allocations, 10);
    assert_int_equal(ledger_end(ledger, "r", &moment), 0);
}

/* Usable sizes */

static void usable(uint32_t site, int64_t bytes, uint64_t usable_bytes, uint32_t birth) {
    ledger->usable_bytes = usable_bytes;
    if (bytes >= 0)
        allocate(site, (uint64_t)bytes);
    else
        release(site, (uint64_t)-bytes, birth);
}

static void test_usable_bytes_are_kept_beside_the_requested_ones(void **state) {
    uint32_t a = add_site(0xa, TRACE_HEAP);
    uint32_t anon = add_site(0xb, TRACE_MAP_ANON);
    struct trace_check check;
    file.header->flags |= TRACE_USABLE;
    ledger_keep_usable(ledger);
    usable(a, 100, 104, 0);
    ledger_begin(ledger, "r", &moment);
    usable(a, 10, 24, 0);
    usable(a, -100, 104, 1);
    usable(a, 60, 72, 0); /* 70 requested: no peak, although */
    usable(a, 30, 40, 0);
    ledger->usable_bytes = 77; /* of no meaning for mappings */
    allocate(anon, 4096);
    usable(a, 11, 24, 0); /* 111 requested, 160 usable: the peak */
    usable(a, -60, 72, 1);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.regions[1]->usable_start_bytes, 104);
    assert_int_equal(check.regions[1]->usable_live_bytes, 88);
    assert_int_equal(check.regions[1]->usable_at_peak_bytes, 160);
    assert_int_equal(check.regions[0]->usable_live_bytes, 88);
    assert_int_equal(check.regions[0]->usable_at_peak_bytes, 160);
    trace_scratch_check_finish(&check);
}

/* The model: a peak copies everything. */

#define SITES   90
#define BLOCKS  400
#define NAMES   4
#define THREADS 4 /* of which number 0 never has regions of its own */

struct model_region {
    bool open;
    uint32_t id;
    uint32_t name;
    uint32_t thread; /* 0: of the process */
    int64_t sizes[TRACE_SIZE_BUCKETS];
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
        uint32_t thread; /* that allocated it */
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

static void model_begin(struct model *model, uint32_t name, uint32_t thread) {
    struct model_region *region = &model->regions[model->region_count];
    memset(region, 0, sizeof(*region));
    if (model->region_count > 0 && thread == 0)
        memcpy(region->start, model->regions[0].live, sizeof(region->start));
    memcpy(region->live, region->start, sizeof(region->live));
    memcpy(region->peak, region->start, sizeof(region->peak));
    region->combined_start = region->combined_peak = combined(model, region);
    region->id = model->region_count;
    region->name = name;
    region->thread = thread;
    region->open = true;
    model->region_count++;
}

static unsigned bucket_of(int64_t bytes) {
    unsigned bucket = 0;
    for (; bytes > 0; bytes /= 2)
        bucket++;
    return bucket;
}

/* Allocated inside of the region: after it began, and by its thread. */
static bool model_owns(const struct model *model, uint32_t region, uint32_t block) {
    uint32_t thread = model->regions[region].thread;
    return model->blocks[block].begun_regions > region &&
           (thread == 0 || model->blocks[block].thread == thread);
}

static void model_change(struct model *model, uint32_t block, int64_t sign) {
    uint32_t site = model->blocks[block].site;
    enum trace_space space = model->spaces[site];
    int64_t bytes = sign * model->blocks[block].bytes;
    for (uint32_t i = 0; i < model->region_count; i++) {
        struct model_region *region = &model->regions[i];
        bool seen = region->thread == 0 || region->thread == ledger->thread;
        if (!region->open || !seen)
            continue;
        region->live[site] += bytes;
        if (sign > 0 && space == TRACE_HEAP)
            region->sizes[bucket_of(bytes)]++;
        region->allocations[site] += sign > 0;
        region->frees[site] += sign < 0;
        if (sum(model, region->live, space) > sum(model, region->peak, space))
            for (unsigned s = 0; s < SITES; s++)
                if (model->spaces[s] == space)
                    region->peak[s] = region->live[s];
        if (combined(model, region) > region->combined_peak)
            region->combined_peak = combined(model, region);
        if (i > 0 && model_owns(model, i, block)) {
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
            assert_true(region->thread == 0 || region->live[s] == 0);
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
    assert_int_equal((record->flags & TRACE_REGION_THREAD) != 0, region->thread != 0);
    if ((record->flags & TRACE_REGION_NO_ROWS) != 0)
        return;
    int64_t sizes[TRACE_SIZE_BUCKETS];
    compare_sites(model, check, region);
    assert_int_equal(trace_check_sizes((struct trace_check *)check, region->id, sizes), 0);
    assert_memory_equal(sizes, region->sizes, sizeof(sizes));
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
    ledger->thread = (uint32_t)random_below(random, THREADS);
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
    model->blocks[block].birth = ledger_birth(ledger);
    model->blocks[block].begun_regions = model->region_count;
    model->blocks[block].thread = ledger->thread;
    allocate(model->sites[site], (uint64_t)model->blocks[block].bytes);
    model_change(model, block, 1);
}

static const char *const names[NAMES] = {"a", "b", "c", "d"};

/* End the youngest region of that name and thread, where there is one. */
static void end_region(struct model *model, uint32_t name, uint32_t thread) {
    uint32_t at = model->region_count;
    while (at-- > 1)
        if (model->regions[at].open && model->regions[at].name == name &&
            model->regions[at].thread == thread)
            break;
    ledger->thread = thread;
    int r = thread > 0 ? ledger_end_own(ledger, names[name], &moment)
                       : ledger_end(ledger, names[name], &moment);
    assert_int_equal(r, at > 0 ? 0 : -ENOENT);
    if (at > 0)
        model->regions[at].open = false;
}

static void step_region(struct model *model, struct random *random) {
    uint32_t name = (uint32_t)random_below(random, NAMES);
    uint32_t thread = (uint32_t)random_below(random, THREADS);
    uint32_t open = ledger->open_count + ledger->threads.open_count;
    if (random_below(random, 3) > 0) {
        end_region(model, name, thread);
    } else if (open < 14) {
        ledger->thread = thread;
        int r = thread > 0 ? ledger_begin_own(ledger, names[name], &moment)
                           : ledger_begin(ledger, names[name], &moment);
        assert_int_equal(r, 0);
        model_begin(model, name, thread);
    }
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
    model_begin(model, NAMES, 0);
    for (unsigned i = 0; i < 12000; i++) {
        if (random_below(&random, 25) == 0)
            step_region(model, &random);
        else
            step_block(model, &random);
        if (i % 100 == 0)
            compare(model);
    }
    for (uint32_t name = 0; name < NAMES; name++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            for (int i = 0; i < 14; i++)
                end_region(model, name, thread);
    compare(model);
    assert_int_equal(ledger->open_count, 1);
    assert_int_equal(ledger->threads.open_count, 0);
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
        TEST(test_a_thousand_names_each_have_their_own_instances),
        TEST(test_the_ends_of_names_beyond_the_limit_are_not_unbalanced),
        TEST(test_regions_beyond_the_limits_are_counted_as_dropped),
        TEST(test_refused_memory_loses_the_event_and_says_so),
        TEST(test_a_threads_region_has_that_threads_events_only),
        TEST(test_a_thread_that_frees_what_others_allocated_has_less_than_nothing),
        TEST(test_a_thread_ends_its_own_youngest_region_of_a_name),
        TEST(test_a_thread_owns_what_it_allocated_itself),
        TEST(test_mappings_and_failures_of_a_thread_are_its_own),
        TEST(test_the_end_of_a_threads_dropped_region_ends_no_other),
        TEST(test_drops_beyond_the_table_of_drops_are_not_unbalanced),
        TEST(test_births_are_kept_for_the_threads_that_will_need_one),
        TEST(test_refused_memory_drops_a_threads_region_and_says_so),
        TEST(test_allocations_are_counted_by_powers_of_two),
        TEST(test_a_region_has_the_sizes_of_its_own_time),
        TEST(test_points_are_what_was_live_after_each_event),
        TEST(test_a_long_timeline_keeps_its_first_point_and_stays_in_order),
        TEST(test_a_peak_is_dated_by_the_next_point_and_undone_by_the_next_peak),
        TEST(test_sizes_and_timelines_of_dropped_instances_are_used_again),
        TEST(test_a_region_without_memory_for_its_timeline_is_measured_all_the_same),
        TEST(test_usable_bytes_are_kept_beside_the_requested_ones),
        TEST(test_random_bookings_agree_with_a_model_that_copies_at_every_peak),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
