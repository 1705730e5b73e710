/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_exec.c: the exec family. A process that becomes another program leaves its trace whole,
 * and the trace says so; when the call comes back, nothing has happened.
 *
 * A child of vfork() runs in its parent's memory: the recorder is told, finds another process
 * id, and leaves the parent's trace alone. posix_spawn(), system() and popen() do not come by
 * here, and need not: they exec in such children.
 */
#include "hooks.h"

#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static int no_such_call(void) {
    errno = ENOSYS;
    return -1;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
    if (MISSING(execve))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.execve(path, argv, envp);
    if (marked)
        recorder_exec_failed();
    return r;
}

EXPORT int execv(const char *path, char *const argv[]) {
    if (MISSING(execv))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.execv(path, argv);
    if (marked)
        recorder_exec_failed();
    return r;
}

EXPORT int execvp(const char *file, char *const argv[]) {
    if (MISSING(execvp))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.execvp(file, argv);
    if (marked)
        recorder_exec_failed();
    return r;
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]) {
    if (MISSING(execvpe))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.execvpe(file, argv, envp);
    if (marked)
        recorder_exec_failed();
    return r;
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[]) {
    if (MISSING(fexecve))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.fexecve(fd, argv, envp);
    if (marked)
        recorder_exec_failed();
    return r;
}

EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[],
                    int flags) {
    if (MISSING(execveat))
        return no_such_call();
    bool marked = recorder_exec_begin();
    int r = real.execveat(folder, path, argv, envp, flags);
    if (marked)
        recorder_exec_failed();
    return r;
}

/* With the arguments in the call: as an array, and as the functions above. */

static size_t count_arguments(const char *first, va_list arguments) {
    /* The headers say that it is not NULL; the kernel takes it so. */
    __asm__("" : "+r"(first));
    if (first == NULL)
        return 0;
    size_t count = 1;
    while (va_arg(arguments, char *) != NULL)
        count++;
    return count;
}

/* @first and what follows up to NULL, as an array of @count + 1 pointers. */
static void list_arguments(const char *first, va_list arguments, size_t count,
                           char **ret_argv) {
    ret_argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        ret_argv[i] = va_arg(arguments, char *);
}

/*
 * The arguments of a function that has them in its call, from @first on, as an array on that
 * function's stack, as libc does: a child of vfork() must not allocate. What follows NULL is next
 * in @arguments.
 */
#define GATHER_ARGUMENTS(argv, first, arguments)                                               \
    do {                                                                                       \
        va_start(arguments, first);                                                            \
        size_t count = count_arguments(first, arguments);                                      \
        va_end(arguments);                                                                     \
        (argv) = alloca((count + 1) * sizeof(*(argv)));                                        \
        va_start(arguments, first);                                                            \
        list_arguments(first, arguments, count, argv);                                         \
    } while (0)

EXPORT int execl(const char *path, const char *argument, ...) {
    va_list arguments;
    char **argv;
    GATHER_ARGUMENTS(argv, argument, arguments);
    va_end(arguments);
    return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *argument, ...) {
    va_list arguments;
    char **argv;
    GATHER_ARGUMENTS(argv, argument, arguments);
    va_end(arguments);
    return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *argument, ...) {
    va_list arguments;
    char **argv;
    GATHER_ARGUMENTS(argv, argument, arguments);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, argv, envp);
}
