/* SPDX-License-Identifier: BSD-3-Clause */
/* One region of a profile as a profile that holds together by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refused_alloc.h"
#include "split.h"
#include "trace_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two regions in one process:
 *
 *     caller ── first   20 bytes in "one"          both regions have bytes without a stack
 *           ├── both    50 in "one", 30 in "two"   "two" frees 10 that "one" had allocated
 *           └── second  70 in "two", and a mapping
 */
enum { ONE = 1, TWO, LAST };

static struct profile whole_build(void) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/suite", 0x1000, 0x9000, 0x1000);
    uint32_t caller = trace_builder_node(&b, 0, 0x1100);
    uint32_t first = trace_builder_site(&b, trace_builder_node(&b, caller, 0x1200), TRACE_HEAP);
    uint32_t both = trace_builder_site(&b, trace_builder_node(&b, caller, 0x1300), TRACE_HEAP);
    uint32_t second = trace_builder_node(&b, caller, 0x1400);
    uint32_t block = trace_builder_site(&b, second, TRACE_HEAP);
    uint32_t mapping = trace_builder_site(&b, second, TRACE_MAP_ANON);
    trace_builder_allocate(&b, TRACE_HEAP, 500); /* its site without a stack */

    uint32_t region = trace_builder_begin(&b, "one");
    trace_builder_allocate(&b, first, 20);
    trace_builder_allocate(&b, both, 50);
    trace_builder_allocate(&b, TRACE_HEAP, 5);
    trace_builder_free(&b, first, 20);
    trace_builder_end(&b, region);

    region = trace_builder_begin(&b, "two");
    trace_builder_allocate(&b, both, 30);
    trace_builder_free(&b, both, 50);
    trace_builder_allocate(&b, block, 70);
    trace_builder_allocate(&b, mapping, 4096);
    trace_builder_allocate(&b, TRACE_HEAP, 7);
    trace_builder_end(&b, region);

    region = trace_builder_begin(&b, "last");
    trace_builder_end(&b, region);
    b.regions[LAST].flags |= TRACE_REGION_NO_ROWS;
    trace_builder_exit(&b);

    unsigned char *bytes = trace_builder_write(&b, &size);
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), 0);
    free(bytes);
    assert_int_equal(profile_from_trace(trace, &profile, &fault), 0);
    trace_close(trace);
    return profile;
}

/* The row of the site at @offset of the program's file; of none it is the one without a stack. */
static const struct profile_row *row_at(const struct profile *profile, size_t region,
                                        uint64_t offset, enum trace_space space) {
    static const struct profile_row none;
    for (size_t i = 0; i < profile->regions[region].rows_count; i++) {
        const struct profile_row *row = &profile->regions[region].rows[i];
        const struct profile_site *site = &profile->sites[row->site];
        uint64_t at =
            site->node == 0 ? 0 : profile->frames[profile->nodes[site->node].frame].offset;
        if (at == offset && site->space == space)
            return row;
    }
    return &none;
}

static void test_a_part_has_the_rows_of_its_region(void **state) {
    static const struct {
        uint64_t offset;
        enum trace_space space;
    } places[] = {{0, TRACE_HEAP},
                  {0x200, TRACE_HEAP},
                  {0x300, TRACE_HEAP},
                  {0x400, TRACE_HEAP},
                  {0x400, TRACE_MAP_ANON}};
    struct profile whole = whole_build();
    for (size_t index = ONE; index <= TWO; index++) {
        struct profile part;
        struct fault fault = {0};
        assert_int_equal(profile_split(&whole, index, &part), 0);
        assert_int_equal(profile_check(&part, &fault), 0);
        assert_int_equal(part.region_count, 2);
        assert_string_equal(part.regions[1].name, whole.regions[index].name);
        assert_memory_equal(part.regions[1].totals, whole.regions[index].totals,
                            sizeof(part.regions[1].totals));
        assert_int_equal(part.regions[1].rows_count, whole.regions[index].rows_count);
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            struct profile_row is = *row_at(&part, 1, places[i].offset, places[i].space);
            struct profile_row was = *row_at(&whole, index, places[i].offset, places[i].space);
            is.site = was.site = 0; /* the number is another */
            assert_memory_equal(&is, &was, sizeof(is));
        }
        profile_finish(&part);
    }
    assert_int_equal(row_at(&whole, TWO, 0x300, TRACE_HEAP)->freed.bytes, 50);
    assert_int_equal(row_at(&whole, TWO, 0x400, TRACE_MAP_ANON)->peak.bytes, 4096);
    profile_finish(&whole);
}

