/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_local objects whose destructors free and allocate when their thread ends: 40 threads,
 * and for each an array, another in the destructor, and libc's note of the destructor.
 */
#include <votrace.h>

#include <cstdio>
#include <pthread.h>

struct owner {
    char *bytes = new char[200];
    ~owner() {
        delete[] bytes;
        bytes = new char[100];
        __asm__ volatile("" : : "r"(bytes) : "memory");
        delete[] bytes;
    }
};

static thread_local owner mine;

static void *work(void *data) {
    mine.bytes[0] = 1;
    return data;
}

static int run_thread() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, nullptr) != 0)
        return 1;
    return pthread_join(thread, nullptr);
}

int main() {
    int failed = run_thread();
    votrace_region_begin("v");
    for (int i = 0; i < 40; i++)
        failed += run_thread();
    votrace_region_end("v");
    std::printf("%d\n", failed);
    return 0;
}
