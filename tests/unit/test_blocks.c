/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of live blocks, against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blocks.h"
#include "random.h"
#include "sysmem_wrap.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model {
    uintptr_t address;
    struct block block;
    bool live;
};

static struct block random_block(struct random *random) {
    /* Sizes and births of all magnitudes, the largest included. */
    uint64_t size_bytes = random_next(random) >> (64 - BLOCKS_SIZE_BITS);
    size_bytes >>= random_below(random, BLOCKS_SIZE_BITS + 1);
    if (random_below(random, 100) == 0)
        size_bytes = BLOCKS_SIZE_MAX;
    return (struct block){
        .size_bytes = size_bytes,
        .site = (uint32_t)random_below(random, (uint64_t)BLOCKS_SITE_MAX + 1),
        .birth = (uint32_t)random_below(random, (uint64_t)BLOCKS_BIRTH_MAX + 1) >>
                 random_below(random, BLOCKS_BIRTH_BITS + 1),
    };
}

static void insert(struct blocks *blocks, struct model *entry, struct random *random) {
    struct block old = {0};
    bool stale;
    entry->block = random_block(random);
    assert_int_equal(blocks_insert(blocks, entry->address, entry->block.size_bytes,
                                   entry->block.site, entry->block.birth, &old, &stale),
                     0);
    assert_false(stale);
    entry->live = true;
}

static void assert_same_block(const struct block *a, const struct block *b) {
    assert_int_equal(a->size_bytes, b->size_bytes);
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->birth, b->birth);
}

static void remove_and_compare(struct blocks *blocks, struct model *entry) {
    struct block block;
    assert_true(blocks_remove(blocks, entry->address, &block));
    assert_same_block(&block, &entry->block);
    entry->live = false;
}

/* @count addresses, @operations random inserts and removes of one of them, then all removed. */
static void run_model(struct model *entries, size_t count, size_t operations, uint64_t seed) {
    static struct blocks blocks;
    struct random random = {seed};
    struct block block;
    assert_int_equal(blocks_init(&blocks), 0);

    for (size_t i = 0; i < operations; i++) {
        struct model *entry = &entries[random_below(&random, count)];
        /*
         * Swing between nearly empty and nearly full, so that tables grow and are given back.
         */
        bool filling = i / (count * 4) % 2 == 0;
        bool wants = random_below(&random, 10) < (filling ? 8 : 2);
        if (!entry->live && wants)
            insert(&blocks, entry, &random);
        else if (entry->live && !wants)
            remove_and_compare(&blocks, entry);
        else if (!entry->live)
            assert_false(blocks_remove(&blocks, entry->address, &block));
    }
    for (size_t i = 0; i < count; i++)
        if (entries[i].live)
            remove_and_compare(&blocks, &entries[i]);
    for (size_t i = 0; i < count; i++)
        assert_false(blocks_remove(&blocks, entries[i].address, &block));
}

static void test_clustered_addresses_are_kept_apart(void **state) {
    size_t count = 20000;
    struct model *entries = calloc(count, sizeof(*entries));
    for (size_t i = 0; i < count; i++)
        entries[i].address = UINT64_C(0x7f1234560000) + i * 16;
    run_model(entries, count, 1000000, 1);
    free(entries);
}

static void test_every_granule_of_a_page_can_hold_a_block(void **state) {
    size_t count = 3 * 8192;
    struct model *entries = calloc(count, sizeof(*entries));
    for (size_t i = 0; i < count; i++)
        entries[i].address = UINT64_C(0x5555ffff0000) + i * 8;
    run_model(entries, count, 1000000, 2);
    free(entries);
}

static int compare_addresses(const void *a, const void *b) {
    uintptr_t left = ((const struct model *)a)->address;
    uintptr_t right = ((const struct model *)b)->address;
    return left < right ? -1 : left > right;
}

