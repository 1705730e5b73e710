/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks and their sites, against a list of all stacks seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blocks.h"
#include "random.h"
#include "stacktree.h"
#include "sysmem_wrap.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 12

static struct tracefile file;
static struct stacktree *tree;

static int setup(void **state) {
    tree = calloc(1, sizeof(*tree));
    assert_int_equal(tracefile_open(&file, NULL), 0);
    assert_int_equal(stacktree_init(tree, &file), 0);
    return 0;
}

static int teardown(void **state) {
    free(tree);
    return 0;
}

static void set(struct backtrace *backtrace, const uintptr_t *innermost_first, size_t depth) {
    backtrace_set(backtrace, innermost_first, depth, false);
}

static uint32_t find_or_add(struct backtrace *backtrace, enum trace_space space) {
    bool other;
    uint32_t site = stacktree_find(tree, backtrace, space);
    if (site != STACKTREE_NO_SITE)
        return site;
    site = stacktree_add(tree, backtrace, space, &other);
    assert_false(other);
    return site;
}

/* The frames that the trace has for @site are those of @innermost_first. */
static void assert_frames(uint32_t site, const uintptr_t *innermost_first, size_t depth) {
    uint32_t node = stacktree_site(tree, site)->node;
    for (size_t i = 0; i < depth; i++) {
        const struct trace_node *frame =
            &tree->nodes[node / STACKTREE_NODES_PER_CHUNK][node % STACKTREE_NODES_PER_CHUNK];
        assert_int_equal(frame->address, innermost_first[i]);
        assert_int_equal(frame->depth, depth - i);
        node = frame->parent;
    }
    assert_int_equal(node, 0);
}

static void test_the_fixed_sites_are_there_from_the_start(void **state) {
    assert_int_equal(file.header->site_count, TRACE_FIXED_SITES);
    assert_int_equal(file.header->node_count, 1);
    for (int space = 0; space < TRACE_SPACES; space++) {
        enum trace_space s = (enum trace_space)space;
        assert_int_equal(stacktree_site(tree, stacktree_site_no_stack(s))->flags,
                         TRACE_SITE_NO_STACK);
        assert_int_equal(stacktree_site(tree, stacktree_site_other(s))->flags,
                         TRACE_SITE_OTHER);
        assert_int_equal(stacktree_site(tree, stacktree_site_other(s))->space, s);
    }
}

static void test_a_stack_has_no_site_before_it_is_added_and_one_for_each_space(void **state) {
    const uintptr_t frames[] = {30, 20, 10};
    struct backtrace backtrace = {0};
    bool other;
    set(&backtrace, frames, 3);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), STACKTREE_NO_SITE);
    uint32_t heap = stacktree_add(tree, &backtrace, TRACE_HEAP, &other);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), heap);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_MAP_ANON), STACKTREE_NO_SITE);
    uint32_t anon = stacktree_add(tree, &backtrace, TRACE_MAP_ANON, &other);
    assert_int_not_equal(heap, anon);
    assert_int_equal(stacktree_site(tree, anon)->space, TRACE_MAP_ANON);
    assert_int_equal(stacktree_add(tree, &backtrace, TRACE_HEAP, &other), heap);
    assert_int_equal(file.header->site_count, TRACE_FIXED_SITES + 2);
    assert_frames(heap, frames, 3);
}

static void test_a_stack_and_its_caller_alone_are_different_sites(void **state) {
    const uintptr_t frames[] = {30, 20, 10};
    struct backtrace backtrace = {0};
    set(&backtrace, frames, 3);
    uint32_t whole = find_or_add(&backtrace, TRACE_HEAP);
    set(&backtrace, frames + 1, 2);
    uint32_t caller = find_or_add(&backtrace, TRACE_HEAP);
    assert_int_not_equal(whole, caller);
    assert_int_equal(file.header->node_count, 4);
    assert_frames(caller, frames + 1, 2);
}

struct seen {
    uintptr_t frames[DEPTH];
    size_t depth;
    enum trace_space space;
    uint32_t site;
};

/*
 * Random stacks that share prefixes and repeat, through one backtrace that remembers the nodes
 * of the last stack, through another that jumps between them, and through a fresh one that
 * remembers nothing: always the same site, and the frames of the site are the stack.
 */
