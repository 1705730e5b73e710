/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare_stacks.c: a library to preload that takes the stack of every allocation twice, by the
 * walk with its memory of the last stack and by libunwind, and says at exit how often they
 * differ.
 *
 * One line on descriptor 2: "N stacks, N walked, N different"; the first difference is printed.
 */
#include "backtrace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_LIMIT 64

static _Thread_local struct {
    bool inside;
    struct backtrace walked;
    struct backtrace unwound;
} thread;

static _Atomic unsigned long stacks;
static _Atomic unsigned long walks;
static _Atomic unsigned long differences;

static void *(*real_malloc)(size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_calloc)(size_t, size_t);

static bool same(const struct backtrace *a, const struct backtrace *b) {
    return a->depth_frames == b->depth_frames && a->truncated == b->truncated &&
           memcmp(a->addresses, b->addresses, a->depth_frames * sizeof(a->addresses[0])) == 0;
}

static void print_difference(void) {
    uint32_t most = thread.walked.depth_frames > thread.unwound.depth_frames
                        ? thread.walked.depth_frames
                        : thread.unwound.depth_frames;
    for (uint32_t i = 0; i < most; i++)
        fprintf(stderr, "%3u %16lx %16lx\n", i,
                i < thread.walked.depth_frames ? thread.walked.addresses[i] : 0,
                i < thread.unwound.depth_frames ? thread.unwound.addresses[i] : 0);
}

static void compare(const uintptr_t *frame) {
    if (thread.inside)
        return;
    thread.inside = true;
    stacks++;
    if (backtrace_walk(&thread.walked, frame, DEPTH_LIMIT)) {
        walks++;
        if (backtrace_unwind(&thread.unwound, frame, DEPTH_LIMIT) &&
            !same(&thread.walked, &thread.unwound) && differences++ == 0)
            print_difference();
    }
    thread.inside = false;
}

void *malloc(size_t bytes) {
    void *block = real_malloc != NULL ? real_malloc(bytes) : NULL;
    compare((const uintptr_t *)__builtin_frame_address(0));
    return block;
}

void *calloc(size_t count, size_t size) {
    static char early[4096]; /* dlsym() itself asks before real_calloc is known */
    if (real_calloc == NULL)
        return early;
    void *block = real_calloc(count, size);
    compare((const uintptr_t *)__builtin_frame_address(0));
    return block;
}

void *realloc(void *block, size_t bytes) {
    void *result = real_realloc != NULL ? real_realloc(block, bytes) : NULL;
    compare((const uintptr_t *)__builtin_frame_address(0));
    return result;
}

static void find(void *place, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(place, &symbol, sizeof(symbol));
}

static __attribute__((constructor)) void begin(void) {
    thread.inside = true;
    backtrace_init();
    find(&real_calloc, "calloc");
    find(&real_malloc, "malloc");
    find(&real_realloc, "realloc");
    thread.inside = false;
}

static __attribute__((destructor)) void end(void) {
    thread.inside = true;
    fprintf(stderr, "%lu stacks, %lu walked, %lu different\n", stacks, walks, differences);
}
