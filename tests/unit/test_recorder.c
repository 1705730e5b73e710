/* SPDX-License-Identifier: BSD-3-Clause */
/* What the hooks tell and what becomes of it, with addresses that were never allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "recorder.h"
#include "recorder_scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define MAP  UINT64_C(0x7f0000000000)

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};

static void start(const char *stacks) {
    unsetenv("VOTRACE_DEPTH");
    recorder_scratch_start(&scratch, stacks);
}

static int setup_none(void **state) {
    start("none");
    return 0;
}

static int setup_region(void **state) {
    start("region");
    return 0;
}

static int setup_all(void **state) {
    start("all");
    return 0;
}

static int setup_signal(void **state) {
    setenv("VOTRACE_SIGNAL", "USR2", 1);
    setenv("VOTRACE_REGION", "load", 1);
    start("region");
    unsetenv("VOTRACE_SIGNAL");
    unsetenv("VOTRACE_REGION");
    return 0;
}

/* Every trace that a test leaves has to hold. */
static int teardown(void **state) {
    recorder_scratch_check_and_finish(&scratch);
    return 0;
}

static struct votrace_region_totals query(const char *name) {
    struct votrace_region_totals totals;
    assert_int_equal(recorder_region_query(name, &totals), 0);
    return totals;
}

static const struct trace_completeness *completeness(void) {
    return &recorder_header_for_tests()->completeness;
}

/* The totals of a space in the process region, from the trace, with what lanes have counted. */
static struct trace_totals space_totals(enum trace_space space) {
    struct trace_check check;
    recorder_header_for_tests();
    trace_scratch_check(scratch.path, &check);
    struct trace_totals totals = check.regions[0]->space[space];
    struct trace_check_sums sums = trace_check_sum(&check, 0, space);
    totals.allocated.blocks = sums.allocations;
    totals.freed.blocks = sums.frees;
    for (uint32_t lane = 0; space == TRACE_HEAP && lane < TRACE_LANES_MAX; lane++)
        if (check.lanes[lane] != NULL)
            totals.reallocations += check.lanes[lane]->reallocations;
    trace_scratch_check_finish(&check);
    return totals;
}

static void test_allocations_and_frees_add_up(void **state) {
    recorder_allocated(0x1000, 100, frame);
    recorder_allocated(0x2000, 50, frame);
    recorder_freed(0x1000);
    recorder_allocated(0x1000, 7, frame);
    struct votrace_region_totals totals = query("process");
    assert_int_equal(totals.live_bytes, 57);
    assert_int_equal(totals.live_peak_bytes, 150);
    assert_int_equal(totals.allocations, 3);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(totals.allocated_bytes, 157);
    assert_int_equal(totals.freed_bytes, 100);
}

static void test_a_block_of_size_0_is_a_block(void **state) {
    recorder_allocated(0x1000, 0, frame);
    assert_int_equal(query("process").allocations, 1);
    assert_int_equal(space_totals(TRACE_HEAP).live.blocks, 1);
    recorder_freed(0x1000);
    assert_int_equal(space_totals(TRACE_HEAP).live.blocks, 0);
    assert_int_equal(completeness()->unknown_frees, 0);
}

static void test_an_unknown_free_is_counted_and_changes_nothing(void **state) {
    recorder_allocated(0x1000, 10, frame);
    recorder_freed(0x1008);
    recorder_freed(0x5000);
    assert_int_equal(completeness()->unknown_frees, 2);
    assert_int_equal(query("process").live_bytes, 10);
    assert_int_equal(query("process").frees, 0);
}

static void test_realloc_is_one_event_of_the_difference(void **state) {
    struct recorder_taken taken;
    recorder_allocated(0x1000, 1000, frame);
    recorder_reallocating(0x1000, &taken);
    /* Not yet decided: the block still counts. */
    assert_int_equal(query("process").live_bytes, 1000);
    recorder_reallocated(&taken, 0x2000, 1500, frame);
    struct votrace_region_totals totals = query("process");
    assert_int_equal(totals.live_bytes, 1500);
    assert_int_equal(totals.live_peak_bytes, 1500); /* not 2500 */
    assert_int_equal(totals.allocations, 2);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(space_totals(TRACE_HEAP).reallocations, 1);
    recorder_freed(0x1000);
    assert_int_equal(completeness()->unknown_frees, 1);
}

