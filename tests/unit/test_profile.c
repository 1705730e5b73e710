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

/* A heap site with a stack of its own. */
static uint32_t new_site(struct trace_builder *b) {
    uint32_t node = trace_builder_node(b, 0, 0x1000 + b->header.node_count);
    return trace_builder_site(b, node, TRACE_HEAP);
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
    uint32_t kept = new_site(&b);
    uint32_t grown = new_site(&b);
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
    uint32_t kept = new_site(&b);
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
    uint32_t first = new_site(&b);
    uint32_t second = new_site(&b);
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
            new_site(&b);
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
    uint32_t old = new_site(b);
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

/* The sums hold in both: a record that lags hides the one, and nothing sums up the other. */
static void test_sites_that_contradict_each_other_are_refused(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 20);
    trace_builder_use_lane(&b, 1);
    b.rows[0][0].freed = (struct trace_pair){1, 10};
    b.rows[0][0].peak = (struct trace_pair){2, 30};
    b.rows[0][0].epoch = b.regions[0].space[TRACE_HEAP].peak.epoch;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text, "trace damaged: site 0 of region 1 has other bytes live "
                                    "than in the process");
    b.rows[0][0].freed = (struct trace_pair){0, 0};

    b.rows[region][0].peak.blocks = 3;
    b.rows[region][0].epoch = b.regions[region].space[TRACE_HEAP].peak.epoch;
    b.rows[region][0].peak.bytes = 30;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text, "trace damaged: region \"parse\" (instance 1) has a call "
                                    "site with more than it was given");
    b.rows[region][0].peak.blocks = 2;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    profile_finish(&profile);
}

static void test_counts_that_contradict_each_other_are_refused(void **state) {
    for (int bend = 0; bend < 9; bend++) {
        struct trace_builder b;
        struct profile profile;
        struct fault fault = {0};
        trace_builder_init(&b);
        uint32_t region = trace_builder_begin(&b, "parse");
        trace_builder_allocate(&b, 0, 10);
        trace_builder_end(&b, region);
        trace_builder_exit(&b);
        struct trace_region *record = &b.regions[region];
        struct trace_totals *heap = &record->space[TRACE_HEAP];
        uint64_t *bent[] = {&heap->temporary,
                            &b.rows[region][0].temporary,
                            (uint64_t *)&heap->owned_peak_bytes,
                            (uint64_t *)&record->combined_peak_bytes,
                            (uint64_t *)&record->combined_start_bytes,
                            (uint64_t *)&record->combined_end_bytes,
                            &b.rows[0][5].start.blocks,
                            (uint64_t *)&record->usable_live_bytes,
                            &b.rows[region][0].epoch};
        *bent[bend] += 3 + 8 * (bend == 2);
        assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    }
}

static void test_rows_far_ahead_of_their_region_are_no_kill(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    trace_builder_allocate(&b, 0, 10);
    b.header.updating = 1;
    b.regions[0].space[TRACE_HEAP].live = (struct trace_pair){1, 10};
    assert_int_equal(derive(&b, &profile, &fault), 0);
    profile_finish(&profile);
    b.regions[0].space[TRACE_HEAP].live = (struct trace_pair){0, 0};
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text,
                        "trace damaged: rows are ahead of their region by more than "
                        "the process was doing when it died");
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

/* main -> loop -> [parse -> leaf] -> helper -> loop -> [key] -> helper */
struct interpreted {
    uint32_t parse;
    uint32_t leaf;
    uint32_t key;
    uint32_t helper;
};