static void test_what_is_remembered_never_leads_to_a_wrong_site(void **state) {
    size_t count = 4000;
    struct random random = {21};
    struct seen *seen = calloc(count, sizeof(*seen));
    struct backtrace *kept = calloc(2, sizeof(*kept));
    for (size_t i = 0; i < 200000; i++) {
        struct seen *stack = &seen[random_below(&random, count)];
        if (stack->depth == 0) {
            stack->depth = 1 + random_below(&random, DEPTH);
            stack->space = (enum trace_space)random_below(&random, TRACE_SPACES);
            for (size_t at = 0; at < stack->depth; at++)
                stack->frames[at] = 1 + random_below(&random, 3);
            stack->site = STACKTREE_NO_SITE;
        }
        struct backtrace *remembers = &kept[random_below(&random, 4) == 0];
        struct backtrace fresh = {0};
        set(remembers, stack->frames, stack->depth);
        uint32_t site = find_or_add(remembers, stack->space);
        set(&fresh, stack->frames, stack->depth);
        assert_int_equal(stacktree_find(tree, &fresh, stack->space), site);
        if (stack->site == STACKTREE_NO_SITE)
            assert_frames(site, stack->frames, stack->depth);
        else
            assert_int_equal(site, stack->site);
        stack->site = site;
    }
    /* Equal stacks have equal sites, others others. */
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < count; j++) {
            if (seen[i].depth == 0 || seen[j].depth == 0)
                continue;
            bool same =
                seen[i].space == seen[j].space && seen[i].depth == seen[j].depth &&
                memcmp(seen[i].frames, seen[j].frames, seen[i].depth * sizeof(uintptr_t)) == 0;
            assert_int_equal(seen[i].site == seen[j].site, same);
        }
    free(seen);
    free(kept);
}

static void test_the_table_of_frames_grows_under_many_nodes(void **state) {
    struct backtrace backtrace = {0};
    uintptr_t frames[2] = {0, 1};
    uint32_t *sites = calloc(50000, sizeof(*sites));
    for (uintptr_t i = 0; i < 50000; i++) {
        frames[0] = UINT64_C(0x7f0000000000) + i * 5;
        set(&backtrace, frames, 2);
        sites[i] = find_or_add(&backtrace, TRACE_HEAP);
    }
    for (uintptr_t i = 0; i < 50000; i++) {
        struct backtrace fresh = {0};
        frames[0] = UINT64_C(0x7f0000000000) + i * 5;
        set(&fresh, frames, 2);
        assert_int_equal(stacktree_find(tree, &fresh, TRACE_HEAP), sites[i]);
    }
    assert_int_equal(file.header->node_count, 50002);
    free(sites);
}

static void test_truncated_stacks_are_flagged_and_counted_once(void **state) {
    const uintptr_t frames[] = {3, 2};
    struct backtrace backtrace = {0};
    backtrace_set(&backtrace, frames, 2, true);
    uint32_t site = find_or_add(&backtrace, TRACE_HEAP);
    find_or_add(&backtrace, TRACE_HEAP);
    assert_int_equal(stacktree_site(tree, site)->flags, TRACE_SITE_TRUNCATED);
    assert_int_equal(file.header->stacks_truncated, 1);
}

static void test_stacks_go_to_other_when_the_sites_are_used_up(void **state) {
    const uintptr_t frames[] = {3, 2};
    struct backtrace backtrace = {0};
    bool other;
    tree->site_count = BLOCKS_SITE_MAX + 1;
    set(&backtrace, frames, 2);
    assert_int_equal(stacktree_add(tree, &backtrace, TRACE_MAP_FILE, &other),
                     stacktree_site_other(TRACE_MAP_FILE));
    assert_true(other);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_MAP_FILE), STACKTREE_NO_SITE);
}

/* Refuse memory at every place in turn: the answer is "other" or the site, never a mixture. */
static void test_stacks_go_to_other_while_memory_is_refused(void **state) {
    uintptr_t frames[3];
    struct backtrace backtrace = {0};
    int others = 0;
    bool other;
    for (int refused = 0; refused < 40; refused++) {
        for (int i = 0; i < 3000; i++) {
            frames[0] = (uintptr_t)refused * 100000 + (uintptr_t)i + 10;
            frames[1] = frames[0] + 7;
            frames[2] = 5;
            set(&backtrace, frames, 3);
            sysmem_refuse_after(refused % 4);
            uint32_t site = stacktree_find(tree, &backtrace, TRACE_HEAP);
            if (site == STACKTREE_NO_SITE)
                site = stacktree_add(tree, &backtrace, TRACE_HEAP, &other);
            sysmem_refuse_after(SYSMEM_NEVER);
            if (site == stacktree_site_other(TRACE_HEAP))
                others++;
            else
                assert_frames(site, frames, 3);
        }
    }
    assert_true(others > 0);
    set(&backtrace, frames, 3);
    assert_frames(find_or_add(&backtrace, TRACE_HEAP), frames, 3);
}

static void test_init_fails_when_memory_is_refused(void **state) {
    struct stacktree *refused = calloc(1, sizeof(*refused));
    sysmem_refuse_after(0);
    int r = stacktree_init(refused, &file);
    sysmem_refuse_after(SYSMEM_NEVER);
    free(refused);
    assert_int_equal(r, -ENOMEM);
}

static uint16_t generation_of(uint32_t site) {
    uint32_t node = stacktree_site(tree, site)->node;
    return tree->nodes[node / STACKTREE_NODES_PER_CHUNK][node % STACKTREE_NODES_PER_CHUNK]
        .generation;
}