static void test_scattered_addresses_are_kept_apart(void **state) {
    size_t count = 20000;
    size_t unique = 1;
    struct random random = {3};
    struct model *entries = calloc(count, sizeof(*entries));
    for (size_t i = 0; i < count; i++) {
        /* 12 root tables, so that not all of the address space is mapped. */
        uint64_t root = random_below(&random, 12) * UINT64_C(0x0aaa00000000);
        entries[i].address = (root | random_below(&random, UINT64_C(1) << 32)) & ~UINT64_C(7);
        entries[i].address |= 8;
    }
    qsort(entries, count, sizeof(*entries), compare_addresses);
    for (size_t i = 1; i < count; i++)
        if (entries[i].address != entries[unique - 1].address)
            entries[unique++] = entries[i];
    entries[unique - 1].address = (UINT64_C(1) << BLOCKS_ADDRESS_BITS) - 8;
    run_model(entries, unique, 1000000, 4);
    free(entries);
}

static void test_a_large_stride_does_not_make_one_chain(void **state) {
    size_t count = 4096;
    struct model *entries = calloc(count, sizeof(*entries));
    for (size_t i = 0; i < count; i++)
        entries[i].address = UINT64_C(0x7f0000000000) + i * 4096 + 16;
    run_model(entries, count, 300000, 5);
    free(entries);
}

static void test_addresses_and_sizes_beyond_the_limits_are_refused(void **state) {
    static struct blocks blocks;
    struct block old = {0};
    bool stale;
    assert_int_equal(blocks_init(&blocks), 0);
    assert_int_equal(
        blocks_insert(&blocks, UINT64_C(1) << BLOCKS_ADDRESS_BITS, 1, 0, 0, &old, &stale),
        -ERANGE);
    assert_int_equal(blocks_insert(&blocks, 4096, BLOCKS_SIZE_MAX + 1, 0, 0, &old, &stale),
                     -ERANGE);
    assert_false(stale);
    assert_false(blocks_remove(&blocks, 4096, &old));
    assert_false(blocks_remove(&blocks, UINT64_C(1) << BLOCKS_ADDRESS_BITS, &old));
    assert_int_equal(
        blocks_insert(&blocks, 4096, BLOCKS_SIZE_MAX, BLOCKS_SITE_MAX, 0, &old, &stale), 0);
    assert_true(blocks_remove(&blocks, 4096, &old));
    assert_true(old.size_bytes == BLOCKS_SIZE_MAX && old.site == BLOCKS_SITE_MAX);
}

/* A block of each size, site and birth in a page whose births count from @first. */
static void compare_at_borders(uint32_t first) {
    static const uint64_t sizes[] = {
        0, 1, BLOCKS_WIDE - 1, BLOCKS_WIDE, BLOCKS_WIDE + 1, BLOCKS_SIZE_MAX};
    const uint32_t births[] = {0,
                               first - 1,
                               first,
                               first + BLOCKS_SHORT_BIRTHS - 1,
                               first + BLOCKS_SHORT_BIRTHS,
                               BLOCKS_BIRTH_MAX};
    static const uint32_t sites[] = {0, BLOCKS_SITE_MAX};
    static struct blocks blocks;
    const struct block opposites[] = {{0, 0, first},
                                      {BLOCKS_SIZE_MAX, BLOCKS_SITE_MAX, BLOCKS_BIRTH_MAX}};
    struct block out;
    assert_int_equal(blocks_init(&blocks), 0);
    assert_true(blocks_claim(&blocks, 0x10000, 1));
    for (size_t i = 0; i < 6 * 6 * 2; i++) {
        struct block in = {sizes[i % 6], sites[i / 36], births[i / 6 % 6] & BLOCKS_BIRTH_MAX};
        /* Between a neighbour of zeroes and one of ones, in the same chain. */
        assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10000, &opposites[0]), BLOCKS_DONE);
        assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10010, &in), BLOCKS_DONE);
        assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10038, &opposites[1]), BLOCKS_DONE);
        assert_int_equal(blocks_lane_remove(&blocks, 1, 0x10010, &out), BLOCKS_DONE);
        assert_same_block(&out, &in);
        assert_int_equal(blocks_lane_remove(&blocks, 1, 0x10038, &out), BLOCKS_DONE);
        assert_same_block(&out, &opposites[1]);
        assert_int_equal(blocks_lane_remove(&blocks, 1, 0x10000, &out), BLOCKS_DONE);
        assert_same_block(&out, &opposites[0]);
    }
}