static struct interpreted build_interpreted(struct trace_builder *b) {
    struct interpreted nodes;
    trace_builder_init(b);
    trace_builder_module(b, "/opt/main", 0x1000, 0x2000, 0x1000);
    trace_builder_module(b, "/opt/libpython.so", 0x3000, 0x4000, 0x3000);
    uint64_t codes[3];
    static const char *const functions[] = {"Table.parse", "leaf", "<lambda>"};
    for (uint32_t i = 0; i < 3; i++)
        codes[i] = TRACE_CODE_FRAME |
                   (uint64_t)trace_builder_code(b, functions[i], "/opt/table.py", 10 * i + 1)
                       << TRACE_CODE_LINE_BITS;
    uint32_t node = trace_builder_node(b, 0, 0x1100);
    node = trace_builder_node(b, node, 0x3100);
    nodes.parse = trace_builder_node(b, node, codes[0] | 5);
    nodes.leaf = trace_builder_node(b, nodes.parse, codes[1] | 12);
    node = trace_builder_node(b, nodes.leaf, 0x3200);
    node = trace_builder_node(b, node, 0x3100);
    nodes.key = trace_builder_node(b, node, codes[2] | 22);
    nodes.helper = trace_builder_node(b, nodes.key, 0x3200);
    return nodes;
}

static void test_interpreted_code_has_names_and_lines_without_symbols(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    struct interpreted nodes = build_interpreted(&b);
    trace_builder_node(&b, nodes.helper, TRACE_CODE_FRAME | 7); /* could not be noted */
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_frame *leaf = &profile.frames[profile.nodes[nodes.leaf].frame];
    assert_string_equal(leaf->function, "leaf");
    assert_string_equal(leaf->file, "/opt/table.py");
    assert_int_equal(leaf->lineno, 12);
    assert_int_equal(leaf->offset, 12);
    assert_string_equal(profile.modules[leaf->module].path, PROFILE_CODE_PATH);
    assert_true(profile.modules[leaf->module].is_code);
    const struct profile_frame *last =
        &profile.frames[profile.nodes[profile.node_count - 1].frame];
    assert_string_equal(last->function, "");
    assert_int_equal(last->lineno, 7);
    profile_finish(&profile);
}

static void test_only_what_runs_interpreted_code_is_an_interpreter(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    build_interpreted(&b);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    for (size_t i = 0; i < profile.module_count; i++)
        assert_int_equal(profile.modules[i].is_interpreter,
                         strcmp(profile.modules[i].path, "/opt/libpython.so") == 0);
    profile_finish(&profile);
}

static void test_folding_takes_out_what_is_between_two_functions_only(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    struct interpreted nodes = build_interpreted(&b);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_int_equal(profile_fold_interpreters(&profile), 0);
    assert_int_equal(profile.nodes[nodes.key].parent, nodes.leaf);
    assert_int_equal(profile.nodes[nodes.leaf].parent, nodes.parse);
    assert_int_equal(profile.nodes[nodes.parse].parent, 1);          /* main: no interpreter */
    assert_int_equal(profile.nodes[nodes.helper].parent, nodes.key); /* what allocates stays */

    profile_finish(&profile);
}

static void test_frames_that_were_folded_can_be_had_again(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    struct interpreted nodes = build_interpreted(&b);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    profile_unfold_interpreters(&profile); /* nothing was: nothing changes */
    uint32_t caller = profile.nodes[nodes.key].parent;
    assert_int_equal(profile_fold_interpreters(&profile), 0);
    assert_int_not_equal(profile.nodes[nodes.key].parent, caller);
    profile_unfold_interpreters(&profile);
    assert_int_equal(profile.nodes[nodes.key].parent, caller);
    profile_finish(&profile);
}