/* 0x5001 to 0x5fff is the code of a library, called from 0x1000 and calling 0x9000. */
static void test_stacks_through_unloaded_code_are_found_no_more(void **state) {
    static const uintptr_t through[] = {0x9000, 0x5800, 0x1000};
    static const uintptr_t past[] = {0x9000, 0x6001, 0x1000};
    struct backtrace backtrace = {0}, other = {0};
    set(&backtrace, through, 3);
    uint32_t first = find_or_add(&backtrace, TRACE_HEAP);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), first);
    set(&other, past, 3);
    uint32_t unchanged = find_or_add(&other, TRACE_HEAP);

    stacktree_hide(tree, 0x5000, 0x6000);
    tree->generation = 1;
    /* The same frames again: what the backtrace remembers must not be believed. */
    set(&backtrace, through, 3);
    assert_int_equal(backtrace.known_nodes, 3);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), STACKTREE_NO_SITE);
    uint32_t second = find_or_add(&backtrace, TRACE_HEAP);
    assert_int_not_equal(first, second);
    assert_frames(second, through, 3);
    assert_int_equal(generation_of(first), 0);
    assert_int_equal(generation_of(second), 1);
    set(&other, past, 3);
    assert_int_equal(stacktree_find(tree, &other, TRACE_HEAP), unchanged);
}

static void test_code_that_comes_back_has_its_stacks_again(void **state) {
    struct backtrace backtrace = {0};
    uint32_t sites[200];
    for (uintptr_t i = 0; i < 200; i++) {
        uintptr_t frames[] = {0x5001 + i, 0x1000};
        set(&backtrace, frames, 2);
        sites[i] = find_or_add(&backtrace, TRACE_HEAP);
    }
    stacktree_hide(tree, 0x5000, 0x6000);
    /* Enough new ones that the table grows while they are hidden. */
    for (uintptr_t i = 0; i < 10000; i++) {
        uintptr_t frames[] = {0x100000 + i, 0x1000};
        set(&backtrace, frames, 2);
        find_or_add(&backtrace, TRACE_HEAP);
    }
    uintptr_t hidden[] = {0x5001, 0x1000};
    set(&backtrace, hidden, 2);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), STACKTREE_NO_SITE);
    stacktree_show(tree, 0x5000, 0x6000, 0);
    for (uintptr_t i = 0; i < 200; i++) {
        uintptr_t frames[] = {0x5001 + i, 0x1000};
        set(&backtrace, frames, 2);
        assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), sites[i]);
    }
}

/* What was there before the module is not the module's. */
static void test_only_nodes_of_the_modules_generation_come_back(void **state) {
    static const uintptr_t frames[] = {0x5800, 0x1000};
    struct backtrace backtrace = {0};
    set(&backtrace, frames, 2);
    find_or_add(&backtrace, TRACE_HEAP);
    stacktree_hide(tree, 0x5000, 0x6000);
    tree->generation = 1;
    set(&backtrace, frames, 2);
    uint32_t second = find_or_add(&backtrace, TRACE_HEAP);
    stacktree_hide(tree, 0x5000, 0x6000);
    stacktree_show(tree, 0x5000, 0x6000, 1);
    set(&backtrace, frames, 2);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), second);
}

static void test_a_tree_that_begins_again_knows_nothing(void **state) {
    static const uintptr_t frames[] = {0x5800, 0x1000};
    static struct tracefile own;
    struct backtrace backtrace = {0};
    set(&backtrace, frames, 2);
    find_or_add(&backtrace, TRACE_HEAP);
    find_or_add(&backtrace, TRACE_MAP_ANON);
    assert_int_equal(tracefile_open(&own, NULL), 0);
    assert_int_equal(stacktree_restart(tree, &own), 0);
    assert_int_equal(own.header->site_count, TRACE_FIXED_SITES);
    assert_int_equal(own.header->node_count, 1);
    set(&backtrace, frames, 2);
    assert_int_equal(stacktree_find(tree, &backtrace, TRACE_HEAP), STACKTREE_NO_SITE);
    assert_int_equal(find_or_add(&backtrace, TRACE_HEAP), TRACE_FIXED_SITES);
    assert_frames(TRACE_FIXED_SITES, frames, 2);
    assert_int_equal(file.header->site_count, TRACE_FIXED_SITES + 2);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_fixed_sites_are_there_from_the_start),
        TEST(test_a_stack_has_no_site_before_it_is_added_and_one_for_each_space),
        TEST(test_a_stack_and_its_caller_alone_are_different_sites),
        TEST(test_what_is_remembered_never_leads_to_a_wrong_site),
        TEST(test_the_table_of_frames_grows_under_many_nodes),
        TEST(test_truncated_stacks_are_flagged_and_counted_once),
        TEST(test_stacks_go_to_other_when_the_sites_are_used_up),
        TEST(test_stacks_go_to_other_while_memory_is_refused),
        TEST(test_stacks_through_unloaded_code_are_found_no_more),
        TEST(test_code_that_comes_back_has_its_stacks_again),
        TEST(test_only_nodes_of_the_modules_generation_come_back),
        TEST(test_a_tree_that_begins_again_knows_nothing),
        TEST(test_init_fails_when_memory_is_refused),
    };
    return cmocka_run_group_tests_name("stacktree", tests, NULL, NULL);
}
