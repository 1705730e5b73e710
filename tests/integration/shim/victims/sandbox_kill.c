/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandbox_kill WAY THREADS BLOCKS: a program that installs a seccomp filter which kills it for
 * all that neither an allocator nor its own output and exit need. Then each of its threads holds
 * BLOCKS blocks of 50 bytes, all at once, each from a stack of its own, in the region "v", that
 * begins before, and the region "inner", which begins and ends inside. It leaves by _exit().
 *
 *     prctl     each thread for itself, by prctl()
 *     syscall   the first for all, by syscall(SYS_seccomp), as libseccomp does
 *     racing    as syscall, while the other threads allocate from stacks that are new
 *     probed    as prctl, and before it one that is tried in vain
 *     refused   tries in vain, and goes on unconfined
 *     signal    as prctl, then 500 blocks in a handler on a small alternate stack
 *     strict    read, write, exit and sigreturn only
 *
 * Exit status 77: there is no seccomp here.
 */
#include "crew.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define BLOCKS_MAX 300000u
#define BYTES      50
#define LEVELS     19
#define HANDLED    500u
#define RACED      5000u

static const char *way;
static unsigned threads, blocks_each;
static void *blocks[BLOCKS_MAX];
static _Atomic bool confined;

#define ALLOW(name)                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(exit_group),
    ALLOW(rt_sigreturn),
    ALLOW(brk),
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(mprotect),
    ALLOW(madvise),
    ALLOW(futex),
    ALLOW(getrandom),
    /* The other threads' own, and what a program asks for that says whether it may. */
    ALLOW(prctl),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

/* A filter without an instruction is none. */
static void try_in_vain(void) {
    struct sock_fprog none = {0, filter};
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none, 0, 0) == 0 || errno != EINVAL ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0 || errno != EFAULT)
        _exit(98);
}

static void confine(bool all) {
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    long r;
    if (all)
        r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    else
        r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (r != 0)
        _exit(77);
}

static void hold(unsigned thread) {
    for (unsigned i = 0; i < blocks_each; i++)
        blocks[thread * blocks_each + i] =
            opaque(descend_to(thread * blocks_each + i, LEVELS, BYTES));
}

static void release(unsigned thread) {
    for (unsigned i = 0; i < blocks_each; i++)
        free(blocks[thread * blocks_each + i]);
}

/* Of no more stacks than the trace has room for, however slow the machine is. */
static void race(unsigned thread) {
    for (unsigned i = thread; !atomic_load(&confined); i += threads)
        descend(i % RACED, LEVELS, BYTES);
}

static void confine_racers(void) {
    for (unsigned i = 0; i < 1000; i++)
        descend(i, LEVELS, BYTES);
    confine(true);
    for (unsigned i = 0; i < 1000; i++)
        descend(i, LEVELS, BYTES);
    atomic_store(&confined, true);
}

/* Threads do not end: that takes calls that are not allowed. */
static void *work(void *data) {
    unsigned thread = 1 + (unsigned)(uintptr_t)data;
    free(opaque(malloc(BYTES))); /* it has its part of the heap now */
    crew_meet();
    crew_meet();
    if (strcmp(way, "racing") == 0)
        race(thread);
    else if (strcmp(way, "syscall") != 0)
        confine(false);
    crew_meet();
    hold(thread);
    crew_meet();
    release(thread);
    crew_meet();
    crew_meet();
    return NULL;
}

static void meet(void) {
    if (threads > 1)
        crew_meet();
}

static void handle(int number) {
    for (unsigned i = 0; i < HANDLED; i++)
        blocks[i] = opaque(descend_to(i, 3, BYTES));
    for (unsigned i = 0; i < HANDLED; i++)
        free(blocks[i]);
}

/* A trap sends a signal without a system call. */
static void be_trapped(void) {
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    _exit(77);
#endif
}

static void catch_traps(void) {
    size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1536;
    stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0 ||
        sigaction(SIGTRAP, &action, NULL) != 0)
        _exit(99);
}

/* Nothing may be asked of the kernel: a large block is there, of which others are cut. */
static void stay_strictly(void) {
    void *reserve = opaque(malloc((size_t)100000));
    free(reserve);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
        _exit(77);
    for (unsigned i = 0; i < blocks_each; i++)
        blocks[i] = opaque(malloc(BYTES));
    for (unsigned i = 0; i < blocks_each; i++)
        free(blocks[i]);
    if (write(STDOUT_FILENO, "done\n", 5) == 5)
        syscall(SYS_exit, 3);
}

static void run(void) {
    if (strcmp(way, "refused") == 0 || strcmp(way, "probed") == 0)
        try_in_vain();
    if (strcmp(way, "racing") == 0)
        confine_racers();
    else if (strcmp(way, "refused") != 0)
        confine(strcmp(way, "syscall") == 0);
    votrace_region_begin("inner");
    meet();
    hold(0);
    meet();
    release(0);
    meet();
    if (strcmp(way, "signal") == 0)
        be_trapped();
    votrace_region_end("inner");
    votrace_region_end("v");
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    way = argv[1];
    threads = (unsigned)atoi(argv[2]);
    blocks_each = (unsigned)atoi(argv[3]);
    if (threads == 0 || threads * blocks_each > BLOCKS_MAX)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 77;
    if (strcmp(way, "signal") == 0)
        catch_traps();
    if (threads > 1) {
        crew_start(threads - 1, work);
        crew_meet();
    }
    votrace_region_begin("v");
    meet();
    if (strcmp(way, "strict") == 0)
        stay_strictly();
    run();
    if (write(STDOUT_FILENO, "done\n", 5) != 5)
        _exit(97);
    _exit(5);
}
