/* SPDX-License-Identifier: BSD-3-Clause */
/* What a profile derives from a trace, against sums kept by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile.h"
#include "trace_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int derive(const struct trace_builder *b, struct profile *ret_profile,
                  struct fault *fault) {
    size_t size;
    struct trace *trace;
    unsigned char *bytes = trace_builder_write(b, &size);
    assert_int_equal(trace_from_bytes(bytes, size, &trace, fault), 0);
    free(bytes);
    int r = profile_from_trace(trace, ret_profile, fault);
    trace_close(trace);
    return r;
}

/* All zero, with an impossible site, when the region has no row of @site. */
static const struct profile_row *row_of(const struct profile_region *region, uint32_t site) {
    static const struct profile_row none = {.site = UINT32_MAX};
    for (size_t i = 0; i < region->rows_count; i++)
        if (region->rows[i].site == site)
            return &region->rows[i];
    return &none;
}

static void test_open_region_takes_untouched_sites_from_the_process(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    uint32_t kept = trace_builder_site(&b, 0, TRACE_HEAP);
    uint32_t grown = trace_builder_site(&b, 0, TRACE_HEAP);
    trace_builder_allocate(&b, kept, 1000);
    trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, grown, 30);
    trace_builder_free(&b, grown, 30);

    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_region *parse = &profile.regions[1];
    const struct profile_row *row = row_of(parse, kept);
    assert_int_equal(row->site, kept);
    assert_int_equal(row->start.bytes, 1000);
    assert_int_equal(row->peak.bytes, 1000);
    assert_int_equal(row->end.bytes, 1000);
    assert_int_equal(row->allocated.blocks, 0);
    assert_int_equal(row_of(parse, grown)->peak.bytes, 30);
    assert_int_equal(parse->totals[TRACE_HEAP].peak_bytes, 1030);
    assert_int_equal(profile_peak_added(&parse->totals[TRACE_HEAP]), 30);
    assert_int_equal(profile_net(&parse->totals[TRACE_HEAP]), 0);
    /* An open region's counts are in its rows only. */
    assert_int_equal(parse->totals[TRACE_HEAP].allocated.blocks, 1);
    assert_int_equal(parse->totals[TRACE_HEAP].freed.bytes, 30);
    assert_int_equal(profile.end, PROFILE_KILLED);
    profile_finish(&profile);
}

static void test_ended_region_keeps_its_rows_whatever_comes_after(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    uint32_t kept = trace_builder_site(&b, 0, TRACE_HEAP);
    trace_builder_allocate(&b, kept, 1000);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 5);
    trace_builder_end(&b, region);
    trace_builder_free(&b, kept, 1000);
    trace_builder_exit(&b);

    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_region *parse = &profile.regions[1];
    assert_int_equal(row_of(parse, kept)->end.bytes, 1000);
    assert_int_equal(parse->totals[TRACE_HEAP].peak_bytes, 1005);
    assert_int_equal(parse->totals[TRACE_HEAP].end.bytes, 1005);
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].end.bytes, 5);
    assert_int_equal(profile.end, PROFILE_ENDED);
    assert_false(profile_is_incomplete(&profile));
    profile_finish(&profile);
}

static void test_snapshot_of_an_older_peak_yields_to_what_is_live_now(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    uint32_t first = trace_builder_site(&b, 0, TRACE_HEAP);
    uint32_t second = trace_builder_site(&b, 0, TRACE_HEAP);
    trace_builder_allocate(&b, first, 10);
    trace_builder_allocate(&b, second, 20);
    trace_builder_free(&b, first, 10);      /* snapshot of `first` at the peak of 30 */
    trace_builder_allocate(&b, second, 70); /* the peak is 90 now, without `first` */
    trace_builder_free(&b, second, 70);

    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_region *process = &profile.regions[0];
    assert_int_equal(process->totals[TRACE_HEAP].peak_bytes, 90);
    assert_int_equal(row_of(process, first)->peak.bytes, 0);
    assert_int_equal(row_of(process, second)->peak.bytes, 90);
    profile_finish(&profile);
}

static void test_spaces_are_counted_apart(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, TRACE_HEAP, 10);
    trace_builder_allocate(&b, TRACE_MAP_ANON, 4096);
    trace_builder_allocate(&b, TRACE_MAP_FILE, 8192);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_region *process = &profile.regions[0];
    assert_int_equal(process->totals[TRACE_HEAP].peak_bytes, 10);
    assert_int_equal(process->totals[TRACE_MAP_ANON].peak_bytes, 4096);
    assert_int_equal(process->totals[TRACE_MAP_FILE].peak_bytes, 8192);
    assert_int_equal(process->combined_end_bytes, 4106);
    profile_finish(&profile);
}