/* Between the halves another thread may be given the old address. */
static void test_the_old_address_may_be_handed_out_while_a_realloc_goes_on(void **state) {
    struct recorder_taken taken;
    recorder_allocated(0x1000, 1000, frame);
    recorder_reallocating(0x1000, &taken);
    recorder_allocated(0x1000, 30, frame);
    recorder_reallocated(&taken, 0x2000, 2000, frame);
    assert_int_equal(query("process").live_bytes, 2030);
    recorder_freed(0x1000);
    recorder_freed(0x2000);
    assert_int_equal(query("process").live_bytes, 0);
    assert_int_equal(completeness()->unknown_frees, 0);
    assert_int_equal(completeness()->events_lost, 0);
}

static void test_a_failed_realloc_leaves_the_block_as_it_was(void **state) {
    struct recorder_taken taken;
    recorder_allocated(0x1000, 1000, frame);
    recorder_reallocating(0x1000, &taken);
    recorder_realloc_failed(&taken);
    struct votrace_region_totals totals = query("process");
    assert_int_equal(totals.live_bytes, 1000);
    assert_int_equal(totals.allocations, 1);
    assert_int_equal(totals.frees, 0);
    assert_int_equal(space_totals(TRACE_HEAP).failed, 1);
    recorder_freed(0x1000);
    assert_int_equal(query("process").live_bytes, 0);
    assert_int_equal(completeness()->unknown_frees, 0);
}

static void test_a_realloc_to_0_frees(void **state) {
    struct recorder_taken taken;
    recorder_allocated(0x1000, 1000, frame);
    recorder_reallocating(0x1000, &taken);
    recorder_reallocated(&taken, 0, 0, frame);
    struct votrace_region_totals totals = query("process");
    assert_int_equal(totals.live_bytes, 0);
    assert_int_equal(totals.allocations, 1);
    assert_int_equal(totals.frees, 1);
    assert_int_equal(totals.freed_bytes, 1000);
}

static void test_a_realloc_of_an_unknown_block_allocates(void **state) {
    struct recorder_taken taken;
    recorder_reallocating(0x1000, &taken);
    recorder_reallocated(&taken, 0x2000, 10, frame);
    assert_int_equal(completeness()->unknown_frees, 1);
    assert_int_equal(query("process").live_bytes, 10);
    recorder_reallocating(0x3000, &taken);
    recorder_realloc_failed(&taken);
    assert_int_equal(query("process").live_bytes, 10);
}

static void test_an_address_that_comes_again_was_freed_unseen(void **state) {
    recorder_allocated(0x1000, 10, frame);
    recorder_allocated(0x1000, 20, frame);
    assert_int_equal(completeness()->events_lost, 1);
    assert_int_equal(query("process").live_bytes, 20);
}

static void test_a_block_beyond_what_the_table_holds_is_lost_and_counted(void **state) {
    recorder_allocated(UINT64_C(1) << BLOCKS_ADDRESS_BITS, 10, frame);
    recorder_allocated(0x1000, BLOCKS_SIZE_MAX + 1, frame);
    recorder_allocated(0x2000, 10, frame);
    assert_int_equal(completeness()->events_lost, 2);
    assert_int_equal(query("process").live_bytes, 10);
}

static void test_a_block_freed_by_the_next_event_is_temporary(void **state) {
    struct trace_check check;
    recorder_allocated(0x1000, 10, frame);
    recorder_freed(0x1000);
    recorder_allocated(0x1000, 10, frame);
    recorder_allocated(0x2000, 10, frame);
    recorder_freed(0x1000);
    recorder_freed(0x2000);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).temporary, 1);
    trace_scratch_check_finish(&check);
}

