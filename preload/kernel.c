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

static inline long enter_kernel(long number, const long a[6]) {
    register long fourth __asm__("r10") = a[3];
    register long fifth __asm__("r8") = a[4];
    register long sixth __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    if ((unsigned long)result <= -4096UL)
        return result;
    errno = (int)-result;
    return -1;
}

#else

static long enter_kernel(long number, const long a[6]) {
    static long (*libcs)(long, long, long, long, long, long, long);
    if (libcs == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");
        memcpy(&libcs, &symbol, sizeof(symbol));
    }
    return libcs(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif

/* Six words are read, however many were given: what is behind those is not looked at. */
long kernel_call(long number, ...) {
    long words[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(arguments, long);
    va_end(arguments);
    return enter_kernel(number, words);
}
