/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that record without the lock: that they do, and that every sum is what it is with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "random.h"
#include "recorder_scratch.h"
#include "recorder_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS     4
#define LONG_RUN    100000u
#define BIG         UINT64_C(1000000)
#define SMALL_BYTES 1000u

static const uintptr_t frame[2] = {0, 0xca11e4};
static struct trace_scratch scratch;
static pthread_barrier_t barrier;

/* Each thread's addresses begin here: no two share a page of the table. */
static uintptr_t base_of(uint64_t thread) {
    return UINT64_C(0x7f0000000000) + (thread << 33);
}

static int setup(void **state) {
    recorder_scratch_start(&scratch, "none");
    return 0;
}

static int teardown(void **state) {
    recorder_scratch_finish(&scratch);
    return 0;
}

/* Events in lanes other than the one that is used under the lock. */
static uint64_t events_beside_the_lock(struct trace_check *check) {
    uint64_t events = 0;
    for (uint32_t lane = 1; lane < TRACE_LANES_MAX; lane++) {
        const struct trace_row *row = trace_check_lane_row(check, 0, lane, TRACE_HEAP);
        if (row != NULL)
            events += row->allocated.blocks + row->freed.blocks;
    }
    return events;
}

static void run_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uint64_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

/* Allocate and free small blocks, a hundred live at most. */
static void churn(uint64_t thread, uint64_t seed, unsigned events) {
    struct random random = {seed + 1};
    bool live[100] = {false};
    for (unsigned i = 0; i < events; i++) {
        uint64_t block = random_below(&random, 100);
        uintptr_t address = base_of(thread) + (block + 1) * 1024;
        if (live[block])
            recorder_freed(address);
        else
            recorder_allocated(address, random_below(&random, SMALL_BYTES), frame);
        live[block] = !live[block];
    }
    for (uint64_t block = 0; block < 100; block++)
        if (live[block])
            recorder_freed(base_of(thread) + (block + 1) * 1024);
}

static void *churn_below_a_peak(void *data) {
    uint64_t thread = (uintptr_t)data;
    uintptr_t big = base_of(thread) + (UINT64_C(1) << 30);
    recorder_allocated(big, BIG, frame);
    pthread_barrier_wait(&barrier); /* all have theirs: this is the peak */
    recorder_freed(big);
    pthread_barrier_wait(&barrier);
    churn(thread, thread, LONG_RUN);
    return NULL;
}

static void *churn_alone(void *data) {
    churn(1, 1, LONG_RUN);
    return NULL;
}

static void test_a_thread_that_works_alone_does_without_the_lock(void **state) {
    struct trace_check check;
    pthread_t thread;
    recorder_allocated(base_of(0) + 64, 100, frame); /* lane 0 is this thread's */
    assert_int_equal(pthread_create(&thread, NULL, churn_alone, NULL), 0);
    pthread_join(thread, NULL);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_true(heap.allocations > LONG_RUN / 3);
    assert_true(events_beside_the_lock(&check) > heap.allocations + heap.frees - 1000);
    trace_scratch_check_finish(&check);
}

static void test_addresses_that_no_program_has_are_counted_and_do_no_harm(void **state) {
    const uintptr_t beyond = UINT64_C(1) << 63;
    struct trace_check check;
    churn(0, 0, 1000);
    recorder_allocated(base_of(0), 100, frame);
    recorder_freed(beyond + 64);
    recorder_allocated(beyond, 100, frame);
    recorder_allocated(base_of(0) + 64, 100, frame);
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    assert_int_equal(check.header->completeness.unknown_frees, 1);
    assert_int_equal(check.header->completeness.events_lost, 1);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).live_bytes, 200);
    trace_scratch_check_finish(&check);
}