/* [outer] -> loop -> extension -> loop -> [inner] */
static void test_what_an_extension_did_between_two_functions_is_never_folded(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    struct interpreted nodes = build_interpreted(&b);
    trace_builder_module(&b, "/opt/_multiarray.so", 0x5000, 0x6000, 0x5000);
    uint64_t inner =
        TRACE_CODE_FRAME | (uint64_t)trace_builder_code(&b, "inner", "/opt/a.py", 1)
                               << TRACE_CODE_LINE_BITS;
    uint32_t loop = trace_builder_node(&b, nodes.leaf, 0x3300);
    uint32_t extension = trace_builder_node(&b, loop, 0x5100);
    uint32_t node =
        trace_builder_node(&b, trace_builder_node(&b, extension, 0x3100), inner | 2);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_int_equal(profile_fold_interpreters(&profile), 0);
    assert_int_equal(profile.nodes[node].parent, extension);
    assert_int_equal(profile.nodes[extension].parent, loop);
    assert_int_equal(profile.nodes[loop].parent, nodes.leaf);
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

/* All zeros when the site has none. */
static const struct profile_row *row_of_site(const struct profile_region *region,
                                             uint32_t site) {
    static const struct profile_row none;
    for (size_t i = 0; i < region->rows_count; i++)
        if (region->rows[i].site == site)
            return &region->rows[i];
    return &none;
}

static void test_rows_of_all_lanes_add_up_to_one_site(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 100);
    trace_builder_use_lane(&b, 1);
    trace_builder_allocate(&b, 0, 50); /* the peak, 150 */
    trace_builder_use_lane(&b, 2);
    trace_builder_free(&b, 0, 100); /* what another thread had allocated */
    trace_builder_allocate(&b, 0, 30);
    assert_int_equal((int64_t)b.lane_rows[2][0].peak.bytes, 0);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_totals *heap = &profile.regions[0].totals[TRACE_HEAP];
    const struct profile_row *row = row_of_site(&profile.regions[0], 0);
    assert_int_equal(b.regions[0].space[TRACE_HEAP].live.bytes, 100); /* lags behind */
    assert_int_equal(heap->end.bytes, 80);
    assert_int_equal(heap->end.blocks, 2);
    assert_int_equal(heap->peak_bytes, 150);
    assert_int_equal(heap->largest_bytes, 50);
    assert_int_equal(heap->allocated.bytes, 180);
    assert_int_equal(row->peak.bytes, 150);
    assert_int_equal(row->end.bytes, 80);
    assert_int_equal(row->freed.blocks, 1);
    profile_finish(&profile);
}

static void test_region_that_begins_after_lanes_starts_with_their_sum(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_use_lane(&b, 3);
    trace_builder_allocate(&b, 0, 100);
    trace_builder_allocate(&b, 1 + TRACE_SPACES, 4096); /* "other" of another space */
    trace_builder_use_lane(&b, 1);
    trace_builder_free(&b, 0, 100);
    trace_builder_allocate(&b, 0, 70);
    trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 5);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_region *parse = &profile.regions[1];
    assert_int_equal(parse->totals[TRACE_HEAP].start.bytes, 70);
    assert_int_equal(profile_peak_added(&parse->totals[TRACE_HEAP]), 5);
    assert_int_equal(row_of_site(parse, 1 + TRACE_SPACES)->start.bytes, 4096);
    profile_finish(&profile);
}

static void test_ended_program_has_no_record_that_lags(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_use_lane(&b, 1);
    trace_builder_allocate(&b, 0, 100);
    b.header.state = TRACE_EXITED;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_non_null(
        strstr(fault.text, "start, allocations and frees add up to 1, its total says 0"));
    trace_builder_exit(&b);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    profile_finish(&profile);
}

/* Two threads in lanes; a third event in flight never comes alone. */
static void lane_scenario(struct trace_builder *b, uint32_t stores) {
    trace_builder_init(b);
    b->stores_left = stores;
    trace_builder_allocate(b, 0, 100);
    trace_builder_use_lane(b, 1);
    trace_builder_allocate(b, 0, 50);
    trace_builder_use_lane(b, 2);
    trace_builder_free(b, 0, 100);
    trace_builder_allocate(b, 0, 200);
    trace_builder_use_lane(b, 1);
    trace_builder_free(b, 0, 200);
}