static void test_failed_calls_are_counted(void **state) {
    recorder_failed(TRACE_HEAP);
    recorder_failed(TRACE_MAP_FILE);
    recorder_failed(TRACE_MAP_FILE);
    assert_int_equal(space_totals(TRACE_HEAP).failed, 1);
    assert_int_equal(space_totals(TRACE_MAP_FILE).failed, 2);
}

/* Mappings */

static void map(uint64_t first, uint64_t pages, enum trace_space space) {
    recorder_mapped(MAP + first * PAGE, pages * PAGE, space, frame);
}

static void unmap(uint64_t first, uint64_t bytes) {
    struct recorder_unmapping unmapping;
    recorder_unmapping(MAP + first * PAGE, bytes, &unmapping);
    recorder_unmapped(MAP + first * PAGE, bytes, &unmapping);
}

static void assert_anon(uint64_t pages, uint64_t blocks) {
    struct trace_totals totals = space_totals(TRACE_MAP_ANON);
    assert_int_equal(totals.live.bytes, pages * PAGE);
    assert_int_equal(totals.live.blocks, blocks);
    assert_int_equal(totals.allocated.blocks - totals.freed.blocks, blocks);
}

static void test_mappings_are_rounded_up_to_pages_and_no_heap(void **state) {
    recorder_mapped(MAP, 1, TRACE_MAP_ANON, frame);
    recorder_mapped(MAP + 8 * PAGE, PAGE + 1, TRACE_MAP_FILE, frame);
    assert_anon(1, 1);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, 2 * PAGE);
    assert_int_equal(query("process").allocations, 0);
    assert_int_equal(query("process").map_anon_peak_added_bytes, PAGE);
}

static void test_unmapping_cuts_ends_and_middles(void **state) {
    map(0, 10, TRACE_MAP_ANON);
    unmap(0, PAGE);
    assert_anon(9, 1);
    unmap(9, 1); /* rounded up */
    assert_anon(8, 1);
    unmap(4, 2 * PAGE);
    assert_anon(6, 2);
    unmap(0, 10 * PAGE);
    assert_anon(0, 0);
    unmap(0, 10 * PAGE); /* nothing there: no fault */
    assert_anon(0, 0);
    assert_int_equal(completeness()->unknown_frees, 0);
}

static void test_one_unmapping_takes_any_number_of_mappings(void **state) {
    for (uint64_t i = 0; i < 40; i++)
        map(3 * i, 2, i % 2 == 0 ? TRACE_MAP_ANON : TRACE_MAP_FILE);
    assert_anon(40, 20);
    unmap(1, 117 * PAGE);
    assert_anon(1, 1);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, PAGE);
}

static void test_mapping_over_a_mapping_replaces_it(void **state) {
    map(0, 10, TRACE_MAP_ANON);
    map(3, 4, TRACE_MAP_FILE);
    assert_anon(6, 2);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, 4 * PAGE);
    map(0, 10, TRACE_MAP_ANON);
    assert_anon(10, 1);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.blocks, 0);
}

/* Only what the kernel did is booked, so that a refusal has nothing to undo. */
static void test_a_refused_unmapping_changes_nothing(void **state) {
    struct recorder_unmapping unmapping;
    map(0, 10, TRACE_MAP_ANON);
    recorder_region_begin("r");
    recorder_unmapping(MAP + PAGE, SIZE_MAX, &unmapping);
    recorder_unmapping(MAP + PAGE, 3 * PAGE, &unmapping);
    assert_anon(10, 1);
    recorder_region_end("r");
    assert_int_equal(query("r").map_anon_peak_added_bytes, 0);
}

static void test_what_is_mapped_while_an_unmapping_returns_stays(void **state) {
    struct recorder_unmapping unmapping;
    map(0, 10, TRACE_MAP_ANON);
    recorder_unmapping(MAP, 10 * PAGE, &unmapping);
    map(0, 4, TRACE_MAP_FILE); /* another thread, before the first one goes on */
    recorder_unmapped(MAP, 10 * PAGE, &unmapping);
    assert_anon(0, 0);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, 4 * PAGE);
}