static void test_a_part_has_the_stacks_that_it_needs_and_no_others(void **state) {
    struct profile whole = whole_build();
    struct profile part;
    assert_int_equal(profile_split(&whole, ONE, &part), 0);
    assert_int_equal(part.node_count, 4); /* root, caller, first, both */
    assert_int_equal(part.frame_count, 3);
    for (size_t i = 1; i < part.node_count; i++) {
        assert_true(part.nodes[i].parent < i);
        assert_true(part.nodes[i].frame < part.frame_count);
    }
    uint32_t node = part.sites[row_at(&part, 1, 0x300, TRACE_HEAP)->site].node;
    const struct profile_node *caller = &part.nodes[part.nodes[node].parent];
    assert_int_equal(part.frames[caller->frame].offset, 0x100);
    assert_int_equal(caller->parent, 0);
    profile_finish(&part);
    profile_finish(&whole);
}

static void test_a_part_does_not_take_frames_that_were_folded_from_the_whole(void **state) {
    struct profile whole = whole_build();
    struct profile part;
    whole.native_nodes = whole.nodes;
    assert_int_equal(profile_split(&whole, TWO, &part), 0);
    const struct profile_node *nodes = part.nodes;
    profile_unfold_interpreters(&part);
    assert_ptr_equal(part.nodes, nodes);
    profile_finish(&part);
    profile_finish(&whole);
}

static void test_the_process_of_a_part_keeps_its_sums_without_stacks(void **state) {
    struct profile whole = whole_build();
    struct profile part;
    assert_int_equal(profile_split(&whole, TWO, &part), 0);
    const struct profile_region *process = &part.regions[0];
    assert_memory_equal(process->totals, whole.regions[0].totals, sizeof(process->totals));
    assert_int_equal(process->rows_count, TRACE_SPACES);
    for (size_t i = 0; i < process->rows_count; i++) {
        const struct profile_site *site = &part.sites[process->rows[i].site];
        assert_int_equal(site->node, 0);
        assert_int_equal(site->flags, TRACE_SITE_NO_STACK);
        assert_int_equal(process->rows[i].peak.bytes, process->totals[site->space].peak_bytes);
        assert_int_equal(process->rows[i].end.bytes, process->totals[site->space].end.bytes);
        assert_int_equal(process->rows[i].allocated.blocks,
                         process->totals[site->space].allocated.blocks);
    }
    profile_finish(&part);
    profile_finish(&whole);
}

static void test_a_region_without_rows_keeps_its_totals(void **state) {
    struct profile whole = whole_build();
    struct profile part;
    struct fault fault = {0};
    assert_false(whole.regions[LAST].has_rows);
    assert_int_equal(profile_split(&whole, LAST, &part), 0);
    assert_int_equal(profile_check(&part, &fault), 0);
    assert_false(part.regions[1].has_rows);
    assert_int_equal(part.regions[1].rows_count, 0);
    assert_int_equal(part.node_count, 1);
    assert_memory_equal(part.regions[1].totals, whole.regions[LAST].totals,
                        sizeof(part.regions[1].totals));
    profile_finish(&part);
    profile_finish(&whole);
}

static void test_memory_that_is_refused_is_said_and_nothing_is_lost(void **state) {
    struct profile whole = whole_build();
    struct profile part;
    bool refused = true;
    for (size_t n = 1; refused; n++) {
        refused_alloc = (struct refused_alloc){.left = n};
        int r = profile_split(&whole, TWO, &part);
        refused = refused_alloc.happened;
        refused_alloc.left = 0;
        assert_int_equal(r, refused ? -ENOMEM : 0);
        if (r == 0)
            profile_finish(&part);
        assert_true(n < 100);
    }
    profile_finish(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_part_has_the_rows_of_its_region),
        cmocka_unit_test(test_a_part_has_the_stacks_that_it_needs_and_no_others),
        cmocka_unit_test(test_a_part_does_not_take_frames_that_were_folded_from_the_whole),
        cmocka_unit_test(test_the_process_of_a_part_keeps_its_sums_without_stacks),
        cmocka_unit_test(test_a_region_without_rows_keeps_its_totals),
        cmocka_unit_test(test_memory_that_is_refused_is_said_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
