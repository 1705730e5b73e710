/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel.c: the library's own system calls. syscall() is hooked (hooks_sandbox.c), so that what
 * the library itself calls by that name would come to the hook: in the library the name stands
 * for kernel_call(), see meson.build. Declared by <unistd.h>, as libc's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)

/* As libc's syscall() does it. In C the frame of a variadic function is too large for some stacks. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl kernel_call\n"
        ".hidden kernel_call\n"
        ".type kernel_call, @function\n"
        "kernel_call:\n"
        ".cfi_startproc\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "mov %r9, %r8\n"
        "mov 8(%rsp), %r9\n" /* what is there if six were not given is not looked at */
        "syscall\n"
        "cmp $-4095, %rax\n"
        "jae 1f\n"
        "ret\n"
        "1:\n"
        "mov %rax, %rdi\n"
        "jmp kernel_failed\n"
        ".cfi_endproc\n"
        ".size kernel_call, .-kernel_call\n");

long kernel_failed(long result) __attribute__((used, visibility("hidden")));

long kernel_failed(long result) {
    errno = (int)-result;
    return -1;
}

#else

/* Six words are read, however many were given: what is behind those is not looked at. */
long kernel_call(long number, ...) {
    static long (*libcs)(long, long, long, long, long, long, long);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (libcs == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");
        memcpy(&libcs, &symbol, sizeof(symbol));
    }
    return libcs(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