static void test_sizes_and_births_at_the_border_of_two_slots_are_kept(void **state) {
    compare_at_borders(0);
    compare_at_borders(1);
    compare_at_borders(BLOCKS_SHORT_BIRTHS);
    compare_at_borders(BLOCKS_BIRTH_MAX - 100);
    compare_at_borders(BLOCKS_BIRTH_MAX);
}

static void test_small_blocks_born_late_take_one_slot_where_none_is_older(void **state) {
    static struct blocks blocks;
    struct block block = {.size_bytes = 100};
    struct block out;
    assert_int_equal(blocks_init(&blocks), 0);
    for (uint32_t round = 0; round < 3; round++) {
        for (uintptr_t i = 0; i < 500; i++) {
            block.birth = round * 100000 + (uint32_t)i * 8;
            assert_true(blocks_claim(&blocks, 0x10000 + i * 112, 1));
            assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10000 + i * 112, &block),
                             BLOCKS_DONE);
        }
        const struct blocks_page *page = blocks_page_of(&blocks, 0x10000);
        assert_true(page != NULL && page->used == 500 && page->capacity == 512);
        for (uintptr_t i = 0; i < 500; i++)
            assert_int_equal(blocks_lane_remove(&blocks, 1, 0x10000 + i * 112, &out),
                             BLOCKS_DONE);
    }
}

static void test_a_stale_entry_is_returned_when_its_address_comes_again(void **state) {
    static struct blocks blocks;
    struct block old = {0};
    bool stale;
    assert_int_equal(blocks_init(&blocks), 0);
    assert_int_equal(blocks_insert(&blocks, 0x10000, 100, 7, 1, &old, &stale), 0);
    assert_int_equal(blocks_insert(&blocks, 0x10000, 200, 8, 2, &old, &stale), 0);
    assert_true(stale);
    assert_int_equal(old.size_bytes, 100);
    assert_int_equal(old.site, 7);
    assert_true(blocks_remove(&blocks, 0x10000, &old));
    assert_int_equal(old.size_bytes, 200);
    assert_false(blocks_remove(&blocks, 0x10000, &old));
}

/* Nothing is forgotten or invented when frees go by unseen: bytes in == bytes out. */
static void test_stale_entries_keep_the_sum_whole(void **state) {
    static struct blocks blocks;
    struct random random = {6};
    struct block old = {0};
    bool stale;
    uint64_t in_bytes = 0;
    uint64_t out_bytes = 0;
    size_t stale_count = 0;
    assert_int_equal(blocks_init(&blocks), 0);
    for (size_t i = 0; i < 200000; i++) {
        uintptr_t address = 0x7f0000000000 + random_below(&random, 3000) * 8;
        uint64_t size_bytes = random_below(&random, 100000);
        if (random_below(&random, 2) == 0) {
            assert_int_equal(blocks_insert(&blocks, address, size_bytes, 3, 0, &old, &stale),
                             0);
            in_bytes += size_bytes;
            out_bytes += stale ? old.size_bytes : 0;
            stale_count += stale;
        } else if (blocks_remove(&blocks, address, &old)) {
            out_bytes += old.size_bytes;
        }
    }
    for (uintptr_t i = 0; i < 3000; i++)
        while (blocks_remove(&blocks, 0x7f0000000000 + i * 8, &old))
            out_bytes += old.size_bytes;
    assert_int_equal(in_bytes, out_bytes);
    assert_true(stale_count > 1000);
}

static void test_when_memory_is_refused_the_block_that_is_lost_is_told(void **state) {
    static struct blocks blocks;
    struct block old = {0};
    bool stale;
    uint64_t in_bytes = 0;
    uint64_t lost_bytes = 0;
    size_t refused = 0;
    assert_int_equal(blocks_init(&blocks), 0);
    sysmem_refuse_after(2);
    for (uintptr_t i = 0; i < 100000; i++) {
        int r = blocks_insert(&blocks, 0x7f0000000000 + i * 4096, i, 1, 0, &old, &stale);
        in_bytes += i;
        if (r == 0)
            continue;
        assert_int_equal(r, -ENOMEM);
        lost_bytes += old.size_bytes;
        refused++;
    }
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_true(refused > 0);
    for (uintptr_t i = 0; i < 100000; i++)
        if (blocks_remove(&blocks, 0x7f0000000000 + i * 4096, &old))
            in_bytes -= old.size_bytes;
    assert_int_equal(in_bytes, lost_bytes);
}