static void remap(uint64_t old_first, uint64_t old_pages, uint64_t new_first,
                  uint64_t new_pages, bool keeps_old) {
    struct recorder_unmapping unmapping;
    struct recorder_range old = {MAP + old_first * PAGE, old_pages * PAGE};
    struct recorder_range new = {MAP + new_first * PAGE, new_pages * PAGE};
    recorder_unmapping(old.address, old.bytes, &unmapping);
    recorder_remapped(old, new, keeps_old, &unmapping, frame);
}

static void test_remapping_moves_grows_shrinks_and_splits(void **state) {
    map(0, 4, TRACE_MAP_ANON);
    remap(0, 4, 0, 6, false);
    assert_anon(6, 1);
    remap(0, 6, 100, 6, false);
    assert_anon(6, 1);
    remap(100, 6, 100, 2, false);
    assert_anon(2, 1);
    remap(101, 1, 200, 3, false);
    assert_anon(4, 2);
    remap(200, 3, 300, 3, true);
    assert_anon(7, 3);
    remap(200, 0, 400, 3, true);
    assert_anon(10, 4);
    unmap(0, 1000 * PAGE);
    assert_anon(0, 0);
}

static void test_remapping_keeps_the_space_and_ignores_what_was_never_seen(void **state) {
    map(0, 4, TRACE_MAP_FILE);
    remap(0, 4, 10, 5, false);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, 5 * PAGE);
    remap(500, 1, 600, 2, false);
    assert_anon(0, 0);
}

/* Stacks */

static uint64_t sites_of_heap(void) {
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    uint64_t sites = trace_check_sum(&check, 0, TRACE_HEAP).sites;
    trace_scratch_check_finish(&check);
    return sites;
}

static void test_stacks_are_taken_only_while_a_marked_region_is_open(void **state) {
    const uintptr_t a[] = {3, 2, 1};
    const uintptr_t b[] = {4, 2, 1};
    backtrace_fake_set(a, 3, true);
    recorder_allocated(0x1000, 1, frame);
    assert_int_equal(recorder_header_for_tests()->site_count, TRACE_FIXED_SITES);
    recorder_region_begin("r");
    recorder_allocated(0x2000, 2, frame);
    backtrace_fake_set(b, 3, true);
    recorder_allocated(0x3000, 3, frame);
    recorder_allocated(0x4000, 4, frame);
    recorder_region_end("r");
    recorder_allocated(0x5000, 5, frame);
    assert_int_equal(recorder_header_for_tests()->site_count, TRACE_FIXED_SITES + 2);
    assert_int_equal(sites_of_heap(), 3);
}

static void test_the_frames_of_a_site_are_the_stack(void **state) {
    const uintptr_t a[] = {33, 22, 11};
    uint64_t frames[8];
    struct trace_check check;
    backtrace_fake_set(a, 3, true);
    recorder_allocated(0x1000, 1, frame);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(trace_check_frames(&check, TRACE_FIXED_SITES, frames, 8), 3);
    assert_true(frames[0] == 33 && frames[1] == 22 && frames[2] == 11);
    assert_int_equal(trace_check_row(&check, 0, TRACE_FIXED_SITES)->allocated.bytes, 1);
    assert_true(check.module_count > 0);
    trace_scratch_check_finish(&check);
}

static void test_a_stack_that_cannot_be_taken_is_counted_and_keeps_its_caller(void **state) {
    const uintptr_t unused[] = {1};
    uint64_t frames[8];
    struct trace_check check;
    backtrace_fake_set(unused, 1, false);
    recorder_allocated(0x1000, 1, frame);
    assert_int_equal(completeness()->stacks_missing, 1);
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(trace_check_frames(&check, TRACE_FIXED_SITES, frames, 8), 1);
    assert_int_equal(frames[0], frame[1]);
    trace_scratch_check_finish(&check);
}

