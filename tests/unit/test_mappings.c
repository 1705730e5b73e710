/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of mappings, against a bitmap of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mappings.h"
#include "random.h"
#include "sysmem_wrap.h"
#include "trace_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define PAGE  UINT64_C(4096)
#define PAGES 2048u
#define BASE  UINT64_C(0x7f0000000000)

/*
 * What each page is mapped as; 0: not. Pieces of one mapping that were cut apart count apart.
 */
static uint32_t model_site[PAGES];
static uint32_t model_piece[PAGES];

static size_t model_pieces(void) {
    size_t count = 0;
    for (uint32_t page = 0; page < PAGES; page++)
        if (model_site[page] != 0 && (page == 0 || model_piece[page] != model_piece[page - 1]))
            count++;
    return count;
}

/* After pages were taken out of the middle, the two sides are pieces of their own. */
static void model_unmap(uint32_t first, uint32_t end, uint32_t *next_piece) {
    uint32_t right = end < PAGES ? model_piece[end] : 0;
    bool split = first > 0 && right != 0 && model_piece[first - 1] == right;
    for (uint32_t page = first; page < end; page++)
        model_site[page] = model_piece[page] = 0;
    if (!split)
        return;
    for (uint32_t page = end; page < PAGES && model_piece[page] == right; page++)
        model_piece[page] = *next_piece;
    (*next_piece)++;
}

static void compare(const struct mappings *mappings) {
    uint32_t covered = 0;
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *entry = &mappings->entries[i];
        assert_true(entry->start < entry->end);
        assert_true(i == 0 || mappings->entries[i - 1].end <= entry->start);
        for (uintptr_t at = entry->start; at < entry->end; at += PAGE, covered++)
            assert_int_equal(model_site[(at - BASE) / PAGE], entry->site);
    }
    for (uint32_t page = 0; page < PAGES; page++)
        covered -= model_site[page] != 0;
    assert_int_equal(covered, 0);
    assert_int_equal(mappings->count, model_pieces());
}

/* Cut as the recorder does; every part must be what the model has there. */
static void cut_all(struct mappings *mappings, uint32_t first, uint32_t end,
                    uint32_t *next_piece) {
    struct mapping part;
    int added = 0;
    uint32_t wanted = 0;
    uint32_t got = 0;
    long pieces = (long)mappings->count;
    for (uint32_t page = first; page < end; page++)
        wanted += model_site[page] != 0;
    while (mappings_cut(mappings, BASE + first * PAGE, BASE + end * PAGE, UINT64_MAX, &part,
                        &added) == 1) {
        assert_true(part.start >= BASE + first * PAGE && part.end <= BASE + end * PAGE);
        for (uintptr_t at = part.start; at < part.end; at += PAGE, got++)
            assert_int_equal(model_site[(at - BASE) / PAGE], part.site);
        pieces += added;
        assert_int_equal(pieces, mappings->count);
    }
    assert_int_equal(got, wanted);
    model_unmap(first, end, next_piece);
}

static void test_random_maps_and_unmaps_agree_with_a_bitmap_of_pages(void **state) {
    struct mappings mappings = {0};
    struct random random = {11};
    uint32_t next_piece = 1;
    for (int i = 0; i < 60000; i++) {
        uint32_t first = (uint32_t)random_below(&random, PAGES);
        uint32_t length = 1 + (uint32_t)random_below(&random, i % 100 == 0 ? PAGES : 12);
        uint32_t end = first + length < PAGES ? first + length : PAGES;
        cut_all(&mappings, first, end, &next_piece);
        if (random_below(&random, 3) > 0) {
            uint32_t site = 1 + (uint32_t)random_below(&random, 50);
            assert_int_equal(
                mappings_insert(&mappings, (struct mapping){.start = BASE + first * PAGE,
                                                            .end = BASE + end * PAGE,
                                                            .site = site}),
                0);
            for (uint32_t page = first; page < end; page++) {
                model_site[page] = site;
                model_piece[page] = next_piece;
            }
            next_piece++;
        }
        if (i % 50 == 0)
            compare(&mappings);
    }
    compare(&mappings);
}

static void test_nothing_is_cut_where_nothing_overlaps(void **state) {
    struct mappings mappings = {0};
    struct mapping part = {.site = 99};
    int added = 77;
    assert_int_equal(mappings_cut(&mappings, BASE, BASE + PAGE, UINT64_MAX, &part, &added), 0);
    mappings_insert(&mappings, (struct mapping){.start = BASE, .end = BASE + PAGE});
    assert_int_equal(
        mappings_cut(&mappings, BASE + PAGE, BASE + 2 * PAGE, UINT64_MAX, &part, &added), 0);
    assert_int_equal(mappings_cut(&mappings, BASE - PAGE, BASE, UINT64_MAX, &part, &added), 0);
    assert_int_equal(part.site, 99);
    assert_int_equal(added, 77);
    assert_int_equal(mappings.count, 1);
}