static void test_death_in_any_lane_leaves_sums_that_hold(void **state) {
    size_t cut_count = 0;
    int64_t peak = 0;
    for (uint32_t stores = 0; stores < 40; stores++) {
        struct trace_builder b;
        struct profile profile;
        struct fault fault = {0};
        lane_scenario(&b, stores);
        assert_int_equal(derive(&b, &profile, &fault), 0);
        cut_count += profile.cut;
        peak = profile.regions[0].totals[TRACE_HEAP].peak_bytes;
        assert_true(peak == 0 || peak == 100 || peak == 150 || peak == 250);
        profile_finish(&profile);
    }
    assert_int_equal(peak, 250);
    assert_true(cut_count > 10);
}

static void test_death_in_several_lanes_at_once_leaves_sums_that_hold(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    for (uint32_t lane = 1; lane <= 3; lane++) {
        trace_builder_allocate(&b, 0, 90);
        trace_builder_allocate(&b, 0, 10);
    }
    for (uint32_t lane = 1; lane <= 3; lane++) {
        trace_builder_use_lane(&b, lane);
        b.stores_left = 4; /* dies when its row has moved */
        trace_builder_free(&b, 0, 10);
    }
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_true(profile.cut);
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].end.bytes, 270);
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].peak_bytes, 300);
    profile_finish(&profile);
}

static void test_thread_region_counts_one_thread_and_may_be_negative(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 500);
    b.thread = 77;
    uint32_t region = trace_builder_begin_thread(&b, "work");
    trace_builder_free(&b, 0, 500);
    b.thread = 4711;
    trace_builder_allocate(&b, 0, 9999); /* of another thread */
    b.thread = 77;
    trace_builder_allocate(&b, 0, 20);
    for (int ended = 0; ended < 2; ended++) {
        if (ended)
            trace_builder_end(&b, region);
        assert_int_equal(derive(&b, &profile, &fault), 0);
        const struct profile_region *work = &profile.regions[region];
        assert_int_equal(work->thread, 77);
        assert_int_equal(work->totals[TRACE_HEAP].start.bytes, 0);
        assert_int_equal(work->totals[TRACE_HEAP].end.bytes, -480);
        assert_int_equal(work->totals[TRACE_HEAP].peak_bytes, 0);
        assert_int_equal(work->totals[TRACE_HEAP].allocated.blocks, 1);
        assert_int_equal(work->rows_count, 1);
        assert_int_equal(work->rows[0].end.blocks, 0);
        profile_finish(&profile);
    }
    b.regions[region].flags = 0; /* in a region of the process that cannot be */
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
}

static void test_sizes_come_from_the_lanes_until_a_region_ends(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_count_sizes(&b);
    trace_builder_use_lane(&b, 1);
    trace_builder_allocate(&b, 0, 7);
    trace_builder_use_lane(&b, 2);
    trace_builder_allocate(&b, 0, 4);
    uint32_t ended = trace_builder_begin(&b, "ended");
    trace_builder_allocate(&b, 0, 0);
    trace_builder_end(&b, ended);
    trace_builder_begin(&b, "open");
    trace_builder_allocate(&b, 0, 1024);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_int_equal(profile.regions[0].sizes[0], 1);
    assert_int_equal(profile.regions[0].sizes[3], 2);
    assert_int_equal(profile.regions[0].sizes[11], 1);
    assert_int_equal(profile.regions[1].sizes[0], 1);
    assert_int_equal(profile.regions[1].sizes[3], 0);
    assert_int_equal(profile.regions[2].sizes[0], 0);
    assert_int_equal(profile.regions[2].sizes[11], 1);
    profile_finish(&profile);
    b.sizes[2].start[3] = 3;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text, "trace damaged: region 2 has fewer allocations of a size "
                                    "than before it began");
}

