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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model {
    uintptr_t address;
    struct block block;
    bool live;
};

static struct block random_block(struct random *random) {
    /* Sizes of all magnitudes, the largest included. */
    uint64_t size_bytes = random_next(random) >> (64 - BLOCKS_SIZE_BITS);
    size_bytes >>= random_below(random, BLOCKS_SIZE_BITS + 1);
    if (random_below(random, 100) == 0)
        size_bytes = BLOCKS_SIZE_MAX;
    return (struct block){
        .size_bytes = size_bytes,
        .site = (uint32_t)random_below(random, (uint64_t)BLOCKS_SITE_MAX + 1),
        .birth = (uint32_t)random_below(random, (uint64_t)BLOCKS_BIRTH_MAX + 1),
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

static void remove_and_compare(struct blocks *blocks, struct model *entry) {
    struct block block;
    assert_true(blocks_remove(blocks, entry->address, &block));
    assert_int_equal(block.size_bytes, entry->block.size_bytes);
    assert_int_equal(block.site, entry->block.site);
    assert_int_equal(block.birth, entry->block.birth);
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

static void test_init_fails_when_memory_is_refused(void **state) {
    static struct blocks blocks;
    sysmem_refuse_after(0);
    int r = blocks_init(&blocks);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(r, -ENOMEM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clustered_addresses_are_kept_apart),
        cmocka_unit_test(test_every_granule_of_a_page_can_hold_a_block),
        cmocka_unit_test(test_scattered_addresses_are_kept_apart),
        cmocka_unit_test(test_a_large_stride_does_not_make_one_chain),
        cmocka_unit_test(test_addresses_and_sizes_beyond_the_limits_are_refused),
        cmocka_unit_test(test_a_stale_entry_is_returned_when_its_address_comes_again),
        cmocka_unit_test(test_stale_entries_keep_the_sum_whole),
        cmocka_unit_test(test_when_memory_is_refused_the_block_that_is_lost_is_told),
        cmocka_unit_test(test_init_fails_when_memory_is_refused),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
