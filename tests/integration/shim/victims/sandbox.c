/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandbox WAY: four threads refuse themselves a system call by seccomp (WAY openat, fallocate,
 * membarrier, futex or mmap: EPERM from then on) and then hold 2000 blocks each of 50 bytes, all
 * at once, from many stacks: 400,000 bytes. They wait for each other without futex. The filter
 * is installed by an instruction of the program's own, which the library does not see.
 */
#include "crew.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>

#define THREADS 4
#define BLOCKS  2000

static _Atomic int ready, full, done;
static long refused = -1;

static int set_filter(const struct sock_fprog *program) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(program)
                     : "rcx", "r11", "memory");
    return (int)result;
#else
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
#endif
}

static int refuse(unsigned number) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return set_filter(&program);
}

static void meet(_Atomic int *count) {
    atomic_fetch_add(count, 1);
    while (atomic_load(count) < THREADS)
        sched_yield();
}

static void *work(void *data) {
    static void *all_blocks[THREADS][BLOCKS];
    uintptr_t thread = (uintptr_t)data;
    void **blocks = all_blocks[thread];
    free(opaque(malloc(50))); /* each has its part of the heap now */
    crew_meet();
    crew_meet();
    if (refuse((unsigned)refused) != 0)
        _exit(77);
    meet(&ready);
    for (unsigned i = 0; i < BLOCKS; i++)
        blocks[i] = opaque(descend_to(i * THREADS + (unsigned)thread, 14, 50));
    meet(&full);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    meet(&done);
    return NULL;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        long number;
    } calls[] = {
        {"openat", SYS_openat},         {"futex", SYS_futex},         {"mmap", SYS_mmap},
        {"membarrier", SYS_membarrier}, {"fallocate", SYS_fallocate},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (argc > 1 && strcmp(argv[1], calls[i].name) == 0)
            refused = calls[i].number;
    if (refused < 0)
        return 2;
    crew_start(THREADS, work);
    crew_meet();
    votrace_region_begin("v");
    crew_meet();
    crew_join();
    votrace_region_end("v");
    puts("done");
    return 0;
}