/* An unmapping that is booked late leaves alone what was mapped in its place since. */
static void test_entries_later_than_the_serial_are_not_cut(void **state) {
    struct mappings mappings = {0};
    struct mapping part;
    int added;
    for (uint32_t i = 0; i < 3; i++)
        mappings_insert(&mappings, (struct mapping){.start = BASE + 2 * i * PAGE,
                                                    .end = BASE + (2 * i + 2) * PAGE,
                                                    .site = i});
    uint64_t serial = mappings.serial;
    assert_int_equal(
        mappings_cut(&mappings, BASE + 2 * PAGE, BASE + 4 * PAGE, serial, &part, &added), 1);
    mappings_insert(
        &mappings,
        (struct mapping){.start = BASE + 2 * PAGE, .end = BASE + 4 * PAGE, .site = 9});
    assert_int_equal(
        mappings_cut(&mappings, BASE + 2 * PAGE, BASE + 4 * PAGE, serial, &part, &added), 0);
    /* Past the later one, to the earlier behind it. */
    assert_int_equal(
        mappings_cut(&mappings, BASE + 3 * PAGE, BASE + 5 * PAGE, serial, &part, &added), 1);
    assert_int_equal(part.site, 2);
    assert_int_equal(part.end - part.start, PAGE);
    assert_int_equal(mappings_find(&mappings, BASE + 3 * PAGE, BASE + 4 * PAGE)->site, 9);
    assert_null(mappings_find(&mappings, BASE + 4 * PAGE, BASE + 5 * PAGE));
}

static void test_entries_are_found_by_their_space(void **state) {
    struct mappings mappings = {0};
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(
            mappings_insert(&mappings,
                            (struct mapping){
                                .start = BASE + i * 2 * PAGE,
                                .end = BASE + (i * 2 + 1) * PAGE,
                                .site = i,
                                .space = i % 3 == 2 ? TRACE_MAP_RESERVED : TRACE_MAP_ANON,
                            }),
            0);
    assert_int_equal(mappings.reserved_count, 3);
    assert_int_equal(
        mappings_find_space(&mappings, BASE, BASE + 20 * PAGE, TRACE_MAP_RESERVED)->site, 2);
    assert_int_equal(
        mappings_find_space(&mappings, BASE + 5 * PAGE, BASE + 20 * PAGE, TRACE_MAP_RESERVED)
            ->site,
        5);
    assert_null(mappings_find_space(&mappings, BASE, BASE + 4 * PAGE, TRACE_MAP_RESERVED));
    assert_null(mappings_find_space(&mappings, BASE, BASE + 20 * PAGE, TRACE_MAP_FILE));
}

/*
 * Cut apart, a segment's pieces are found by where it was attached; reserved ones stay counted.
 */
static void test_pieces_of_a_segment_know_where_it_was_attached(void **state) {
    struct mappings mappings = {0};
    struct mapping part;
    int added;
    mappings_insert(&mappings, (struct mapping){.start = BASE,
                                                .end = BASE + 10 * PAGE,
                                                .space = TRACE_MAP_RESERVED,
                                                .attached_at = BASE});
    mappings_cut(&mappings, BASE, BASE + PAGE, UINT64_MAX, &part, &added);
    mappings_cut(&mappings, BASE + 4 * PAGE, BASE + 5 * PAGE, UINT64_MAX, &part, &added);
    assert_int_equal(mappings.reserved_count, 2);
    for (int piece = 0; piece < 2; piece++) {
        const struct mapping *found = mappings_find_attached(&mappings, BASE);
        assert_non_null(found);
        mappings_cut(&mappings, found->start, found->end, UINT64_MAX, &part, &added);
        assert_int_equal(added, -1);
    }
    assert_null(mappings_find_attached(&mappings, BASE));
    assert_int_equal(mappings.reserved_count, 0);
}

static void test_refused_memory_changes_nothing(void **state) {
    struct mappings mappings = {0};
    struct mapping part;
    int added;
    sysmem_refuse_after(1);
    for (uintptr_t i = 0; i < 128; i++)
        assert_int_equal(
            mappings_insert(&mappings, (struct mapping){.start = BASE + 4 * i * PAGE,
                                                        .end = BASE + (4 * i + 3) * PAGE}),
            0);
    int insert = mappings_insert(
        &mappings, (struct mapping){.start = BASE - PAGE, .end = BASE, .site = 5});
    int middle =
        mappings_cut(&mappings, BASE + PAGE, BASE + 2 * PAGE, UINT64_MAX, &part, &added);
    sysmem_refuse_after(SYSMEM_NEVER);
    assert_int_equal(insert, -ENOMEM);
    assert_int_equal(middle, -ENOMEM);
    assert_int_equal(mappings.count, 128);
    assert_true(mappings.entries[0].start == BASE &&
                mappings.entries[0].end == BASE + 3 * PAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_maps_and_unmaps_agree_with_a_bitmap_of_pages),
        cmocka_unit_test(test_nothing_is_cut_where_nothing_overlaps),
        cmocka_unit_test(test_entries_later_than_the_serial_are_not_cut),
        cmocka_unit_test(test_entries_are_found_by_their_space),
        cmocka_unit_test(test_pieces_of_a_segment_know_where_it_was_attached),
        cmocka_unit_test(test_refused_memory_changes_nothing),
    };
    return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