static void test_many_stacks_keep_the_sums(void **state) {
    for (uintptr_t i = 0; i < 30000; i++) {
        uintptr_t frames[3] = {0x1000 + i, 0x500 + i % 7, 1};
        backtrace_fake_set(frames, 3, true);
        recorder_allocated(0x100000 + i * 16, i, frame);
        if (i % 3 == 0)
            recorder_freed(0x100000 + i * 16);
    }
    backtrace_fake_set(NULL, 0, true);
    assert_int_equal(sites_of_heap(), 30000);
    assert_int_equal(completeness()->file_refused, 0);
}

/* Reserved addresses, the data segment, segments */

static void reserve(unsigned first, unsigned pages) {
    recorder_mapped(MAP + first * PAGE, pages * PAGE, TRACE_MAP_RESERVED, frame);
}

static void test_reserved_addresses_become_memory_where_they_are_made_accessible(void **state) {
    reserve(0, 100);
    recorder_protected(MAP + 10 * PAGE, 2 * PAGE, frame);
    recorder_protected(MAP + 11 * PAGE, PAGE + 1, frame);
    recorder_protected(MAP + 98 * PAGE, 10 * PAGE, frame);
    assert_int_equal(space_totals(TRACE_MAP_RESERVED).live.bytes, 95 * PAGE);
    assert_int_equal(space_totals(TRACE_MAP_RESERVED).live.blocks, 2);
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.bytes, 5 * PAGE);
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.blocks, 3);
    assert_int_equal(query("process").combined_peak_added_bytes, 5 * PAGE);
    unmap(0, 100 * PAGE);
    assert_int_equal(space_totals(TRACE_MAP_RESERVED).live.bytes, 0);
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.blocks, 0);
}

static void test_making_what_is_not_reserved_accessible_changes_nothing(void **state) {
    map(0, 4, TRACE_MAP_ANON);
    map(4, 4, TRACE_MAP_FILE);
    recorder_protected(MAP, 8 * PAGE, frame);
    reserve(8, 4);
    recorder_protected(MAP, 8 * PAGE, frame);
    assert_int_equal(space_totals(TRACE_MAP_ANON).allocated.blocks, 1);
    assert_int_equal(space_totals(TRACE_MAP_RESERVED).live.bytes, 4 * PAGE);
}

static void test_the_data_segment_is_exact_to_the_byte(void **state) {
    recorder_break_moved(MAP + 5, MAP + 105, frame);
    recorder_break_moved(MAP + 105, MAP + 5000, frame);
    recorder_break_moved(MAP + 5000, MAP + 5000, frame);
    recorder_break_moved(MAP + 5000, MAP + 55, frame);
    struct trace_totals totals = space_totals(TRACE_MAP_ANON);
    assert_int_equal(totals.peak.bytes, 4995);
    assert_int_equal(totals.live.bytes, 50);
    assert_int_equal(totals.allocated.blocks, 2);
    assert_int_equal(totals.freed.blocks, 1);
}

static void test_detaching_takes_what_is_left_of_a_segment(void **state) {
    struct recorder_unmapping unmapping;
    recorder_attached(MAP, 10 * PAGE - 1, frame);
    unmap(3, 1);
    map(5, 2, TRACE_MAP_FILE);
    recorder_unmapping(MAP, 1, &unmapping);
    recorder_detached(MAP, &unmapping);
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.blocks, 0);
    assert_int_equal(space_totals(TRACE_MAP_FILE).live.bytes, 2 * PAGE);
}

/* What another thread attaches there meanwhile is not the segment that went. */
static void test_a_segment_attached_while_another_is_detached_stays(void **state) {
    struct recorder_unmapping unmapping;
    recorder_attached(MAP, 2 * PAGE, frame);
    recorder_unmapping(MAP, 1, &unmapping);
    recorder_attached(MAP, 3 * PAGE, frame);
    recorder_detached(MAP, &unmapping);
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.bytes, 3 * PAGE);
}