/* Random work, and next to it the dullest possible account of it. */
struct account {
    int64_t live[8];
    int64_t at_peak[8];
    int64_t peak;
    int64_t start;
};

static int64_t account_sum(const struct account *account) {
    int64_t sum = 0;
    for (size_t i = 0; i < 8; i++)
        sum += account->live[i];
    return sum;
}

static void account_look(struct account *account) {
    int64_t live = account_sum(account);
    if (live <= account->peak)
        return;
    account->peak = live;
    memcpy(account->at_peak, account->live, sizeof(account->at_peak));
}

static void random_work(struct trace_builder *b, unsigned seed, uint32_t first_site,
                        struct account *all, struct account *region) {
    uint64_t sizes[8][64];
    size_t counts[8] = {0};
    unsigned x = seed * 2654435761u + 1;
    for (int i = 0; i < 400; i++) {
        x = x * 1664525u + 1013904223u;
        uint32_t at = (x >> 8) % 8;
        bool give = counts[at] == 0 || (counts[at] < 64 && (x >> 20) % 2 == 0);
        uint64_t bytes = give ? (x >> 12) % 1000 : sizes[at][counts[at] - 1];
        if (i == 150) {
            trace_builder_begin(b, "half");
            *region = *all;
            region->start = region->peak = account_sum(all);
            memcpy(region->at_peak, region->live, sizeof(region->at_peak));
        }
        if (give) {
            sizes[at][counts[at]++] = bytes;
            trace_builder_allocate(b, first_site + at, bytes);
        } else {
            counts[at]--;
            trace_builder_free(b, first_site + at, bytes);
        }
        int64_t change = give ? (int64_t)bytes : -(int64_t)bytes;
        all->live[at] += change;
        region->live[at] += change;
        account_look(all);
        account_look(region);
    }
}

static void test_random_work_agrees_with_a_plain_account(void **state) {
    for (unsigned seed = 0; seed < 50; seed++) {
        struct trace_builder b;
        struct profile profile;
        struct fault fault = {0};
        struct account all = {0};
        struct account region = {0};
        trace_builder_init(&b);
        uint32_t first = b.header.site_count;
        for (int i = 0; i < 8; i++)
            trace_builder_site(&b, 0, TRACE_HEAP);
        random_work(&b, seed, first, &all, &region);
        if (seed % 2)
            trace_builder_end(&b, 1);
        assert_int_equal(derive(&b, &profile, &fault), 0);
        const struct account *accounts[] = {&all, &region};
        for (size_t r = 0; r < 2; r++) {
            assert_int_equal(profile.regions[r].totals[TRACE_HEAP].peak_bytes,
                             accounts[r]->peak);
            assert_int_equal(profile.regions[r].totals[TRACE_HEAP].start.bytes,
                             accounts[r]->start);
            for (uint32_t i = 0; i < 8; i++) {
                const struct profile_row *row = row_of(&profile.regions[r], first + i);
                assert_int_equal(row->peak.bytes, accounts[r]->at_peak[i]);
                assert_int_equal(row->end.bytes, accounts[r]->live[i]);
            }
        }
        profile_finish(&profile);
    }
}

/* Two regions, new peaks and frees: every store of it is a place to die. */
static void scenario(struct trace_builder *b, uint32_t stores) {
    trace_builder_init(b);
    uint32_t old = trace_builder_site(b, 0, TRACE_HEAP);
    trace_builder_allocate(b, old, 100);
    trace_builder_begin(b, "outer");
    trace_builder_begin(b, "inner");
    b->stores_left = stores;
    trace_builder_allocate(b, 0, 40);
    trace_builder_free(b, old, 100);
    trace_builder_allocate(b, old, 7);
    trace_builder_allocate(b, 0, 300);
    trace_builder_free(b, 0, 40);
}

static void test_death_between_any_two_stores_leaves_sums_that_hold(void **state) {
    int64_t last_peak = 0;
    size_t cut_count = 0;
    for (uint32_t stores = 0; stores < 150; stores++) {
        struct trace_builder b;
        struct profile profile;
        struct fault fault = {0};
        scenario(&b, stores);
        assert_int_equal(derive(&b, &profile, &fault), 0);
        cut_count += profile.cut;
        int64_t peak = profile.regions[0].totals[TRACE_HEAP].peak_bytes;
        assert_true(peak == 100 || peak == 140 || peak == 347);
        assert_true(peak >= last_peak);
        last_peak = peak;
        for (size_t i = 0; i < 3; i++)
            assert_true(profile.regions[i].has_rows);
        profile_finish(&profile);
    }
    assert_int_equal(last_peak, 347);
    assert_true(cut_count > 50);
}