static void test_timeline_is_put_in_order_with_start_peak_and_end(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    uint32_t region = trace_builder_begin(&b, "parse"); /* at 2000 */
    trace_builder_allocate(&b, 0, 90);
    trace_builder_free(&b, 0, 10);
    trace_builder_end(&b, region); /* at 2500 */
    trace_builder_point(&b, region, 2300, 90);
    trace_builder_point(&b, region, 2100, 20);
    trace_builder_point(&b, region, 2300, 90); /* moved, and not yet forgotten */
    trace_builder_point(&b, region, 1990, 10); /* by a coarse clock */
    b.regions[region].space[TRACE_HEAP].peak_elapsed_ns = 2200;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    const struct profile_point expected[] = {{2000, 10},  {2000, 10}, {2100, 20},
                                             {2200, 100}, {2300, 90}, {2500, 90}};
    const struct profile_region *parse = &profile.regions[region];
    assert_int_equal(parse->peak_elapsed_ns, 2200);
    assert_int_equal(parse->points_count, 6);
    assert_memory_equal(parse->points, expected, sizeof(expected));
    assert_int_equal(profile.regions[0].points_count, 0);
    profile_finish(&profile);
}

static void test_points_that_cannot_be_are_refused_unless_lanes_explain_them(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    trace_builder_point(&b, 0, 500, 11);
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_string_equal(fault.text,
                        "trace damaged: region 0 has a point in time with impossible bytes");
    b.has_lane[1] = true;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    for (size_t i = 0; i < profile.regions[0].points_count; i++)
        assert_in_range(profile.regions[0].points[i].live_bytes, 0, 10);
    profile_finish(&profile);
    b.points[0][0].elapsed_ns = UINT64_MAX;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
}

static void test_slack_is_what_was_given_beyond_what_was_asked_for(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    b.header.flags = TRACE_USABLE;
    b.slack_bytes = 8;
    trace_builder_allocate(&b, 0, 100);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 100);
    trace_builder_free(&b, 0, 100);
    trace_builder_end(&b, region);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_true(profile.regions[1].usable_is_known);
    assert_int_equal(profile.regions[1].usable_start_bytes, 108);
    assert_int_equal(profile.regions[1].usable_end_bytes, 108);
    assert_int_equal(profile_slack(&profile.regions[1]), 16);
    profile_finish(&profile);
    b.regions[1].usable_at_peak_bytes = 199;
    assert_int_equal(derive(&b, &profile, &fault), -EBADMSG);
    assert_non_null(strstr(fault.text, "was given less than it requested"));
    b.header.updating = 1; /* it may lag by an event: better none than a wrong one */
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_false(profile.regions[1].usable_is_known);
    profile_finish(&profile);
}

static void test_address_is_of_the_module_that_was_there_then(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_module(&b, "/first.so", 0x1000, 0x3000, 0);
    trace_builder_module(&b, "/second.so", 0x1000, 0x3000, 0);
    trace_builder_module(&b, "/again.so", 0x1000, 0x3000, 0);
    b.modules[1].generation = 2;
    b.modules[2].generation = 5;
    static const struct {
        uint16_t generation;
        const char *path;
    } cases[] = {{0, "/first.so"},  {1, "/first.so"}, {2, "/second.so"},
                 {4, "/second.so"}, {5, "/again.so"}, {9, "/again.so"}};
    uint32_t nodes[6];
    for (size_t i = 0; i < 6; i++) {
        nodes[i] = trace_builder_node(&b, 0, 0x1500);
        b.nodes[nodes[i]].generation = cases[i].generation;
    }
    assert_int_equal(derive(&b, &profile, &fault), 0);
    for (size_t i = 0; i < 6; i++) {
        const struct profile_frame *frame = &profile.frames[profile.nodes[nodes[i]].frame];
        assert_string_equal(profile.modules[frame->module].path, cases[i].path);
    }
    profile_finish(&profile);
    b.modules[0].generation = 1; /* nothing was there when node 0 was made */
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_string_equal(
        profile.modules[profile.frames[profile.nodes[nodes[0]].frame].module].path, "");
    profile_finish(&profile);
}