/* The page is full, and the newcomer is where a block is whose free was not seen. */
static void test_when_memory_is_refused_the_older_block_stays(void **state) {
    static struct blocks blocks;
    struct block old = {0};
    bool stale;
    const uintptr_t page = 0x7f0000000000;
    uintptr_t elsewhere = page + 0x10000;
    assert_int_equal(blocks_init(&blocks), 0);
    for (uintptr_t i = 0; i < BLOCKS_SEGMENT_SLOTS - 2; i++)
        blocks_insert(&blocks, page + i * 64, 100 + i, 1, 0, &old, &stale);
    blocks_insert(&blocks, page + 0xf000, BLOCKS_WIDE, 1, 0, &old, &stale);
    sysmem_refuse_after(0);
    while (blocks_insert(&blocks, elsewhere, 1, 1, 0, &old, &stale) == 0)
        elsewhere += 0x10000;
    assert_int_equal(blocks_insert(&blocks, page, 7, 2, 0, &old, &stale), -ENOMEM);
    assert_int_equal(blocks_insert(&blocks, elsewhere, 1, 1, 0, &old, &stale), -ENOMEM);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_false(stale);
    assert_int_equal(old.size_bytes, 7);
    assert_int_equal(old.site, 2);
    assert_true(blocks_remove(&blocks, page, &old));
    assert_int_equal(old.size_bytes, 100);
}

static void test_init_fails_when_memory_is_refused(void **state) {
    static struct blocks blocks;
    sysmem_refuse_after(0);
    int r = blocks_init(&blocks);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(r, -ENOMEM);
}

/* Lanes */

#define LANE_PAGE_BYTES (UINT64_C(1) << BLOCKS_PAGE_SHIFT)
#define LANE_PAGES      6
#define LANE_ENTRIES    (BLOCKS_PARTS / 8) /* in each of the pages */
#define LANE_BASE       UINT64_C(0x7ffeffff0000)
#define NO_PAGE         UINT32_MAX

/* The table and what it ought to hold. */
struct lane_model {
    struct blocks blocks;
    struct random random;
    struct model entries[LANE_PAGES * LANE_ENTRIES];
    uint32_t owners[LANE_PAGES];
    size_t answers[BLOCKS_ABSENT + 1];
};

static void lane_model_init(struct lane_model *model) {
    memset(model, 0, sizeof(*model));
    model->random.state = 7;
    assert_int_equal(blocks_init(&model->blocks), 0);
    uintptr_t base = LANE_BASE / LANE_PAGE_BYTES * LANE_PAGE_BYTES;
    for (size_t i = 0; i < LANE_PAGES * LANE_ENTRIES; i++)
        /* At most 16 to a unit, and nowhere near as many as would fit. */
        model->entries[i].address =
            base + i / LANE_ENTRIES * LANE_PAGE_BYTES + i % LANE_ENTRIES * 24;
    for (size_t i = 0; i < LANE_PAGES; i++)
        model->owners[i] = NO_PAGE;
}

/* A lane inserts what is there or not, in a page that may be its own. */
static void model_lane_insert(struct lane_model *model, size_t i, uint32_t lane) {
    struct model *entry = &model->entries[i];
    uint32_t *owner = &model->owners[i / LANE_ENTRIES];
    struct block block = random_block(&model->random);
    enum blocks_answer answer =
        blocks_lane_insert(&model->blocks, lane, entry->address, &block);
    model->answers[answer]++;
    if (*owner != lane) {
        assert_int_equal(answer, BLOCKS_ELSEWHERE);
    } else if (entry->live) {
        assert_int_equal(answer, BLOCKS_THERE);
        return;
    }
    if (answer != BLOCKS_DONE) {
        assert_true(answer == BLOCKS_ELSEWHERE || answer == BLOCKS_FULL);
        if (answer == BLOCKS_ELSEWHERE && random_below(&model->random, 4) != 0)
            return;
        assert_true(blocks_claim(&model->blocks, entry->address, lane));
        *owner = lane;
        answer = blocks_lane_insert(&model->blocks, lane, entry->address, &block);
        assert_int_equal(answer, entry->live ? BLOCKS_THERE : BLOCKS_DONE);
        if (entry->live)
            return;
    }
    entry->block = block;
    entry->live = true;
}

