/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of calls from hand-made runs: what is merged, and that no byte is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calltree.h"
#include "run_builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUILD(run, ...)                                                                        \
    run_build(run, "b", "f", (const struct run_work[]){__VA_ARGS__},                           \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              "parse")

/* Of region "parse"; @before may be NULL. */
static struct calltree tree_of(const struct run *before, const struct run *after,
                               struct calltree_settings settings) {
    struct calltree tree;
    struct calltree_source sources[CALLTREE_SIDES] = {0};
    if (before)
        sources[CALLTREE_BEFORE] =
            (struct calltree_source){&before->profile, &before->profile.regions[1]};
    if (after)
        sources[CALLTREE_AFTER] =
            (struct calltree_source){&after->profile, &after->profile.regions[1]};
    assert_int_equal(calltree_build(sources, &settings, &tree), 0);
    return tree;
}

/*
 * What was live before the region began stands below the root, too, with a difference of 0: so
 * every tree here has two nodes before the first call.
 *
 * The node at "main/read", NULL when there is none.
 */
static const struct calltree_node *find(const struct calltree *tree, const char *path) {
    const struct calltree_node *node = &tree->nodes[0];
    for (const char *at = path; *at != '\0';) {
        size_t length = strcspn(at, "/");
        uint32_t child = node->first_child;
        while (child != CALLTREE_NONE && (strlen(tree->nodes[child].name) != length ||
                                          memcmp(tree->nodes[child].name, at, length) != 0))
            child = tree->nodes[child].next_sibling;
        if (child == CALLTREE_NONE)
            return NULL;
        node = &tree->nodes[child];
        at += length + (at[length] == '/');
    }
    return node;
}

static int64_t difference_at(const struct calltree *tree, const char *path) {
    const struct calltree_node *node = find(tree, path);
    assert_non_null(node);
    return calltree_difference(node, CALLTREE_PEAK_ADDED);
}

