/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames of Python are read, and by which threads: an interpreter of the layout of 3.10 that
 * is a few words in memory. tests/integration/python has the real ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python.h"

#include "recorder_scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CALLER UINT64_C(0x401000)

/* A str, ASCII and compact. */
struct text {
    uintptr_t references, type, length, hash;
    uint64_t state;
    uintptr_t wide;
    char text[16];
};

struct code {
    uintptr_t references;
    const void *type;
    uintptr_t first_line;
    struct text *name;
    struct text *path;
};

struct frame {
    uintptr_t head[3];
    struct frame *outer;
    struct code *code;
};

struct thread {
    uintptr_t head[3];
    struct frame *frame;
};

struct member {
    const char *name;
    int type;
    intptr_t offset;
    int flags;
    const char *doc;
};

static struct text name = {.length = 4, .state = 4 | 32 | 64, .text = "leaf"};
static struct text path = {.length = 5, .state = 4 | 32 | 64, .text = "/a.py"};
static struct code code = {.name = &name, .path = &path, .first_line = 3};
static struct frame outer = {.code = &code};
static struct frame inner = {.outer = &outer, .code = &code};
static struct thread thread = {.frame = &inner};
static const struct member members[] = {
    {"co_name", 0, offsetof(struct code, name), 0, NULL},
    {"co_filename", 0, offsetof(struct code, path), 0, NULL},
    {"co_firstlineno", 0, offsetof(struct code, first_line), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* What the test says of the interpreter. */
static int initialized;
static void *running; /* the thread that has the lock */
static void *own;     /* this thread's */

#define EXPORTED __attribute__((visibility("default")))
#define WORDS    (400 / sizeof(uintptr_t))
EXPORTED uintptr_t PyCode_Type[WORDS];
EXPORTED const uint64_t _PyRuntime[64];

EXPORTED const char *Py_GetVersion(void);
EXPORTED const char *Py_GetVersion(void) {
    return "3.10.0 (test)";
}

EXPORTED int Py_IsInitialized(void);
EXPORTED int Py_IsInitialized(void) {
    return initialized;
}

EXPORTED void *PyGILState_GetThisThreadState(void);
EXPORTED void *PyGILState_GetThisThreadState(void) {
    return own;
}

EXPORTED void *_PyThreadState_UncheckedGet(void);
EXPORTED void *_PyThreadState_UncheckedGet(void) {
    return running;
}

EXPORTED int PyCode_Addr2Line(void *of, int offset);
EXPORTED int PyCode_Addr2Line(void *of, int offset) {
    return of == NULL ? -1 : offset;
}

EXPORTED int PyFrame_GetLineNumber(void *frame);
EXPORTED int PyFrame_GetLineNumber(void *frame) {
    return frame == &inner ? 7 : 9;
}

EXPORTED void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown);
EXPORTED void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown) {
    return thrown == 0 ? state : frame;
}

static struct trace_scratch scratch;
static struct backtrace native;
static struct backtrace mixed;

static int setup(void **state) {
    PyCode_Type[240 / sizeof(uintptr_t)] = (uintptr_t)members;
    code.type = PyCode_Type;
    initialized = 1;
    own = &thread;
    running = &thread;
    memset(&native, 0, sizeof(native));
    memset(&mixed, 0, sizeof(mixed));
    recorder_scratch_start(&scratch, "all");
    assert_true(python_is_here);
    const uintptr_t address = CALLER;
    backtrace_set(&native, &address, 1, false);
    native.walked = true;
    return 0;
}

static int teardown(void **state) {
    recorder_scratch_check_and_finish(&scratch);
    return 0;
}

static bool mix(void) {
    return python_mix(&native, &mixed, 16);
}

static void *mix_elsewhere(void *ret_mixed) {
    *(bool *)ret_mixed = mix();
    return NULL;
}

static bool mix_in_another_thread(void) {
    pthread_t other;
    bool has_frames = false;
    assert_int_equal(pthread_create(&other, NULL, mix_elsewhere, &has_frames), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    return has_frames;
}

static void test_frames_are_put_outside_of_what_they_called(void **state) {
    assert_true(mix());
    assert_int_equal(mixed.depth_frames, 3);
    assert_true((mixed.addresses[0] & TRACE_CODE_FRAME) != 0);
    assert_int_equal(mixed.addresses[0] & TRACE_CODE_LINE_MAX, 9);
    assert_int_equal(mixed.addresses[1] & TRACE_CODE_LINE_MAX, 7);
    assert_int_equal(mixed.addresses[2], CALLER);
}

/* As of sort(), which calls a function of Python's, or of an extension. */
static void test_each_frame_of_the_loop_has_the_function_that_it_runs(void **state) {
    const uintptr_t loop = (uintptr_t)&_PyEval_EvalFrameDefault + 1;
    const uintptr_t between = CALLER + 16;
    const uintptr_t addresses[] = {CALLER, loop, between, loop};
    backtrace_set(&native, addresses, 4, false);
    native.walked = true;
    assert_true(mix());
    assert_int_equal(mixed.depth_frames, 6);
    assert_int_equal(mixed.addresses[0], loop);
    assert_int_equal(mixed.addresses[1] & TRACE_CODE_LINE_MAX, 9);
    assert_int_equal(mixed.addresses[2], between);
    assert_int_equal(mixed.addresses[3], loop);
    assert_int_equal(mixed.addresses[4] & TRACE_CODE_LINE_MAX, 7);
    assert_int_equal(mixed.addresses[5], CALLER);
}

static void test_a_thread_with_the_lock_reads_its_frames(void **state) {
    assert_true(mix_in_another_thread());
}

/* What would be read is poisoned: nothing of it may be. */
static void test_a_thread_without_the_lock_reads_nothing(void **state) {
    running = NULL;
    own = (void *)16;
    assert_false(mix_in_another_thread());
    running = &thread;
    assert_false(mix_in_another_thread());
}

/* It is the one that ends the interpreter. */
static void test_the_main_thread_reads_its_frames_without_the_lock(void **state) {
    running = NULL;
    assert_true(mix());
    assert_int_equal(mixed.depth_frames, 3);
}

static void test_of_an_interpreter_that_ends_nothing_is_read(void **state) {
    initialized = 0;
    own = (void *)16;
    running = own;
    assert_false(mix());
}

/* As a signal handler's: the list of frames may be half changed. */
static void test_of_a_stack_that_cannot_be_walked_nothing_is_read(void **state) {
    native.walked = false;
    thread.frame = (void *)16;
    assert_false(mix());
    thread.frame = &inner;
}

static void test_a_frame_without_code_is_left_out(void **state) {
    static struct code other;
    other = code;
    other.type = &other;
    inner.code = &other;
    assert_true(mix());
    inner.code = &code;
    assert_int_equal(mixed.depth_frames, 2);
    assert_int_equal(mixed.addresses[0] & TRACE_CODE_LINE_MAX, 9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_frames_are_put_outside_of_what_they_called),
        TEST(test_each_frame_of_the_loop_has_the_function_that_it_runs),
        TEST(test_a_thread_with_the_lock_reads_its_frames),
        TEST(test_a_thread_without_the_lock_reads_nothing),
        TEST(test_the_main_thread_reads_its_frames_without_the_lock),
        TEST(test_of_an_interpreter_that_ends_nothing_is_read),
        TEST(test_of_a_stack_that_cannot_be_walked_nothing_is_read),
        TEST(test_a_frame_without_code_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