static void model_lane_remove(struct lane_model *model, size_t i, uint32_t lane) {
    struct model *entry = &model->entries[i];
    struct block block;
    enum blocks_answer answer =
        blocks_lane_remove(&model->blocks, lane, entry->address, &block);
    model->answers[answer]++;
    if (model->owners[i / LANE_ENTRIES] != lane) {
        assert_int_equal(answer, BLOCKS_ELSEWHERE);
        return;
    }
    assert_int_equal(answer, entry->live ? BLOCKS_DONE : BLOCKS_ABSENT);
    if (entry->live)
        assert_same_block(&block, &entry->block);
    entry->live = false;
}

/* The lock's holder enters a block whoever owns the page. */
static void model_locked_insert(struct lane_model *model, size_t i) {
    struct model *entry = &model->entries[i];
    struct block before = entry->block;
    struct block old;
    bool stale;
    entry->block = random_block(&model->random);
    assert_int_equal(blocks_insert(&model->blocks, entry->address, entry->block.size_bytes,
                                   entry->block.site, entry->block.birth, &old, &stale),
                     0);
    assert_false(stale);
    assert_int_equal(blocks_settle(&model->blocks, &old, &stale), 0);
    assert_int_equal(stale, entry->live);
    if (stale)
        assert_same_block(&old, &before);
    entry->live = true;
    if (model->owners[i / LANE_ENTRIES] == NO_PAGE)
        model->owners[i / LANE_ENTRIES] = 0;
}

static void test_lanes_and_the_lock_share_one_table(void **state) {
    static struct lane_model model;
    struct block block;
    lane_model_init(&model);
    for (size_t i = 0; i < 1500000; i++) {
        size_t at = random_below(&model.random, LANE_PAGES * LANE_ENTRIES);
        uint32_t lane = (uint32_t)random_below(&model.random, 3);
        bool filling = i / 30000 % 2 == 0;
        bool inserts = random_below(&model.random, 20) < (filling ? 16 : 4);
        bool locked = random_below(&model.random, 4) == 0;
        if (inserts && locked)
            model_locked_insert(&model, at);
        else if (inserts)
            model_lane_insert(&model, at, lane);
        else if (!locked)
            model_lane_remove(&model, at, lane);
        else if (model.entries[at].live)
            remove_and_compare(&model.blocks, &model.entries[at]);
        else
            assert_false(blocks_remove(&model.blocks, model.entries[at].address, &block));
    }
    for (size_t i = 0; i <= BLOCKS_ABSENT; i++)
        assert_true(model.answers[i] > 10);
    for (size_t i = 0; i < LANE_PAGES * LANE_ENTRIES; i++)
        for (uint32_t lane = 0; lane < 3; lane++)
            model_lane_remove(&model, i, lane);
    for (size_t i = 0; i < LANE_PAGES * LANE_ENTRIES; i++)
        assert_false(blocks_remove(&model.blocks, model.entries[i].address, &block));
}

/* One thread with pages of its own beside the other's, in turn. */
struct lane_thread {
    pthread_t thread;
    struct blocks *blocks;
    pthread_mutex_t *lock;
    uint32_t lane; /* 1 or 2 */
    size_t wrong;  /* answers that should not have been */
    size_t claims;
};

#define THREAD_PAGES   64
#define THREAD_ENTRIES 20000

static uintptr_t thread_address(const struct lane_thread *self, size_t i) {
    /* Every page for the other root of the address, so that those are made at the same time. */
    size_t page = i % THREAD_PAGES * 2 + self->lane - 1;
    return (page / 2 % 4 << BLOCKS_ROOT_SHIFT) + (page << BLOCKS_PAGE_SHIFT) +
           i / THREAD_PAGES * 72;
}

