/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of events that signal handlers leave for the recorder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pending.h"

#include <pthread.h>
#include <string.h>

#define PUSHERS          4
#define EVENTS_OF_PUSHER 20000u

static struct pending pending;

static int setup(void **state) {
    memset(&pending, 0, sizeof(pending));
    return 0;
}

static void test_a_pushed_event_is_seen_by_the_next_look(void **state) {
    struct pending_event event = {0};
    assert_false(pending_any(&pending));
    assert_true(pending_push(&pending, (struct pending_event){.address = 7}));
    assert_true(pending_any(&pending));
    pending_look(&pending);
    assert_false(pending_any(&pending));
    assert_true(pending_pop(&pending, &event));
    assert_int_equal(event.address, 7);
    assert_false(pending_pop(&pending, &event));
}

static void test_events_come_out_whole_and_in_order(void **state) {
    struct pending_event event = {0};
    for (uintptr_t round = 0; round < 5; round++) {
        for (uintptr_t i = 0; i < 100; i++)
            assert_true(pending_push(&pending, (struct pending_event){.kind = PENDING_MAPPED,
                                                                      .space = 2,
                                                                      .address = i,
                                                                      .bytes = ~i,
                                                                      .site = (uint32_t)i + 1,
                                                                      .temporary = i % 2}));
        for (uintptr_t i = 0; i < 100; i++) {
            assert_true(pending_pop(&pending, &event));
            assert_int_equal(event.kind, PENDING_MAPPED);
            assert_int_equal(event.space, 2);
            assert_int_equal(event.address, i);
            assert_true(event.bytes == ~(uint64_t)i);
            assert_int_equal(event.site, i + 1);
            assert_int_equal(event.temporary, i % 2);
        }
    }
    assert_false(pending_pop(&pending, &event));
}

static void test_a_full_queue_refuses_and_loses_nothing_it_took(void **state) {
    struct pending_event event = {0};
    for (uintptr_t i = 0; i < PENDING_EVENTS; i++)
        assert_true(pending_push(&pending, (struct pending_event){.address = i}));
    assert_false(pending_push(&pending, (struct pending_event){.address = 12345}));
    assert_true(pending_pop(&pending, &event));
    assert_true(pending_push(&pending, (struct pending_event){.address = PENDING_EVENTS}));
    for (uintptr_t i = 1; i <= PENDING_EVENTS; i++) {
        assert_true(pending_pop(&pending, &event));
        assert_int_equal(event.address, i);
    }
    assert_false(pending_pop(&pending, &event));
}

/* What turns a region on and off must not be lost: of what has no place the parity is kept. */
static void test_signals_that_find_it_full_are_counted(void **state) {
    struct pending_event event = {.kind = PENDING_SIGNALLED};
    for (unsigned counted = 0; counted < 4; counted++) {
        unsigned got = 0;
        setup(NULL);
        for (unsigned i = 0; i < PENDING_EVENTS; i++)
            assert_true(pending_push(&pending, (struct pending_event){.address = 1}));
        for (unsigned i = 1; i <= counted; i++) {
            event.elapsed_ns = i;
            assert_true(pending_push(&pending, event));
        }
        assert_false(pending_push(&pending, (struct pending_event){.address = 1}));
        pending_look(&pending);
        struct pending_event last = {0};
        while (pending_pop(&pending, &last))
            got++;
        assert_int_equal(got, PENDING_EVENTS + counted % 2);
        if (counted % 2 == 0)
            continue;
        assert_int_equal(last.kind, PENDING_SIGNALLED);
        assert_int_equal(last.elapsed_ns, counted);
    }
}

static void *push_many(void *data) {
    uintptr_t pusher = (uintptr_t)data;
    for (uintptr_t i = 0; i < EVENTS_OF_PUSHER; i++)
        while (!pending_push(&pending, (struct pending_event){.address = pusher, .bytes = i}))
            ;
    return NULL;
}

/* Each pusher's events arrive once, in its order, and a look is never told too early. */
static void test_many_threads_push_while_one_pops(void **state) {
    pthread_t threads[PUSHERS];
    uint64_t next[PUSHERS] = {0};
    struct pending_event event = {0};
    uint64_t got = 0;
    for (uintptr_t i = 0; i < PUSHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, push_many, (void *)i), 0);
    while (got < PUSHERS * EVENTS_OF_PUSHER) {
        if (!pending_any(&pending))
            continue;
        pending_look(&pending);
        for (; pending_pop(&pending, &event); got++) {
            assert_true(event.address < PUSHERS);
            assert_int_equal(event.bytes, next[event.address]);
            next[event.address]++;
        }
    }
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(pending_pop(&pending, &event));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_pushed_event_is_seen_by_the_next_look, setup),
        cmocka_unit_test_setup(test_events_come_out_whole_and_in_order, setup),
        cmocka_unit_test_setup(test_a_full_queue_refuses_and_loses_nothing_it_took, setup),
        cmocka_unit_test_setup(test_signals_that_find_it_full_are_counted, setup),
        cmocka_unit_test_setup(test_many_threads_push_while_one_pops, setup),
    };
    return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