static void test_exec_is_a_whole_run_and_a_foreign_malloc_is_none(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 10);
    b.header.state = TRACE_EXECED;
    b.header.completeness.inherited_freed = 3;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_int_equal(profile.end, PROFILE_EXECED);
    assert_int_equal(profile.inherited_freed, 3);
    assert_false(profile_is_incomplete(&profile));
    profile_finish(&profile);
    b.header.completeness.malloc_elsewhere = 1;
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_true(profile_is_incomplete(&profile));
    assert_string_equal(profile_gap_meaning(PROFILE_MALLOC_ELSEWHERE, 1),
                        "the program brings its own malloc: its allocations were not seen");
    profile_finish(&profile);
}

static void test_forked_child_starts_with_what_its_parent_had(void **state) {
    struct trace_builder b;
    struct profile profile;
    struct fault fault = {0};
    trace_builder_init(&b);
    b.header.flags = TRACE_FORKED;
    b.header.parent_pid = 4000;
    b.header.parent_uuid[15] = 0xab;
    b.rows[0][0] = (struct trace_row){.start = {2, 300}, .peak = {2, 300}, .epoch = 1};
    struct trace_totals *heap = &b.regions[0].space[TRACE_HEAP];
    heap->start = heap->live = (struct trace_pair){2, 300};
    heap->peak.bytes = 300;
    b.regions[0].combined_start_bytes = b.regions[0].combined_peak_bytes = 300;
    trace_builder_free(&b, 0, 100);
    trace_builder_allocate(&b, 0, 150);
    assert_int_equal(derive(&b, &profile, &fault), 0);
    assert_true(profile.forked);
    assert_int_equal(profile.parent_pid, 4000);
    assert_string_equal(profile.parent_uuid, "000000000000000000000000000000ab");
    assert_string_equal(profile.uuid, "5e000000000000000000000000000000");
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].start.bytes, 300);
    assert_int_equal(profile.regions[0].totals[TRACE_HEAP].end.bytes, 350);
    assert_int_equal(profile_peak_added(&profile.regions[0].totals[TRACE_HEAP]), 50);
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
        cmocka_unit_test(test_sites_that_contradict_each_other_are_refused),
        cmocka_unit_test(test_counts_that_contradict_each_other_are_refused),
        cmocka_unit_test(test_rows_far_ahead_of_their_region_are_no_kill),
        cmocka_unit_test(test_addresses_become_module_and_offset),
        cmocka_unit_test(test_interpreted_code_has_names_and_lines_without_symbols),
        cmocka_unit_test(test_only_what_runs_interpreted_code_is_an_interpreter),
        cmocka_unit_test(test_folding_takes_out_what_is_between_two_functions_only),
        cmocka_unit_test(test_frames_that_were_folded_can_be_had_again),
        cmocka_unit_test(test_what_an_extension_did_between_two_functions_is_never_folded),
        cmocka_unit_test(test_arguments_and_gaps_come_along),
        cmocka_unit_test(test_rows_of_all_lanes_add_up_to_one_site),
        cmocka_unit_test(test_region_that_begins_after_lanes_starts_with_their_sum),
        cmocka_unit_test(test_ended_program_has_no_record_that_lags),
        cmocka_unit_test(test_death_in_any_lane_leaves_sums_that_hold),
        cmocka_unit_test(test_death_in_several_lanes_at_once_leaves_sums_that_hold),
        cmocka_unit_test(test_thread_region_counts_one_thread_and_may_be_negative),
        cmocka_unit_test(test_sizes_come_from_the_lanes_until_a_region_ends),
        cmocka_unit_test(test_timeline_is_put_in_order_with_start_peak_and_end),
        cmocka_unit_test(test_points_that_cannot_be_are_refused_unless_lanes_explain_them),
        cmocka_unit_test(test_slack_is_what_was_given_beyond_what_was_asked_for),
        cmocka_unit_test(test_address_is_of_the_module_that_was_there_then),
        cmocka_unit_test(test_exec_is_a_whole_run_and_a_foreign_malloc_is_none),
        cmocka_unit_test(test_forked_child_starts_with_what_its_parent_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