static void thread_insert(struct lane_thread *self, struct model *entry) {
    enum blocks_answer answer =
        blocks_lane_insert(self->blocks, self->lane, entry->address, &entry->block);
    if (answer == BLOCKS_ELSEWHERE || answer == BLOCKS_FULL) {
        pthread_mutex_lock(self->lock);
        self->wrong += !blocks_claim(self->blocks, entry->address, self->lane);
        pthread_mutex_unlock(self->lock);
        self->claims++;
        answer = blocks_lane_insert(self->blocks, self->lane, entry->address, &entry->block);
    }
    self->wrong += answer != BLOCKS_DONE;
    entry->live = true;
}

static void thread_remove(struct lane_thread *self, struct model *entry) {
    struct block block = {0};
    self->wrong +=
        blocks_lane_remove(self->blocks, self->lane, entry->address, &block) != BLOCKS_DONE ||
        block.size_bytes != entry->block.size_bytes || block.site != entry->block.site ||
        block.birth != entry->block.birth;
    entry->live = false;
}

static void *thread_run(void *data) {
    struct lane_thread *self = data;
    struct lane_thread other = {.lane = 3 - self->lane};
    struct random random = {self->lane};
    struct model *entries = calloc(THREAD_ENTRIES, sizeof(*entries));
    for (size_t i = 0; i < THREAD_ENTRIES; i++)
        entries[i].address = thread_address(self, i);
    for (size_t i = 0; i < 400000; i++) {
        size_t at = random_below(&random, THREAD_ENTRIES);
        struct model *entry = &entries[at];
        struct block block;
        self->wrong += blocks_lane_remove(self->blocks, self->lane, thread_address(&other, at),
                                          &block) != BLOCKS_ELSEWHERE;
        if (entry->live) {
            thread_remove(self, entry);
            continue;
        }
        entry->block = random_block(&random);
        thread_insert(self, entry);
    }
    for (size_t i = 0; i < THREAD_ENTRIES; i++)
        if (entries[i].live)
            thread_remove(self, &entries[i]);
    free(entries);
    return NULL;
}

static void test_threads_use_their_own_pages_without_the_lock(void **state) {
    static struct blocks blocks;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct lane_thread threads[2];
    assert_int_equal(blocks_init(&blocks), 0);
    for (uint32_t i = 0; i < 2; i++) {
        threads[i] = (struct lane_thread){.blocks = &blocks, .lock = &lock, .lane = i + 1};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, thread_run, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(threads[i].thread, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(threads[i].wrong, 0);
        assert_true(threads[i].claims >= THREAD_PAGES);
    }
}

/* Lane 0 tries to use the pages that are being made for another. */
struct lane_zero {
    struct blocks blocks;
    pthread_t thread;
    _Atomic size_t tries;
    _Atomic size_t page; /* the next that is made */
    size_t wrong;
};

#define MADE_PAGES 3000

static void *lane_zero_run(void *data) {
    struct lane_zero *self = data;
    const struct block block = {.size_bytes = 1};
    size_t page;
    while ((page = self->page) < MADE_PAGES) {
        uintptr_t address = (page + 1) << BLOCKS_PAGE_SHIFT;
        self->wrong +=
            blocks_lane_insert(&self->blocks, 0, address, &block) != BLOCKS_ELSEWHERE;
        self->tries++;
    }
    return NULL;
}

static void test_a_page_that_is_made_for_a_lane_never_is_lane_zeros(void **state) {
    static struct lane_zero zero;
    assert_int_equal(blocks_init(&zero.blocks), 0);
    assert_int_equal(pthread_create(&zero.thread, NULL, lane_zero_run, &zero), 0);
    for (size_t page = 0; page < MADE_PAGES; page++) {
        size_t tries = zero.tries;
        while (zero.tries == tries)
            sched_yield();
        assert_true(blocks_claim(&zero.blocks, (page + 1) << BLOCKS_PAGE_SHIFT, 1));
        zero.page++;
    }
    pthread_join(zero.thread, NULL);
    assert_int_equal(zero.wrong, 0);
}

static void test_a_lane_keeps_the_memory_of_a_page_that_empties(void **state) {
    static struct blocks blocks;
    struct random random = {8};
    struct block block = random_block(&random);
    struct block out;
    assert_int_equal(blocks_init(&blocks), 0);
    for (int round = 0; round < 3; round++) {
        for (uintptr_t i = 0; i < BLOCKS_PARTS; i++) {
            enum blocks_answer answer =
                blocks_lane_insert(&blocks, 5, LANE_PAGE_BYTES + i * 8, &block);
            if (round == 0 && answer != BLOCKS_DONE) {
                assert_true(blocks_claim(&blocks, LANE_PAGE_BYTES + i * 8, 5));
                answer = blocks_lane_insert(&blocks, 5, LANE_PAGE_BYTES + i * 8, &block);
            }
            assert_int_equal(answer, BLOCKS_DONE);
        }
        sysmem_refuse_after(0);
        for (uintptr_t i = 0; i < BLOCKS_PARTS; i++)
            assert_int_equal(blocks_lane_remove(&blocks, 5, LANE_PAGE_BYTES + i * 8, &out),
                             BLOCKS_DONE);
        assert_int_equal(blocks_lane_remove(&blocks, 5, LANE_PAGE_BYTES, &out), BLOCKS_ABSENT);
    }
    sysmem_refuse_after(SYSMEM_NEVER);
}

static void test_a_lane_is_sent_elsewhere_with_what_the_table_cannot_hold(void **state) {
    static struct blocks blocks;
    struct block block = {.size_bytes = BLOCKS_SIZE_MAX + 1};
    uintptr_t beyond = UINT64_C(1) << BLOCKS_ADDRESS_BITS;
    assert_int_equal(blocks_init(&blocks), 0);
    assert_true(blocks_claim(&blocks, 0x10000, 1));
    assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10000, &block), BLOCKS_ELSEWHERE);
    block.size_bytes = 1;
    assert_int_equal(blocks_lane_insert(&blocks, 1, beyond, &block), BLOCKS_ELSEWHERE);
    assert_int_equal(blocks_lane_remove(&blocks, 1, beyond, &block), BLOCKS_ELSEWHERE);
    assert_int_equal(blocks_lane_remove(&blocks, 1, 0x10000, &block), BLOCKS_ABSENT);
    assert_false(blocks_claim(&blocks, beyond, 1));
}