static void test_one_run_is_merged_below_its_callers(void **state) {
    struct run run;
    BUILD(&run, {"main/read/buffer", 1000}, {"main/read/row", 20}, {"main/read/buffer", 300},
          {"main/write/buffer", 7}, {"-", 5});
    struct calltree tree = tree_of(NULL, &run, (struct calltree_settings){0});
    assert_int_equal(tree.nodes[0].kind, CALLTREE_ROOT);
    assert_int_equal(tree.nodes[0].subtree[CALLTREE_AFTER][CALLTREE_PEAK_ADDED], 1332);
    assert_int_equal(tree.nodes[0].subtree[CALLTREE_AFTER][CALLTREE_COUNT], 5);
    assert_int_equal(difference_at(&tree, "main"), 1327);
    assert_int_equal(difference_at(&tree, "main/read"), 1320);
    assert_int_equal(difference_at(&tree, "main/read/buffer"), 1300);
    assert_int_equal(difference_at(&tree, "main/write/buffer"), 7);
    const struct calltree_node *buffer = find(&tree, "main/read/buffer");
    assert_int_equal(buffer->self[CALLTREE_AFTER][CALLTREE_COUNT], 2);
    assert_int_equal(find(&tree, "main/read")->self[CALLTREE_AFTER][CALLTREE_TOTAL], 0);
    assert_false(buffer->in[CALLTREE_BEFORE]);
    assert_int_equal(buffer->depth, 3);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_bytes_without_a_stack_are_a_child_of_the_root(void **state) {
    struct run run;
    BUILD(&run, {"main/read", 10}, {"-", 64});
    struct calltree tree = tree_of(NULL, &run, (struct calltree_settings){0});
    const struct calltree_node *first = &tree.nodes[tree.nodes[0].first_child];
    assert_int_equal(first->kind, CALLTREE_NO_STACK);
    assert_int_equal(first->self[CALLTREE_AFTER][CALLTREE_PEAK_ADDED], 64);
    assert_null(first->frame);
    /* What was there before the region began, without a stack, too. */
    assert_int_equal(first->self[CALLTREE_AFTER][CALLTREE_LIVE_END], 564);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_sides_meet_and_the_root_has_the_whole_difference(void **state) {
    struct run before, after;
    BUILD(&before, {"main/read/old", 1000}, {"main/read/keep", 50});
    BUILD(&after, {"main/read/new", 1500}, {"main/read/keep", 50});
    struct calltree tree = tree_of(&before, &after, (struct calltree_settings){0});
    assert_int_equal(calltree_difference(&tree.nodes[0], CALLTREE_PEAK_ADDED), 500);
    assert_int_equal(difference_at(&tree, "main/read/new"), 1500);
    assert_int_equal(difference_at(&tree, "main/read/old"), -1000);
    assert_int_equal(difference_at(&tree, "main/read/keep"), 0);
    assert_false(find(&tree, "main/read/new")->in[CALLTREE_BEFORE]);
    assert_false(find(&tree, "main/read/old")->in[CALLTREE_AFTER]);
    assert_true(find(&tree, "main/read")->in[CALLTREE_BEFORE]);
    assert_string_equal(tree.nodes[find(&tree, "main/read")->first_child].name, "new");
    calltree_finish(&tree);
    run_finish(&before);
    run_finish(&after);
}

static void test_a_renamed_file_and_moved_lines_are_no_difference(void **state) {
    struct run before, after;
    BUILD(&before, {"main@old.c:10/read@old.c:20/row@old.c:30", 400});
    BUILD(&after, {"main@new.c:11/read@new.c:99/row@new.c:31", 400});
    static const enum calltree_by ways[] = {CALLTREE_BY_FUNCTION, CALLTREE_BY_FILE,
                                            CALLTREE_BY_MODULE};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct calltree tree =
            tree_of(&before, &after, (struct calltree_settings){.by = ways[i]});
        for (size_t n = 0; n < tree.count; n++) {
            assert_int_equal(calltree_difference(&tree.nodes[n], CALLTREE_PEAK_ADDED), 0);
            assert_true(tree.nodes[n].in[CALLTREE_BEFORE] && tree.nodes[n].in[CALLTREE_AFTER]);
        }
        calltree_finish(&tree);
    }
    struct calltree lines =
        tree_of(&before, &after, (struct calltree_settings){.by = CALLTREE_BY_LINE});
    assert_int_equal(lines.count, 8);
    calltree_finish(&lines);
    run_finish(&before);
    run_finish(&after);
}

static void test_a_name_that_stands_in_two_files_is_told_apart_by_them(void **state) {
    struct run before, after;
    BUILD(&before, {"main/init@a.c", 100}, {"main/init@b.c", 200});
    BUILD(&after, {"main/init@a.c", 150}, {"main/init@b.c", 200});
    struct calltree tree = tree_of(&before, &after, (struct calltree_settings){0});
    assert_int_equal(tree.count, 5);
    const struct calltree_node *first = &tree.nodes[find(&tree, "main")->first_child];
    assert_string_equal(first->frame->file, "/src/a.c");
    assert_int_equal(calltree_difference(first, CALLTREE_PEAK_ADDED), 50);
    assert_int_equal(calltree_difference(&tree.nodes[first->next_sibling], CALLTREE_PEAK_ADDED),
                     0);
    calltree_finish(&tree);
    run_finish(&before);
    run_finish(&after);
}

static void test_calls_within_a_file_or_module_stay_in_one_node(void **state) {
    struct run run;
    BUILD(&run, {"main@a.c/read@b.c/row@b.c/cell@b.c", 10}, {"main@a.c/read@b.c", 5},
          {"main@a.c/lib:x/lib:y", 3});
    struct calltree tree =
        tree_of(NULL, &run, (struct calltree_settings){.by = CALLTREE_BY_FILE});
    assert_int_equal(tree.count, 5);
    assert_int_equal(find(&tree, "a.c/b.c")->self[CALLTREE_AFTER][CALLTREE_PEAK_ADDED], 15);
    assert_int_equal(difference_at(&tree, "a.c/libxml2.so.2"), 3);
    calltree_finish(&tree);
    tree = tree_of(NULL, &run, (struct calltree_settings){.by = CALLTREE_BY_MODULE});
    assert_int_equal(tree.count, 4);
    assert_int_equal(find(&tree, "victim")->self[CALLTREE_AFTER][CALLTREE_PEAK_ADDED], 15);
    assert_int_equal(difference_at(&tree, "victim/libxml2.so.2"), 3);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_recursion_is_one_node_unless_it_is_kept(void **state) {
    struct run run;
    BUILD(&run, {"main/walk/walk/walk/leaf", 10}, {"main/walk/leaf", 1});
    struct calltree tree = tree_of(NULL, &run, (struct calltree_settings){0});
    assert_int_equal(difference_at(&tree, "main/walk/leaf"), 11);
    assert_int_equal(tree.count, 5);
    calltree_finish(&tree);
    tree = tree_of(NULL, &run, (struct calltree_settings){.keep_recursion = true});
    assert_int_equal(difference_at(&tree, "main/walk/walk/walk/leaf"), 10);
    assert_int_equal(tree.count, 8);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_helpers_are_folded_into_who_called_them(void **state) {
    struct run run;
    BUILD(&run, {"main/read/xrealloc", 10}, {"main/read/lib:strdup", 5});
    struct calltree tree =
        tree_of(NULL, &run, (struct calltree_settings){.fold_helpers = true});
    assert_int_equal(find(&tree, "main/read")->self[CALLTREE_AFTER][CALLTREE_PEAK_ADDED], 15);
    assert_int_equal(tree.count, 4);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_nameless_frames_of_another_build_are_one(void **state) {
    struct run before, after;
    BUILD(&before, {"main/hid:a", 10}, {"main/hid:b", 20});
    BUILD(&after, {"main/hid:a", 10}, {"main/x/hid:b", 20});
    struct profile_module *module = after.profile.modules;
    for (size_t i = 0; i < after.profile.module_count; i++)
        if (strcmp(module[i].path, "/opt/victim") == 0)
            strcpy(module[i].build_id, "1234");
    struct calltree tree = tree_of(&before, &after, (struct calltree_settings){0});
    assert_int_equal(difference_at(&tree, "main/victim"), -20);
    assert_int_equal(difference_at(&tree, "main/x/victim"), 20);
    calltree_finish(&tree);
    tree = tree_of(NULL, &after, (struct calltree_settings){0});
    assert_memory_equal(tree.nodes[find(&tree, "main")->first_child].name, "x", 2);
    assert_int_equal(strncmp(find(&tree, "main/x")->name, "x", 1), 0);
    const struct calltree_node *place = &tree.nodes[find(&tree, "main/x")->first_child];
    assert_int_equal(strncmp(place->name, "victim+0x", 9), 0);
    calltree_finish(&tree);
    run_finish(&before);
    run_finish(&after);
}

static void test_another_space_has_a_tree_of_its_own(void **state) {
    struct run run;
    BUILD(&run, {"main/read", 10}, {"map:main/arena", 4096});
    struct calltree tree =
        tree_of(NULL, &run, (struct calltree_settings){.space = TRACE_MAP_ANON});
    assert_int_equal(difference_at(&tree, "main/arena"), 4096);
    assert_null(find(&tree, "main/read"));
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_a_metric_orders_the_children(void **state) {
    struct run run;
    BUILD(&run, {"main/one", 100}, {"main/many", 1}, {"main/many", 1}, {"main/many", 1});
    struct calltree tree = tree_of(NULL, &run, (struct calltree_settings){0});
    assert_string_equal(tree.nodes[find(&tree, "main")->first_child].name, "one");
    calltree_sort(&tree, CALLTREE_COUNT);
    assert_string_equal(tree.nodes[find(&tree, "main")->first_child].name, "many");
    assert_int_equal(difference_at(&tree, "main/one"), 100);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_many_children_stay_in_order(void **state) {
    struct run run;
    struct run_work work[26];
    char stacks[26][16];
    for (size_t i = 0; i < 26; i++) {
        snprintf(stacks[i], sizeof(stacks[i]), "main/f%zu", i);
        work[i] = (struct run_work){stacks[i], 1 + i * 7 % 13};
    }
    run_build(&run, "b", "f", work, 26, "parse");
    struct calltree tree = tree_of(NULL, &run, (struct calltree_settings){0});
    size_t count = 0;
    const struct calltree_node *last = NULL;
    for (uint32_t i = find(&tree, "main")->first_child; i != CALLTREE_NONE;
         i = tree.nodes[i].next_sibling) {
        const struct calltree_node *node = &tree.nodes[i];
        int64_t bytes = calltree_difference(node, CALLTREE_PEAK_ADDED);
        if (last) {
            int64_t before = calltree_difference(last, CALLTREE_PEAK_ADDED);
            assert_true(before > bytes ||
                        (before == bytes && strcmp(last->name, node->name) < 0));
        }
        last = node;
        count++;
    }
    assert_int_equal(count, 26);
    calltree_finish(&tree);
    run_finish(&run);
}

static void test_a_region_without_rows_has_no_tree(void **state) {
    struct run run;
    struct calltree tree;
    BUILD(&run, {"main/read", 10});
    struct profile_region *region = (struct profile_region *)&run.profile.regions[1];
    region->has_rows = false;
    struct calltree_source sources[CALLTREE_SIDES] = {
        [CALLTREE_AFTER] = {&run.profile, region}};
    assert_int_equal(calltree_build(sources, &(struct calltree_settings){0}, &tree), -ENODATA);
    run_finish(&run);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run_is_merged_below_its_callers),
        cmocka_unit_test(test_bytes_without_a_stack_are_a_child_of_the_root),
        cmocka_unit_test(test_sides_meet_and_the_root_has_the_whole_difference),
        cmocka_unit_test(test_a_renamed_file_and_moved_lines_are_no_difference),
        cmocka_unit_test(test_a_name_that_stands_in_two_files_is_told_apart_by_them),
        cmocka_unit_test(test_calls_within_a_file_or_module_stay_in_one_node),
        cmocka_unit_test(test_recursion_is_one_node_unless_it_is_kept),
        cmocka_unit_test(test_helpers_are_folded_into_who_called_them),
        cmocka_unit_test(test_nameless_frames_of_another_build_are_one),
        cmocka_unit_test(test_another_space_has_a_tree_of_its_own),
        cmocka_unit_test(test_a_metric_orders_the_children),
        cmocka_unit_test(test_many_children_stay_in_order),
        cmocka_unit_test(test_a_region_without_rows_has_no_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