/* Events of a signal handler that interrupts the recorder, in the order they came. */
static void test_what_interrupts_the_recorder_is_booked_later(void **state) {
    struct recorder_unmapping unmapping;
    reserve(0, 10);
    recorder_thread.doing |= THREAD_BUSY;
    recorder_protected(MAP, 2 * PAGE, frame);
    recorder_attached(MAP + 20 * PAGE, 3 * PAGE, frame);
    recorder_unmapping(MAP + 20 * PAGE, 1, &unmapping);
    recorder_detached(MAP + 20 * PAGE, &unmapping);
    recorder_attached(MAP + 20 * PAGE, 4 * PAGE, frame);
    recorder_break_moved(MAP + 40 * PAGE, MAP + 40 * PAGE + 100, frame);
    recorder_break_moved(MAP + 40 * PAGE + 100, MAP + 40 * PAGE + 1, frame);
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    recorder_failed(TRACE_HEAP); /* anything that takes the lock */
    assert_int_equal(space_totals(TRACE_MAP_ANON).live.bytes, 6 * PAGE + 1);
    assert_int_equal(space_totals(TRACE_MAP_RESERVED).live.bytes, 8 * PAGE);
    assert_int_equal(completeness()->events_lost, 0);
}

/* Regions, start, fork and exit */

static void test_each_signal_begins_or_ends_a_region(void **state) {
    recorder_signalled();
    assert_int_equal(query("process").open, 1);
    recorder_allocated(0x1000, 10, frame);
    recorder_signalled();
    recorder_signalled();
    /* Interrupted: the end is booked before what comes next. */
    recorder_thread.doing |= THREAD_BUSY;
    recorder_signalled();
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    recorder_allocated(0x2000, 20, frame);
    struct votrace_region_totals totals = query("load");
    assert_int_equal(totals.instance, 2);
    assert_int_equal(totals.open, 0);
    assert_int_equal(totals.allocations, 0);
    assert_int_equal(completeness()->unbalanced_ends, 0);
    assert_int_equal(completeness()->events_lost, 0);
}

static void test_exec_is_noted_and_taken_back_when_it_fails(void **state) {
    const struct trace_header *header = recorder_header_for_tests();
    assert_true(recorder_exec_begin());
    assert_int_equal(header->state, TRACE_EXECED);
    assert_true(header->end_elapsed_ns > 0);
    recorder_exec_failed();
    assert_int_equal(header->state, TRACE_RUNNING);
    assert_int_equal(header->end_elapsed_ns, 0);
}

/* Each of two threads that exec at the same time, in vain. */
static void test_of_several_execs_the_last_that_fails_takes_them_back(void **state) {
    const struct trace_header *header = recorder_header_for_tests();
    assert_true(recorder_exec_begin());
    assert_true(recorder_exec_begin());
    recorder_exec_failed();
    assert_int_equal(header->state, TRACE_EXECED);
    recorder_exec_failed();
    assert_int_equal(header->state, TRACE_RUNNING);
    assert_int_equal(header->end_elapsed_ns, 0);
}

/* As in a child of vfork(): the same memory, another process. */
static void test_an_exec_of_another_process_is_not_noted(void **state) {
    uint32_t *pid = (uint32_t *)&recorder_header_for_tests()->pid;
    (*pid)++;
    bool noted = recorder_exec_begin();
    (*pid)--;
    assert_false(noted);
    assert_int_equal(recorder_header_for_tests()->state, TRACE_RUNNING);
}

static void test_every_trace_has_a_name_of_its_own(void **state) {
    uint8_t first[TRACE_UUID_BYTES];
    static const uint8_t none[TRACE_UUID_BYTES];
    memcpy(first, recorder_header_for_tests()->uuid, sizeof(first));
    assert_memory_not_equal(first, none, sizeof(first));
    teardown(state);
    start("none");
    assert_memory_not_equal(first, recorder_header_for_tests()->uuid, sizeof(first));
}

static void test_unknown_regions_and_null_names_are_harmless(void **state) {
    struct votrace_region_totals totals;
    recorder_region_begin(NULL);
    recorder_region_end(NULL);
    assert_int_equal(recorder_region_query("nowhere", &totals), -ENOENT);
    recorder_region_end("nowhere");
    assert_int_equal(completeness()->unbalanced_ends, 1);
}

