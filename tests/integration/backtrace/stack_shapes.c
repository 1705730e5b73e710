/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack_shapes.c: allocations from frames of every shape that a compiler makes, in random
 * order, so that each stack differs from the last one at another depth.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static _Thread_local uint64_t random_state;

static unsigned random_below(unsigned limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % limit;
}

static void descend(int depth);

static __attribute__((noinline)) void allocate(void) {
    void *volatile kept = malloc(1 + random_below(200));
    free(kept);
    kept = calloc(1, 1 + random_below(200));
    kept = realloc(kept, 300);
    free(kept);
}

static __attribute__((noinline)) void plain(int depth) {
    descend(depth);
    __asm__ volatile("");
}

static __attribute__((noinline)) void with_alloca(int depth) {
    char *room = alloca(16 + random_below(500));
    memset(room, depth, 16);
    descend(depth);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static __attribute__((noinline)) void with_alignment(int depth) {
    _Alignas(64) volatile char room[128];
    room[0] = (char)depth;
    descend(depth);
    room[1] = room[0];
}

#if defined(__clang__)
#define KEEP_FRAME_POINTER
#else
#define KEEP_FRAME_POINTER __attribute__((optimize("no-omit-frame-pointer")))
#endif

static __attribute__((noinline)) KEEP_FRAME_POINTER void with_pointer(int depth) {
    descend(depth);
    __asm__ volatile("");
}

/* Keeps rbp and the other saved registers busy across the call. */
static __attribute__((noinline)) void with_registers(int depth) {
    uint64_t a = random_state;
    uint64_t b = a * 3;
    uint64_t c = a ^ 5;
    uint64_t d = a + 7;
    uint64_t e = a - 9;
    uint64_t f = a << 2;
    descend(depth);
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

static int compare(const void *a, const void *b) {
    descend(random_below(3));
    return memcmp(a, b, 1);
}

static __attribute__((noinline)) void through_libc(int depth) {
    char letters[] = "gfedcba";
    qsort(letters, 1 + (size_t)(depth % 4), 1, compare);
    descend(depth);
    __asm__ volatile("" : : "r"(letters) : "memory");
}

static jmp_buf back;

static __attribute__((noinline, noreturn)) void jump(int depth) {
    allocate();
    longjmp(back, depth + 1);
}

static __attribute__((noinline)) void with_longjmp(int depth) {
    volatile int left = depth;
    if (setjmp(back) == 0)
        jump(depth);
    descend(left);
}

static void descend(int depth) {
    static void (*const shapes[])(int) = {
        plain, with_alloca, with_alignment, with_pointer, with_registers, through_libc,
    };
    allocate();
    if (depth > 0)
        shapes[random_below(sizeof(shapes) / sizeof(shapes[0]))](depth - 1);
    if (random_below(3) == 0)
        allocate();
}

static void on_signal(int number) {
    descend(3);
}

static void *thread_main(void *seed) {
    random_state = (uint64_t)(uintptr_t)seed;
    for (int i = 0; i < 300; i++)
        descend((int)random_below(30));
    return NULL;
}

static ucontext_t main_context;
static ucontext_t other_context;

static void other_main(void) {
    for (int i = 0; i < 10; i++) {
        descend(5);
        swapcontext(&other_context, &main_context);
    }
}

static void run_contexts(void) {
    static char stack[256 << 10];
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof(stack);
    other_context.uc_link = &main_context;
    makecontext(&other_context, other_main, 0);
    for (int i = 0; i < 10; i++) {
        swapcontext(&main_context, &other_context);
        descend(4);
    }
}

static void run_signals(void) {
    static char stack[256 << 10];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaltstack(&alternate, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

int main(void) {
    pthread_t threads[8];
    random_state = 1;
    for (int i = 0; i < 2000; i++)
        descend((int)random_below(100));
    for (uintptr_t round = 0; round < 4; round++) {
        for (uintptr_t i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, thread_main, (void *)(round * 8 + i));
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 100; i++)
        with_longjmp((int)random_below(10));
    run_signals();
    run_contexts();
    return 0;
}
