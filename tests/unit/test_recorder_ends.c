/* SPDX-License-Identifier: BSD-3-Clause */
/* exit(), exec and fork() that come while another thread, or this one, is somewhere inside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "booking.h"
#include "recorder_scratch.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct trace_scratch scratch;
static const uintptr_t frame[2] = {0, 0xca11e4};

static int setup(void **state) {
    setenv("VOTRACE_CHILDREN", "follow", 1);
    setenv("VOTRACE_SIGNAL", "USR2", 1);
    recorder_scratch_start(&scratch, "none");
    unsetenv("VOTRACE_CHILDREN");
    unsetenv("VOTRACE_SIGNAL");
    recorder_allocated(0x1000, 100, frame);
    return 0;
}

static int teardown(void **state) {
    recorder_scratch_check_and_finish(&scratch);
    return 0;
}

/* A second thread that does one thing after the other when it is told to. */
static struct {
    pthread_t thread;
    pthread_barrier_t turn;
    void (*step)(void);
} other;

static void *follow_steps(void *data) {
    for (;;) {
        pthread_barrier_wait(&other.turn);
        void (*step)(void) = other.step;
        if (step != NULL)
            step();
        pthread_barrier_wait(&other.turn);
        if (step == NULL)
            return NULL;
    }
}

static void other_does(void (*step)(void)) {
    other.step = step;
    pthread_barrier_wait(&other.turn);
    pthread_barrier_wait(&other.turn);
}

static void other_begin(void) {
    assert_int_equal(pthread_barrier_init(&other.turn, NULL, 2), 0);
    assert_int_equal(pthread_create(&other.thread, NULL, follow_steps, NULL), 0);
}

static void other_end(void) {
    other_does(NULL);
    pthread_join(other.thread, NULL);
    pthread_barrier_destroy(&other.turn);
}

/* It stands in the recorder, as if a signal had stopped it there for good. */
static bool lock_of_other;

static void stop_inside(void) {
    lock_of_other = booking_enter();
}

static void go_on(void) {
    booking_leave(lock_of_other);
}

static void test_exit_and_exec_do_not_wait_for_ever_for_a_thread_that_is_stopped(void **state) {
    other_begin();
    other_does(stop_inside);
    assert_false(recorder_exec_begin());
    recorder_exiting();
    /* As if the process had been killed: nobody could look whether an event is whole. */
    assert_int_equal(recorder.file.header->state, TRACE_RUNNING);
    other_does(go_on);
    other_end();
}

static void test_a_child_is_muted_when_a_stopped_thread_keeps_the_lock(void **state) {
    other_begin();
    other_does(stop_inside);
    recorder_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        recorder_fork_child();
        _exit(recorder_asleep || recorder_awake() ? 1 : 0);
    }
    recorder_fork_parent();
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    other_does(go_on);
    other_end();
    assert_int_equal(recorder_header_for_tests()->completeness.forked_children, 1);
}

/* A signal handler forks in the middle of the recorder, while another thread forks as well. */
static void fork_begins(void) {
    recorder_fork_prepare();
}

static void fork_ends(void) {
    recorder_fork_parent();
}

static void test_forks_of_two_threads_do_not_take_each_others_lock(void **state) {
    other_begin();
    recorder_thread.doing |= THREAD_BUSY;
    recorder_fork_prepare();
    other_does(fork_begins);
    recorder_fork_parent();
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    /* The lock is the other's still. */
    bool taken;
    assert_false(lock_acquire_within(&recorder.lock, &(struct timespec){.tv_nsec = 1}, &taken));
    other_does(fork_ends);
    assert_true(lock_acquire_within(&recorder.lock, &(struct timespec){.tv_nsec = 1}, &taken));
    lock_release(&recorder.lock, taken);
    other_end();
    /* The handler's child is muted; the other's is to be followed. */
    assert_int_equal(recorder_header_for_tests()->completeness.forked_children, 1);
}

static void test_a_handler_that_forks_in_the_middle_of_a_fork_leaves_it_the_lock(void **state) {
    recorder_fork_prepare();
    assert_true(recorder_busy());
    recorder_fork_prepare();
    recorder_fork_parent();
    assert_true(recorder_busy());
    recorder_fork_parent();
    assert_false(recorder_busy());
    assert_int_equal(recorder_header_for_tests()->completeness.forked_children, 1);
}

static void test_an_exec_that_fails_after_exit_was_called_does_not_take_it_back(void **state) {
    const struct trace_header *header = recorder_header_for_tests();
    assert_true(recorder_exec_begin());
    recorder_exiting();
    assert_int_equal(header->state, TRACE_EXITED);
    uint64_t ended_ns = header->end_elapsed_ns;
    recorder_exec_failed();
    assert_int_equal(header->state, TRACE_EXITED);
    assert_int_equal(header->end_elapsed_ns, ended_ns);
    assert_false(recorder.lanes_allowed);
}

/* The 256 places of the queue, and as many again: a region for each two, and one that is open. */
static void test_signals_faster_than_the_queue_lose_no_turn(void **state) {
    recorder_thread.doing |= THREAD_BUSY;
    for (int i = 0; i < 1001; i++)
        recorder_signalled();
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    const struct trace_header *header = recorder_header_for_tests();
    assert_true(recorder.signal_region_open);
    assert_true(header->region_count >= 1 + PENDING_EVENTS / 2);
    assert_int_equal(header->completeness.events_lost, 0);
    assert_int_equal(header->completeness.unbalanced_ends, 0);
    recorder_signalled();
    assert_false(recorder.signal_region_open);
}

/* From now on @call ends the process. False: that cannot be had here. */
static bool is_killed_by(long call) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* It is killed when the file has a name, and gets its size. */
static void test_a_process_killed_while_it_begins_leaves_a_header(void **state) {
    struct trace_check check;
    char path[sizeof(scratch.path) + 4];
    snprintf(path, sizeof(path), "%s.2", scratch.path);
    pid_t child = fork();
    if (child == 0) {
        recorder_reset_for_tests();
        if (!is_killed_by(SYS_fallocate))
            _exit(77);
        recorder_start();
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFSIGNALED(status));
    trace_scratch_check(path, &check);
    assert_int_equal(check.header->state, TRACE_STARTING);
    trace_scratch_check_finish(&check);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_exit_and_exec_do_not_wait_for_ever_for_a_thread_that_is_stopped),
        TEST(test_a_child_is_muted_when_a_stopped_thread_keeps_the_lock),
        TEST(test_forks_of_two_threads_do_not_take_each_others_lock),
        TEST(test_a_handler_that_forks_in_the_middle_of_a_fork_leaves_it_the_lock),
        TEST(test_an_exec_that_fails_after_exit_was_called_does_not_take_it_back),
        TEST(test_a_process_killed_while_it_begins_leaves_a_header),
        TEST(test_signals_faster_than_the_queue_lose_no_turn),
    };
    return cmocka_run_group_tests_name("recorder_ends", tests, NULL, NULL);
}