static void test_errno_is_kept(void **state) {
    struct recorder_taken taken;
    errno = 1234;
    recorder_region_begin("r");
    for (uintptr_t i = 0; i < 5000; i++) {
        uintptr_t frames[2] = {0x1000 + i, 1};
        backtrace_fake_set(frames, 2, true);
        recorder_allocated(0x100000 + i * 16, i, frame);
    }
    backtrace_fake_set(NULL, 0, true);
    recorder_reallocating(0x100000, &taken);
    recorder_realloc_failed(&taken);
    map(0, 5, TRACE_MAP_ANON);
    unmap(1, PAGE);
    recorder_region_end("r");
    assert_int_equal(errno, 1234);
}

static void test_a_forked_child_records_nothing_and_the_parent_counts_it(void **state) {
    recorder_allocated(0x1000, 10, frame);
    recorder_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        struct votrace_region_totals totals;
        recorder_fork_child();
        int muted = !recorder_active() && recorder_region_query("process", &totals) == -ENOSYS;
        recorder_region_begin("r");
        recorder_exiting();
        _exit(muted ? 0 : 1);
    }
    recorder_fork_parent();
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(completeness()->forked_children, 1);
    assert_int_equal(recorder_header_for_tests()->state, TRACE_RUNNING);
    assert_int_equal(query("process").live_bytes, 10);
    assert_int_equal(recorder_header_for_tests()->region_count, 1);
}

/* The kernel wipes the gate, whatever the child does or does not call. */
static void test_a_child_without_fork_handlers_records_nothing_either(void **state) {
    pid_t child = fork();
    if (child == 0)
        _exit(recorder_active() ? 1 : 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_late_frees_after_exit_still_count(void **state) {
    recorder_allocated(0x1000, 10, frame);
    recorder_exiting();
    assert_int_equal(recorder_header_for_tests()->state, TRACE_EXITED);
    recorder_freed(0x1000);
    assert_int_equal(query("process").live_bytes, 0);
}

/*
 * What could only be written at the exit is a copy: the rows in the file do not change later.
 */
static void
test_nothing_moves_in_the_file_after_what_was_refused_was_copied_to_it(void **state) {
    struct rlimit limit = {.rlim_cur = 600000, .rlim_max = RLIM_INFINITY};
    struct trace_check check;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uintptr_t i = 0; i < 20000; i++) {
        uintptr_t frames[3] = {0x1000 + i, 2, 1};
        backtrace_fake_set(frames, 3, true);
        recorder_allocated(0x100000 + i * 16, i, frame);
    }
    backtrace_fake_set(NULL, 0, true);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_true(completeness()->file_refused > 0);
    recorder_exiting();
    for (uintptr_t i = 0; i < 20000; i++)
        if (recorder_active())
            recorder_freed(0x100000 + i * 16);
    trace_scratch_check(scratch.path, &check);
    assert_false(check.cut);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).allocations, 20000);
    trace_scratch_check_finish(&check);
}

static void test_nothing_answers_before_the_start(void **state) {
    struct votrace_region_totals totals;
    struct recorder_taken taken;
    struct recorder_unmapping unmapping;
    recorder_reset_for_tests();
    assert_false(recorder_active());
    assert_int_equal(recorder_region_query("process", &totals), -ENOSYS);
    recorder_region_begin("r");
    recorder_region_end("r");
    recorder_failed(TRACE_HEAP);
    recorder_reallocating(0x1000, &taken);
    recorder_realloc_failed(&taken);
    recorder_reallocated(&taken, 0x1000, 1, frame);
    recorder_mapped(MAP, PAGE, TRACE_MAP_ANON, frame);
    recorder_unmapping(MAP, PAGE, &unmapping);
    recorder_unmapped(MAP, PAGE, &unmapping);
    recorder_exiting();
    assert_null(recorder_header_for_tests());
}

