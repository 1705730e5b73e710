/* SPDX-License-Identifier: BSD-3-Clause */
/* sysmem.c: two system calls, made raw so that no interposed function is entered. */
#include "sysmem.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *sysmem_map(size_t bytes) {
    int saved_errno = errno;
    long address = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    errno = saved_errno;
    return address == -1 ? NULL : (void *)(uintptr_t)address;
}

void sysmem_unmap(void *memory, size_t bytes) {
    if (memory == NULL)
        return;
    int saved_errno = errno;
    syscall(SYS_munmap, memory, bytes);
    errno = saved_errno;
}
