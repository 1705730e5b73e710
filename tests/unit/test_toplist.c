/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds most: selves add up to the total, a recursion counts once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_builder.h"
#include "toplist.h"

#include <stdlib.h>
#include <string.h>

struct made {
    struct run run;
    struct calltree tree;
    struct toplist list;
};

static void make(struct made *made, const struct run_work *work, size_t count, bool by_all) {
    const struct calltree_settings settings = {.by = CALLTREE_BY_FUNCTION,
                                               .keep_recursion = true};
    struct calltree_source sources[CALLTREE_SIDES] = {0};
    run_build(&made->run, "b", "f", work, count, "parse");
    sources[CALLTREE_AFTER] =
        (struct calltree_source){&made->run.profile, &made->run.profile.regions[1]};
    assert_int_equal(calltree_build(sources, &settings, &made->tree), 0);
    assert_int_equal(
        toplist_make(&made->tree, CALLTREE_AFTER, CALLTREE_PEAK_ADDED, by_all, &made->list), 0);
}

static void unmake(struct made *made) {
    free(made->list.items);
    calltree_finish(&made->tree);
    run_finish(&made->run);
}

static const struct toplist_entry *entry_of(const struct made *made, const char *name) {
    for (size_t i = 0; i < made->list.count; i++)
        if (strcmp(made->list.items[i].node->name, name) == 0)
            return &made->list.items[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void test_selves_add_up_and_the_largest_is_first(void **state) {
    static const struct run_work work[] = {
        {"main/a", 10}, {"main/b/a", 20}, {"main/b", 25}, {"-", 3}};
    struct made made;
    int64_t sum = 0;
    make(&made, work, 4, false);
    for (size_t i = 0; i < made.list.count; i++) {
        sum += made.list.items[i].self;
        if (i > 0)
            assert_true(made.list.items[i - 1].self >= made.list.items[i].self);
    }
    assert_int_equal(sum, 58);
    assert_string_equal(made.list.items[0].node->name, "a");
    assert_int_equal(entry_of(&made, "a")->self, 30);
    assert_int_equal(entry_of(&made, "a")->node_count, 2);
    assert_int_equal(entry_of(&made, "b")->all, 45);
    assert_int_equal(entry_of(&made, "main")->self, 0);
    unmake(&made);
}

static void test_with_callees_the_outermost_is_first(void **state) {
    static const struct run_work work[] = {{"main/a", 10}, {"main/b/c", 20}};
    struct made made;
    make(&made, work, 2, true);
    assert_string_equal(made.list.items[0].node->name, "main");
    assert_int_equal(made.list.items[0].all, 30);
    /* Of two that hold the same with their callees, the one that did it stands first. */
    assert_string_equal(made.list.items[1].node->name, "c");
    assert_string_equal(made.list.items[2].node->name, "b");
    unmake(&made);
}

static void test_a_recursion_counts_once(void **state) {
    static const struct run_work work[] = {
        {"main/walk/walk/walk", 100}, {"main/walk/visit/walk", 10}, {"main/walk", 1}};
    struct made made;
    make(&made, work, 3, false);
    assert_int_equal(entry_of(&made, "walk")->self, 111);
    assert_int_equal(entry_of(&made, "walk")->all, 111);
    assert_int_equal(entry_of(&made, "visit")->all, 10);
    unmake(&made);
}

static void test_a_name_in_two_files_is_two_entries(void **state) {
    static const struct run_work work[] = {{"main/init@a.c", 7}, {"main/init@b.c", 9}};
    struct made made;
    size_t found = 0;
    make(&made, work, 2, false);
    for (size_t i = 0; i < made.list.count; i++)
        found += strcmp(made.list.items[i].node->name, "init") == 0;
    assert_int_equal(found, 2);
    unmake(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selves_add_up_and_the_largest_is_first),
        cmocka_unit_test(test_with_callees_the_outermost_is_first),
        cmocka_unit_test(test_a_recursion_counts_once),
        cmocka_unit_test(test_a_name_in_two_files_is_two_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
