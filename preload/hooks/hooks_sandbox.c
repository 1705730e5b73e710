/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_sandbox.c: prctl() and syscall(), by which programs confine themselves, and
 * sigaltstack(), because inside a sandbox nobody can be asked for the alternate stack.
 *
 * The first two take what they are given in variable arguments, of which libc takes a fixed
 * number of words; so do these, under their own names in C. What is not watched is a jump to
 * libc: a system call that returns twice finds no frame of ours.
 */
#include "hooks.h"
#include "sandbox.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT int hooks_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                       unsigned long d) __asm__("prctl");

/* Programs try a filter that is NULL, to see what the kernel can. */
static inline bool confines(unsigned long mode, unsigned long filter) {
    return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}

/*
 * The functions behind these hooks. Where they are not known yet the kernel is asked and nothing
 * looked up: an allocator that begins may be calling, and a look-up may allocate.
 */
static inline int prctl_behind(int option, unsigned long a, unsigned long b, unsigned long c,
                               unsigned long d) {
    if (UNLIKELY(real.prctl == NULL))
        return (int)syscall(SYS_prctl, option, a, b, c, d);
    return real.prctl(option, a, b, c, d);
}

static long syscall_behind(long number, long a, long b, long c, long d, long e, long f) {
    if (real.syscall == NULL)
        return syscall(number, a, b, c, d, e, f); /* our own: kernel.c */
    return real.syscall(number, a, b, c, d, e, f);
}

/* A sandbox may come before the library has begun; inside it could not. */
static void entering(bool strict) {
    hooks_resolve((void **)(void *)&real.prctl);
    recorder_sandbox_entering(strict);
}

static __attribute__((noinline, cold)) int prctl_confining(unsigned long mode, unsigned long b,
                                                           unsigned long c, unsigned long d) {
    bool strict = mode == SECCOMP_MODE_STRICT;
    entering(strict);
    int r = prctl_behind(PR_SET_SECCOMP, mode, b, c, d);
    if (r < 0)
        recorder_sandbox_refused(strict);
    return r;
}

int hooks_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                unsigned long d) {
    if (UNLIKELY(option == PR_SET_SECCOMP) && confines(a, b))
        return prctl_confining(a, b, c, d);
    return prctl_behind(option, a, b, c, d);
}

/* The mode that a system call puts the thread in; SECCOMP_MODE_DISABLED: none. */
static unsigned long mode_by_call(long number, long a, long b, long c) {
    if (number == SYS_prctl && a == PR_SET_SECCOMP)
        return confines((unsigned long)b, (unsigned long)c) ? (unsigned long)b
                                                            : SECCOMP_MODE_DISABLED;
    if (number != SYS_seccomp)
        return SECCOMP_MODE_DISABLED;
    if ((unsigned)a == SECCOMP_SET_MODE_STRICT)
        return SECCOMP_MODE_STRICT;
    return (unsigned)a == SECCOMP_SET_MODE_FILTER && c != 0 ? SECCOMP_MODE_FILTER
                                                            : SECCOMP_MODE_DISABLED;
}

static void note_alternate(const stack_t *stack) {
    if (stack != NULL)
        sandbox_set_alternate(stack->ss_sp,
                              (stack->ss_flags & SS_DISABLE) != 0 ? 0 : stack->ss_size);
}

long hooks_watched_syscall(long number, long a, long b, long c, long d, long e, long f);

/* Where a call goes that is not watched; NULL until it is known. */
long (*hooks_next_syscall)(long, long, long, long, long, long, long) __attribute__((used));

/* The first calls, and those that are watched. */
__attribute__((noinline, cold, used)) long
hooks_watched_syscall(long number, long a, long b, long c, long d, long e, long f) {
    hooks_next_syscall = real.syscall;
    unsigned long mode = mode_by_call(number, a, b, c);
    bool strict = mode == SECCOMP_MODE_STRICT;
    if (mode != SECCOMP_MODE_DISABLED)
        entering(strict);
    long r = syscall_behind(number, a, b, c, d, e, f);
    if (mode != SECCOMP_MODE_DISABLED && r < 0)
        recorder_sandbox_refused(strict);
    if (number == SYS_sigaltstack && r == 0)
        note_alternate((const stack_t *)a);
    return r;
}

/*
 * syscall(). Its seventh word lies in the caller's frame, and is the caller's own where fewer
 * were given: C would have it written once more, beside what other threads may write there.
 */
#if defined(__x86_64__)
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && SYS_sigaltstack == 131, "below");
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    mov hooks_next_syscall(%rip), %r11\n"
        "    test %r11, %r11\n"
        "    je hooks_watched_syscall\n"
        "    cmp $317, %rdi\n"
        "    je hooks_watched_syscall\n"
        "    cmp $157, %rdi\n"
        "    je hooks_watched_syscall\n"
        "    cmp $131, %rdi\n"
        "    je hooks_watched_syscall\n"
        "    jmp *%r11\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n"
        ".popsection");
#else
EXPORT long hooks_syscall(long number, long a, long b, long c, long d, long e,
                          long f) __asm__("syscall");
long hooks_syscall(long number, long a, long b, long c, long d, long e, long f) {
    return hooks_watched_syscall(number, a, b, c, d, e, f);
}
#endif

EXPORT int sigaltstack(const stack_t *stack, stack_t *ret_old) {
    int r = real.sigaltstack != NULL ? real.sigaltstack(stack, ret_old)
                                     : (int)syscall(SYS_sigaltstack, stack, ret_old);
    if (r == 0)
        note_alternate(stack);
    return r;
}
