/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight threads hammer the recorder; what each of them knows it did has to be in the sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backtrace_fake.h"
#include "random.h"
#include "recorder.h"
#include "trace_scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define STEPS   30000
#define BLOCKS  200
#define PAGE    UINT64_C(4096)

struct worker {
    pthread_t thread;
    uint64_t seed;
    uintptr_t base;
    uint64_t allocations, allocated_bytes, frees, freed_bytes, failed, temporary;
    uint64_t mapped_pages, unmapped_pages;
    uint64_t live_blocks;
    int64_t live_bytes;
    struct {
        bool live;
        uint64_t bytes;
    } blocks[BLOCKS];
    bool mapped[BLOCKS];
};

static const uintptr_t frame[2] = {0, 0xca11e4};
static struct trace_scratch scratch;

static uintptr_t address_of(const struct worker *worker, uint64_t block) {
    return worker->base + block * 48;
}

static void note_freed(struct worker *worker, uint64_t block) {
    worker->frees++;
    worker->freed_bytes += worker->blocks[block].bytes;
    worker->live_blocks--;
    worker->live_bytes -= (int64_t)worker->blocks[block].bytes;
    worker->blocks[block].live = false;
}

static void note_allocated(struct worker *worker, uint64_t block, uint64_t bytes) {
    worker->allocations++;
    worker->allocated_bytes += bytes;
    worker->live_blocks++;
    worker->live_bytes += (int64_t)bytes;
    worker->blocks[block].live = true;
    worker->blocks[block].bytes = bytes;
}

static void step_realloc(struct worker *worker, struct random *random, uint64_t block) {
    struct recorder_taken taken;
    uint64_t bytes = random_below(random, 10000);
    recorder_reallocating(address_of(worker, block), &taken);
    switch (random_below(random, 3)) {
    case 0:
        recorder_realloc_failed(&taken);
        worker->failed++;
        return;
    case 1:
        recorder_reallocated(&taken, 0, 0, frame);
        note_freed(worker, block);
        return;
    default:
        recorder_reallocated(&taken, address_of(worker, block), bytes, frame);
        note_freed(worker, block);
        note_allocated(worker, block, bytes);
    }
}

static void step_heap(struct worker *worker, struct random *random) {
    uint64_t block = random_below(random, BLOCKS);
    if (!worker->blocks[block].live) {
        uint64_t bytes = random_below(random, 10000);
        recorder_allocated(address_of(worker, block), bytes, frame);
        note_allocated(worker, block, bytes);
    } else if (random_below(random, 3) == 0) {
        step_realloc(worker, random, block);
    } else {
        recorder_freed(address_of(worker, block));
        note_freed(worker, block);
    }
}

static void step_mapping(struct worker *worker, struct random *random) {
    uint64_t page = random_below(random, BLOCKS);
    uintptr_t address = worker->base + (UINT64_C(1) << 24) + page * PAGE;
    if (!worker->mapped[page]) {
        recorder_mapped(address, PAGE, TRACE_MAP_ANON, frame);
        worker->mapped_pages++;
    } else {
        struct recorder_unmapping unmapping;
        recorder_unmapping(address, PAGE, &unmapping);
        recorder_unmapped(address, PAGE, &unmapping);
        worker->unmapped_pages++;
    }
    worker->mapped[page] = !worker->mapped[page];
}

static void *work(void *data) {
    static const char *const names[] = {"a", "b", "c"};
    struct worker *worker = data;
    struct random random = {worker->seed};
    uintptr_t frames[5] = {0, 0, 0, 2, 1};
    for (int i = 0; i < STEPS; i++) {
        struct votrace_region_totals totals;
        /* Most stacks are everybody's, some are new. */
        frames[0] = 100 + random_below(&random, i % 50 == 0 ? 4000 : 20);
        frames[1] = 10 + random_below(&random, 4);
        frames[2] = 5 + worker->seed % 3;
        backtrace_fake_set(frames, 5, true);
        uint64_t what = random_below(&random, 100);
        if (what < 85)
            step_heap(worker, &random);
        else if (what < 97)
            step_mapping(worker, &random);
        else if (what == 97)
            recorder_region_begin(names[random_below(&random, 3)]);
        else if (what == 98)
            recorder_region_end(names[random_below(&random, 3)]);
        else
            recorder_region_query("a", &totals);
    }
    backtrace_fake_set(NULL, 0, true);
    return NULL;
}

static void run(const char *stacks) {
    static struct worker workers[THREADS];
    struct trace_check check;
    trace_scratch_init(&scratch);
    setenv("VOTRACE_OUTPUT", scratch.path, 1);
    setenv("VOTRACE_STACKS", stacks, 1);
    recorder_reset_for_tests();
    recorder_start();
    memset(workers, 0, sizeof(workers));
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].seed = i + 1;
        workers[i].base = UINT64_C(0x7f0000000000) + (i << 33);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    struct worker sum = {0};
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        sum.allocations += workers[i].allocations;
        sum.allocated_bytes += workers[i].allocated_bytes;
        sum.frees += workers[i].frees;
        sum.freed_bytes += workers[i].freed_bytes;
        sum.failed += workers[i].failed;
        sum.mapped_pages += workers[i].mapped_pages;
        sum.unmapped_pages += workers[i].unmapped_pages;
        sum.live_blocks += workers[i].live_blocks;
        sum.live_bytes += workers[i].live_bytes;
    }
    recorder_exiting();
    trace_scratch_check(scratch.path, &check);
    struct trace_check_sums heap = trace_check_sum(&check, 0, TRACE_HEAP);
    struct trace_check_sums anon = trace_check_sum(&check, 0, TRACE_MAP_ANON);
    assert_int_equal(heap.allocations, sum.allocations);
    assert_int_equal(heap.allocated_bytes, sum.allocated_bytes);
    assert_int_equal(heap.frees, sum.frees);
    assert_int_equal(heap.freed_bytes, sum.freed_bytes);
    assert_int_equal(heap.live_blocks, sum.live_blocks);
    assert_int_equal(heap.live_bytes, sum.live_bytes);
    assert_int_equal(check.regions[0]->space[TRACE_HEAP].failed, sum.failed);
    assert_int_equal(anon.allocations, sum.mapped_pages);
    assert_int_equal(anon.frees, sum.unmapped_pages);
    assert_int_equal(check.header->completeness.events_lost, 0);
    assert_int_equal(check.header->completeness.unknown_frees, 0);
    assert_int_equal(check.header->completeness.stacks_missing, 0);
    trace_scratch_check_finish(&check);
    recorder_reset_for_tests();
    trace_scratch_finish(&scratch);
}

static void test_eight_threads_agree_with_their_own_sums_and_stacks(void **state) {
    run("all");
}

static void test_eight_threads_agree_with_their_own_sums_without_stacks(void **state) {
    run("none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_threads_agree_with_their_own_sums_and_stacks),
        cmocka_unit_test(test_eight_threads_agree_with_their_own_sums_without_stacks),
    };
    return cmocka_run_group_tests_name("recorder_threads", tests, NULL, NULL);
}