static void test_bad_settings_are_in_the_trace(void **state) {
    trace_scratch_init(&scratch);
    setenv("VOTRACE_OUTPUT", scratch.path, 1);
    setenv("VOTRACE_STACKS", "sometimes", 1);
    setenv("VOTRACE_DEPTH", "0", 1);
    recorder_reset_for_tests();
    recorder_start();
    assert_int_equal(completeness()->settings_ignored, 2);
    assert_int_equal(recorder_header_for_tests()->stacks, TRACE_STACKS_REGION);
    assert_int_equal(recorder_header_for_tests()->depth_limit, 64);
    unsetenv("VOTRACE_DEPTH");
    teardown(state);
}

int main(void) {
#define NONE(name)   cmocka_unit_test_setup_teardown(name, setup_none, teardown)
#define REGION(name) cmocka_unit_test_setup_teardown(name, setup_region, teardown)
#define ALL(name)    cmocka_unit_test_setup_teardown(name, setup_all, teardown)
#define SIGNAL(name) cmocka_unit_test_setup_teardown(name, setup_signal, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_answers_before_the_start),
        cmocka_unit_test(test_bad_settings_are_in_the_trace),
        NONE(test_allocations_and_frees_add_up),
        NONE(test_a_block_of_size_0_is_a_block),
        NONE(test_an_unknown_free_is_counted_and_changes_nothing),
        NONE(test_realloc_is_one_event_of_the_difference),
        NONE(test_the_old_address_may_be_handed_out_while_a_realloc_goes_on),
        NONE(test_a_failed_realloc_leaves_the_block_as_it_was),
        NONE(test_a_realloc_to_0_frees),
        NONE(test_a_realloc_of_an_unknown_block_allocates),
        NONE(test_an_address_that_comes_again_was_freed_unseen),
        NONE(test_a_block_beyond_what_the_table_holds_is_lost_and_counted),
        NONE(test_a_block_freed_by_the_next_event_is_temporary),
        NONE(test_failed_calls_are_counted),
        NONE(test_mappings_are_rounded_up_to_pages_and_no_heap),
        NONE(test_unmapping_cuts_ends_and_middles),
        NONE(test_one_unmapping_takes_any_number_of_mappings),
        NONE(test_mapping_over_a_mapping_replaces_it),
        ALL(test_a_refused_unmapping_changes_nothing),
        NONE(test_what_is_mapped_while_an_unmapping_returns_stays),
        ALL(test_remapping_moves_grows_shrinks_and_splits),
        NONE(test_remapping_keeps_the_space_and_ignores_what_was_never_seen),
        REGION(test_stacks_are_taken_only_while_a_marked_region_is_open),
        ALL(test_the_frames_of_a_site_are_the_stack),
        ALL(test_a_stack_that_cannot_be_taken_is_counted_and_keeps_its_caller),
        ALL(test_many_stacks_keep_the_sums),
        NONE(test_reserved_addresses_become_memory_where_they_are_made_accessible),
        NONE(test_making_what_is_not_reserved_accessible_changes_nothing),
        NONE(test_the_data_segment_is_exact_to_the_byte),
        ALL(test_detaching_takes_what_is_left_of_a_segment),
        NONE(test_a_segment_attached_while_another_is_detached_stays),
        NONE(test_what_interrupts_the_recorder_is_booked_later),
        SIGNAL(test_each_signal_begins_or_ends_a_region),
        NONE(test_exec_is_noted_and_taken_back_when_it_fails),
        NONE(test_of_several_execs_the_last_that_fails_takes_them_back),
        NONE(test_an_exec_of_another_process_is_not_noted),
        NONE(test_every_trace_has_a_name_of_its_own),
        NONE(test_unknown_regions_and_null_names_are_harmless),
        REGION(test_errno_is_kept),
        NONE(test_a_forked_child_records_nothing_and_the_parent_counts_it),
        NONE(test_a_child_without_fork_handlers_records_nothing_either),
        NONE(test_late_frees_after_exit_still_count),
        ALL(test_nothing_moves_in_the_file_after_what_was_refused_was_copied_to_it),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
