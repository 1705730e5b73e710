/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ exceptions through frames that allocate: 3000 times 10 arrays that destructors give back
 * on the way, and an exception: 33,000 blocks, none left.
 */
#include <votrace.h>

#include <cstdio>

struct guard {
    char *bytes = new char[50];
    ~guard() {
        delete[] bytes;
    }
};

__attribute__((noinline)) static void descend(int levels) {
    guard held;
    __asm__ volatile("" : : "r"(held.bytes) : "memory");
    if (levels == 1)
        throw levels;
    descend(levels - 1);
}

static int try_once() {
    try {
        descend(10);
    } catch (int levels) {
        return levels;
    }
    return 0;
}

int main() {
    int caught = try_once();
    votrace_region_begin("v");
    for (int i = 0; i < 3000; i++)
        caught += try_once();
    votrace_region_end("v");
    std::printf("%d\n", caught);
    return 0;
}