static void test_threads_below_the_peak_need_not_be_seen_one_by_one(void **state) {
    struct trace_check check;
    run_threads(churn_below_a_peak);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_int_equal(check.regions[0]->space[TRACE_HEAP].peak.bytes, THREADS * BIG);
    assert_int_equal(check.regions[0]->combined_peak_bytes, THREADS * BIG);
    assert_int_equal(heap.live_blocks, 0);
    assert_int_equal(heap.allocations, heap.frees);
    assert_true(heap.allocations > THREADS * (LONG_RUN / 2));
    trace_scratch_check_finish(&check);
}

/*
 * One block at a time, ever larger and then small again: the largest of all threads are never
 * live at once, so that the gap below the peak misses a little of what all need.
 */
#define SLOPE 128u
static void *go_up_and_down(void *data) {
    uint64_t thread = (uintptr_t)data;
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < LONG_RUN; i++) {
        uintptr_t address = base_of(thread) + (1 + i % 4) * 1024;
        recorder_allocated(address, 1 + i % SLOPE, frame);
        recorder_freed(address);
    }
    return NULL;
}

static void test_credit_goes_around_among_threads_that_need_more_than_there_is(void **state) {
    struct trace_check check;
    run_threads(go_up_and_down);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_int_equal(heap.allocations, THREADS * LONG_RUN);
    assert_int_equal(heap.live_blocks, 0);
    assert_true(check.regions[0]->space[TRACE_HEAP].peak.bytes >= SLOPE);
    assert_true(check.regions[0]->space[TRACE_HEAP].peak.bytes <= THREADS * SLOPE);
    assert_true(events_beside_the_lock(&check) > heap.allocations);
    trace_scratch_check_finish(&check);
}

static void test_an_owner_says_that_it_is_out_of_its_lane_only_when_it_is(void **state) {
    struct trace_lane record = {.updating = 1};
    struct lane lane = {.lease = LANES_CLOSED | 7, .record = &record};
    assert_false(lanes_await(&lane)); /* a signal handler, which interrupted an event */
    assert_int_equal(lane.seen_closing, 0);
    record.updating = 0;
    assert_false(lanes_await(&lane)); /* it is not opened again */
    assert_int_equal(lane.seen_closing, 7);
}

/* After a run without the lock, each thread once more goes up, all at the same time. */
static void *peak_after_churn(void *data) {
    uint64_t thread = (uintptr_t)data;
    uintptr_t big = base_of(thread) + (UINT64_C(1) << 30);
    recorder_allocated(big, BIG, frame);
    pthread_barrier_wait(&barrier);
    recorder_freed(big);
    for (unsigned round = 1; round <= 5; round++) {
        churn(thread, round * 10 + thread, LONG_RUN / 5);
        pthread_barrier_wait(&barrier);
        recorder_allocated(big, BIG + round, frame);
        pthread_barrier_wait(&barrier);
        recorder_freed(big);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_a_peak_that_all_threads_make_together_is_exact(void **state) {
    struct trace_check check;
    run_threads(peak_after_churn);
    recorder_scratch_exit(&scratch, &check);
    assert_int_equal(check.regions[0]->space[TRACE_HEAP].peak.bytes, THREADS * (BIG + 5));
    trace_scratch_check_finish(&check);
}

/* Blocks of one thread are freed by the next: 64 places in a ring between each two. */
#define RING 64u
static struct ring {
    _Atomic unsigned written;
    _Atomic unsigned read;
    uintptr_t addresses[RING];
} rings[THREADS];

static void *hand_on(void *data) {
    uint64_t thread = (uintptr_t)data;
    struct ring *to = &rings[thread];
    struct ring *from = &rings[(thread + THREADS - 1) % THREADS];
    unsigned sent = 0;
    unsigned received = 0;
    while (sent < LONG_RUN / 4 || received < LONG_RUN / 4) {
        if (sent < LONG_RUN / 4 && sent - to->read < RING) {
            uintptr_t address = base_of(thread) + (sent % (2 * RING) + 1) * 64;
            recorder_allocated(address, sent % 50, frame);
            to->addresses[sent % RING] = address;
            to->written = ++sent;
        }
        if (from->written != received) {
            recorder_freed(from->addresses[received % RING]);
            from->read = ++received;
        }
    }
    return NULL;
}

static void test_blocks_that_other_threads_free_are_found(void **state) {
    struct trace_check check;
    memset(rings, 0, sizeof(rings));
    run_threads(hand_on);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_int_equal(heap.allocations, THREADS * (LONG_RUN / 4));
    assert_int_equal(heap.frees, heap.allocations);
    assert_int_equal(heap.freed_bytes, heap.allocated_bytes);
    trace_scratch_check_finish(&check);
}

static void *churn_a_little(void *data) {
    churn((uintptr_t)data % 50, (uintptr_t)data, 1000);
    return NULL;
}

static void test_lanes_of_threads_that_ended_are_used_again(void **state) {
    struct trace_check check;
    for (uintptr_t i = 0; i < 3 * TRACE_LANES_MAX; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, churn_a_little, (void *)i), 0);
        pthread_join(thread, NULL);
    }
    recorder_scratch_exit(&scratch, &check);
    assert_true(check.lane_count <= TRACE_LANES_MAX);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).live_blocks, 0);
    trace_scratch_check_finish(&check);
}

