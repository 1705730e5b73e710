/* SPDX-License-Identifier: BSD-3-Clause */
/* victim.h: what the victims share. Each shows one behaviour inside of a region "v". */
#pragma once

#include <votrace.h>

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that the compiler must not turn into a jump: every frame stays. */
#define STAY_ON_STACK() __asm__ volatile("" ::: "memory")

/* Keeps the compiler from seeing that a block is not used. */
static inline void *opaque(void *block) {
    __asm__ volatile("" : "+r"(block)::"memory");
    return block;
}

static inline size_t opaque_size(size_t size) {
    __asm__ volatile("" : "+r"(size));
    return size;
}

/*
 * Ways down to one allocation: every combination of bits is a stack of its own. The two functions
 * differ, or compilers would make one of both calls.
 */
static void *descend_to(unsigned bits, int levels, size_t bytes) __attribute__((unused));

__attribute__((noinline)) static void *descend_left(unsigned bits, int levels, size_t bytes) {
    void *block = descend_to(bits, levels, bytes);
    STAY_ON_STACK();
    return block;
}

__attribute__((noinline)) static void *descend_right(unsigned bits, int levels, size_t bytes) {
    void *block = descend_to(bits, levels, bytes);
    __asm__ volatile("nop" ::: "memory");
    return block;
}

static void *descend_to(unsigned bits, int levels, size_t bytes) {
    void *block = levels == 0 ? malloc(bytes)
                  : bits & 1  ? descend_left(bits >> 1, levels - 1, bytes)
                              : descend_right(bits >> 1, levels - 1, bytes);
    STAY_ON_STACK();
    return block;
}

static inline void descend(unsigned bits, int levels, size_t bytes) {
    free(opaque(descend_to(bits, levels, bytes)));
}