static void test_a_page_is_not_claimed_when_memory_is_refused(void **state) {
    static struct blocks blocks;
    struct block block = {.size_bytes = 1};
    assert_int_equal(blocks_init(&blocks), 0);
    sysmem_refuse_after(0);
    assert_false(blocks_claim(&blocks, 0x10000, 1));
    sysmem_refuse_after(1);
    assert_false(blocks_claim(&blocks, 0x10000, 1));
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10000, &block), BLOCKS_ELSEWHERE);
    assert_true(blocks_claim(&blocks, 0x10000, 1));
    assert_int_equal(blocks_lane_insert(&blocks, 1, 0x10000, &block), BLOCKS_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clustered_addresses_are_kept_apart),
        cmocka_unit_test(test_every_granule_of_a_page_can_hold_a_block),
        cmocka_unit_test(test_scattered_addresses_are_kept_apart),
        cmocka_unit_test(test_a_large_stride_does_not_make_one_chain),
        cmocka_unit_test(test_addresses_and_sizes_beyond_the_limits_are_refused),
        cmocka_unit_test(test_sizes_and_births_at_the_border_of_two_slots_are_kept),
        cmocka_unit_test(test_small_blocks_born_late_take_one_slot_where_none_is_older),
        cmocka_unit_test(test_a_stale_entry_is_returned_when_its_address_comes_again),
        cmocka_unit_test(test_stale_entries_keep_the_sum_whole),
        cmocka_unit_test(test_when_memory_is_refused_the_block_that_is_lost_is_told),
        cmocka_unit_test(test_when_memory_is_refused_the_older_block_stays),
        cmocka_unit_test(test_lanes_and_the_lock_share_one_table),
        cmocka_unit_test(test_threads_use_their_own_pages_without_the_lock),
        cmocka_unit_test(test_a_page_that_is_made_for_a_lane_never_is_lane_zeros),
        cmocka_unit_test(test_a_lane_keeps_the_memory_of_a_page_that_empties),
        cmocka_unit_test(test_a_lane_is_sent_elsewhere_with_what_the_table_cannot_hold),
        cmocka_unit_test(test_a_page_is_not_claimed_when_memory_is_refused),
        cmocka_unit_test(test_init_fails_when_memory_is_refused),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