/* Threads that have lanes, do nothing, and live. */
static void *churn_and_wait(void *data) {
    churn_a_little(data);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void note_owners(uint64_t ret_owners[TRACE_LANES_MAX]) {
    for (int i = 0; i < (int)TRACE_LANES_MAX; i++)
        ret_owners[i] = recorder.lanes->lane[i].owner;
}

static void test_no_thread_is_given_the_lane_of_one_that_lives(void **state) {
    pthread_t idle[TRACE_LANES_MAX];
    uint64_t owners[TRACE_LANES_MAX];
    uint64_t owners_later[TRACE_LANES_MAX];
    pthread_t late;
    struct trace_check check;
    pthread_barrier_init(&barrier, NULL, TRACE_LANES_MAX + 1);
    for (uintptr_t i = 0; i < TRACE_LANES_MAX; i++)
        assert_int_equal(pthread_create(&idle[i], NULL, churn_and_wait, (void *)i), 0);
    pthread_barrier_wait(&barrier);
    assert_int_equal(recorder.lanes->count, TRACE_LANES_MAX);
    note_owners(owners);
    assert_int_equal(pthread_create(&late, NULL, churn_alone, NULL), 0);
    pthread_join(late, NULL);
    note_owners(owners_later);
    assert_memory_equal(owners, owners_later, sizeof(owners));
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < (int)TRACE_LANES_MAX; i++)
        pthread_join(idle[i], NULL);
    pthread_barrier_destroy(&barrier);
    recorder_scratch_exit(&scratch, &check);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).live_blocks, 0);
    trace_scratch_check_finish(&check);
}

static void *realloc_below_a_peak(void *data) {
    uint64_t thread = (uintptr_t)data;
    uintptr_t big = base_of(thread) + (UINT64_C(1) << 30);
    uintptr_t block = base_of(thread) + 64;
    recorder_allocated(big, BIG, frame);
    pthread_barrier_wait(&barrier);
    recorder_freed(big);
    recorder_allocated(block, 1, frame);
    for (uint64_t i = 0; i < LONG_RUN / 4; i++) {
        struct recorder_taken taken;
        uintptr_t moved = base_of(thread) + 64 + i % 3 * 64;
        recorder_reallocating(block, &taken);
        if (i % 5 == 0) {
            recorder_realloc_failed(&taken);
            continue;
        }
        recorder_reallocated(&taken, moved, i % 100, frame);
        block = moved;
    }
    recorder_freed(block);
    return NULL;
}

