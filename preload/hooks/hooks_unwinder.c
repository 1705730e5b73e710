/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks_unwinder.c: pipe2(), so that libunwind gets none.
 *
 * libunwind 1.6 opens a pipe when it is first used, and keeps it, to test memory before it
 * reads: it takes a byte out of one end and puts the byte in question into the other. The
 * program would find two descriptors taken. Worse, where it closes all and opens others, as
 * daemons do, libunwind would take bytes out of one of the program's files and put some into
 * another. Without a pipe it would take all that it tests for unreadable; but it is given
 * another way to read (backtrace_unwind.c), and needs none.
 */
#define UNW_LOCAL_ONLY
#include "hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <libunwind.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where libunwind is; the end is stored last, and 0 until it is known. */
static _Atomic uintptr_t unwinder_start, unwinder_end;

/* The first call is libunwind's own, when the library is loaded. */
static __attribute__((noinline, cold)) void find_unwinder(void) {
    Dl_info info;
    uintptr_t end = 1;
    if (dladdr((const void *)(uintptr_t)unw_step, &info) != 0) {
        const unsigned char *base = info.dli_fbase;
        const ElfW(Ehdr) *header = info.dli_fbase;
        for (unsigned i = 0; i < header->e_phnum; i++) {
            const ElfW(Phdr) *segment =
                (const void *)(base + header->e_phoff + i * header->e_phentsize);
            uintptr_t segment_end = (uintptr_t)base + segment->p_vaddr + segment->p_memsz;
            if (segment->p_type == PT_LOAD && segment_end > end)
                end = segment_end;
        }
        atomic_store(&unwinder_start, (uintptr_t)base);
    }
    atomic_store(&unwinder_end, end);
}

EXPORT int pipe2(int ret_ends[2], int flags) {
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (atomic_load(&unwinder_end) == 0)
        find_unwinder();
    if (caller - atomic_load(&unwinder_start) <
        atomic_load(&unwinder_end) - atomic_load(&unwinder_start)) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_pipe2, ret_ends, flags);
}