static void test_region_without_rows_keeps_its_totals(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 77);
    trace_builder_end(&b, region);
    b.regions[region].flags = TRACE_REGION_NO_ROWS;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_false(profile.regions[1].has_rows);
    assert_int_equal(profile_peak_added(&profile.regions[1].totals[TRACE_HEAP]), 77);
    assert_int_equal(profile.regions[1].totals[TRACE_HEAP].allocated.blocks, 1);
    profile_finish(&profile);
}

static void test_sums_that_do_not_hold_are_refused_in_words(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    b.regions[0].space[TRACE_HEAP].peak.bytes = 11;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text,
                        "trace damaged: region \"process\" (instance 1, heap): its sites' "
                        "bytes at the peak add up to 10, its total says 11");
    b.regions[0].space[TRACE_HEAP].peak.bytes = 10;
    b.rows[0][0].freed.bytes = 11;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(
        fault.text, "trace damaged: region \"process\" (instance 1, heap): start, allocated "
                    "and freed bytes add up to -1, its total says 10");
    b.rows[0][0].freed.bytes = 0;
    b.regions[0].space[TRACE_HEAP].live.blocks = 2;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_null(profile.arena.blocks);
}

static void test_addresses_become_module_and_offset(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_module(&b, "/old.so", 0x1000, 0x3000, 0x1000);
    trace_builder_module(&b, "/new.so", 0x2000, 0x3000, 0x2000);
    uint32_t outside = trace_builder_node(&b, 0, 0x9000);
    uint32_t old = trace_builder_node(&b, outside, 0x1500);
    uint32_t new = trace_builder_node(&b, old, 0x2500);
    uint32_t last = trace_builder_node(&b, new, 0x3000); /* a call at the module's very end */
    uint32_t again = trace_builder_node(&b, 0, 0x1500);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct {
        uint32_t node;
        const char *path;
        uint64_t offset;
    } places[] = {{outside, "", 0x9000},
                  {old, "/old.so", 0x500},
                  {new, "/new.so", 0x500},
                  {last, "/new.so", 0x1000},
                  {again, "/old.so", 0x500}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct profile_frame *frame =
            &profile.frames[profile.nodes[places[i].node].frame];
        assert_string_equal(profile.modules[frame->module].path, places[i].path);
        assert_int_equal(frame->offset, places[i].offset);
    }
    assert_int_equal(profile.frame_count, 4);
    assert_int_equal(profile.nodes[old].frame, profile.nodes[again].frame);
    profile_finish(&profile);
}

static void test_arguments_and_gaps_come_along(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    b.header.completeness.unknown_frees = 3;
    b.header.completeness.settings_ignored = 1;
    trace_builder_exit(&b);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_int_equal(profile.argument_count, 2);
    assert_string_equal(profile.arguments[1], "--fast");
    assert_string_equal(profile.exe, "/opt/victim");
    assert_int_equal(profile.gaps[PROFILE_UNKNOWN_FREES], 3);
    assert_int_equal(profile.gaps[PROFILE_SETTINGS_IGNORED], 1);
    assert_true(profile_is_incomplete(&profile));
    profile.gaps[PROFILE_UNKNOWN_FREES] = 0;
    assert_false(profile_is_incomplete(&profile));
    profile_finish(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_region_takes_untouched_sites_from_the_process),
        cmocka_unit_test(test_ended_region_keeps_its_rows_whatever_comes_after),
        cmocka_unit_test(test_snapshot_of_an_older_peak_yields_to_what_is_live_now),
        cmocka_unit_test(test_spaces_are_counted_apart),
        cmocka_unit_test(test_random_work_agrees_with_a_plain_account),
        cmocka_unit_test(test_death_between_any_two_stores_leaves_sums_that_hold),
        cmocka_unit_test(test_region_without_rows_keeps_its_totals),
        cmocka_unit_test(test_sums_that_do_not_hold_are_refused_in_words),
        cmocka_unit_test(test_addresses_become_module_and_offset),
        cmocka_unit_test(test_arguments_and_gaps_come_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
