/* SPDX-License-Identifier: BSD-3-Clause */
/* What a descriptor has is taken whole, or as much as was asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A read gives one packet at most. */
static void test_short_reads_are_put_together(void **state) {
    (void)state;
    int ends[2];
    char bytes[16] = "";
    size_t taken = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(write(ends[1], "one ", 4), 4);
    assert_int_equal(write(ends[1], "two", 3), 3);
    close(ends[1]);
    assert_int_equal(infile_take(ends[0], bytes, sizeof(bytes), &taken), 0);
    assert_int_equal(taken, 7);
    assert_memory_equal(bytes, "one two", 8);
    close(ends[0]);
}

static int writing_end;

static void write_and_close(int signal) {
    (void)!write(writing_end, "late", 4);
    close(writing_end);
}

static void test_an_interrupted_read_goes_on(void **state) {
    (void)state;
    const struct sigaction action = {.sa_handler = write_and_close}; /* no SA_RESTART */
    const struct itimerval soon = {.it_value.tv_usec = 20000};
    int ends[2];
    char bytes[16] = "";
    size_t taken = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    writing_end = ends[1];
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_int_equal(infile_take(ends[0], bytes, sizeof(bytes), &taken), 0);
    assert_int_equal(taken, 4);
    assert_memory_equal(bytes, "late", 5);
    close(ends[0]);
}

static void test_no_more_than_asked_is_taken(void **state) {
    (void)state;
    int ends[2];
    char bytes[4] = "...";
    size_t taken = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "12345", 5), 5);
    assert_int_equal(infile_take(ends[0], bytes, 2, &taken), 0);
    assert_int_equal(taken, 2);
    assert_string_equal(bytes, "12.");
    close(ends[0]);
    close(ends[1]);
}

static void test_what_cannot_be_read_is_an_error(void **state) {
    (void)state;
    char bytes[4];
    size_t taken = 9;
    assert_int_equal(infile_take(-1, bytes, sizeof(bytes), &taken), -EBADF);
    assert_int_equal(taken, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_reads_are_put_together),
        cmocka_unit_test(test_an_interrupted_read_goes_on),
        cmocka_unit_test(test_no_more_than_asked_is_taken),
        cmocka_unit_test(test_what_cannot_be_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