static void test_reallocations_are_one_event_in_a_lane_too(void **state) {
    struct trace_check check;
    run_threads(realloc_below_a_peak);
    recorder_scratch_exit(&scratch, &check);
    const struct trace_totals *heap = &check.regions[0]->space[TRACE_HEAP];
    uint64_t reallocations = heap->reallocations;
    for (uint32_t lane = 0; lane < TRACE_LANES_MAX; lane++)
        if (check.lanes[lane] != NULL)
            reallocations += check.lanes[lane]->reallocations;
    assert_int_equal(reallocations, THREADS * (LONG_RUN / 4) * 4 / 5);
    assert_int_equal(heap->failed, THREADS * (LONG_RUN / 4) / 5);
    assert_int_equal(heap->peak.bytes, THREADS * BIG);
    assert_int_equal(trace_check_sum(&check, 0, TRACE_HEAP).live_blocks, 0);
    trace_scratch_check_finish(&check);
}

static void test_sizes_are_counted_in_whatever_lane(void **state) {
    struct trace_check check;
    run_threads(churn_below_a_peak);
    recorder_scratch_exit(&scratch, &check);
    uint64_t counted = 0;
    for (uint32_t lane = 0; lane < TRACE_LANES_MAX; lane++)
        for (uint32_t bucket = 0; check.lanes[lane] != NULL && bucket < TRACE_SIZE_BUCKETS;
             bucket++)
            counted += check.lanes[lane]->size_counts[bucket];
    assert_int_equal(counted, trace_check_sum(&check, 0, TRACE_HEAP).allocations);
    trace_scratch_check_finish(&check);
}

/* Say in the trace that lane 0 is in the middle of an event, or not. */
static void set_updating(uint64_t updating) {
    struct trace_check check;
    trace_scratch_check(scratch.path, &check);
    long offset = (const unsigned char *)&check.lanes[0]->updating - check.bytes;
    int fd = open(scratch.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &updating, sizeof(updating), offset), sizeof(updating));
    close(fd);
    trace_scratch_check_finish(&check);
}

/* As a signal handler finds it that has interrupted its thread there. */
static void test_an_event_inside_an_event_waits(void **state) {
    struct trace_check check;
    recorder_allocated(0x10000, 10, frame);
    recorder_allocated(0x20000, 20, frame);
    set_updating(1);
    recorder_allocated(0x30000, 30, frame);
    recorder_freed(0x10000);
    set_updating(0);
    recorder_allocated(0x40000, 40, frame);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_int_equal(heap.allocations, 4);
    assert_int_equal(heap.frees, 1);
    assert_int_equal(heap.live_bytes, 90);
    trace_scratch_check_finish(&check);
}

/* A child that no fork handler has seen must find its lane closed. */
static void test_a_child_does_not_write_to_its_parents_lane(void **state) {
    struct trace_check check;
    recorder_allocated(0x10000, 10, frame);
    pid_t child = fork();
    if (child == 0) {
        recorder_allocated(0x20000, 20, frame);
        recorder_freed(0x10000);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    recorder_scratch_exit(&scratch, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    assert_int_equal(heap.allocations, 1);
    assert_int_equal(heap.live_bytes, 10);
    trace_scratch_check_finish(&check);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_an_event_inside_an_event_waits),
        TEST(test_a_child_does_not_write_to_its_parents_lane),
        TEST(test_a_thread_that_works_alone_does_without_the_lock),
        TEST(test_addresses_that_no_program_has_are_counted_and_do_no_harm),
        TEST(test_threads_below_the_peak_need_not_be_seen_one_by_one),
        TEST(test_credit_goes_around_among_threads_that_need_more_than_there_is),
        TEST(test_an_owner_says_that_it_is_out_of_its_lane_only_when_it_is),
        TEST(test_a_peak_that_all_threads_make_together_is_exact),
        TEST(test_blocks_that_other_threads_free_are_found),
        TEST(test_lanes_of_threads_that_ended_are_used_again),
        TEST(test_no_thread_is_given_the_lane_of_one_that_lives),
        TEST(test_reallocations_are_one_event_in_a_lane_too),
        TEST(test_sizes_are_counted_in_whatever_lane),
#undef TEST
    };
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
