/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.c: /proc/self/exe, but for "ld.so PROGRAM": there it is the loader, which alone was
 * started by the kernel, and what is mapped at the program's entry tells. Raw system calls and
 * no malloc: it runs before the recorder does.
 */
#include "program.h"

#include "sysmem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPS_BYTES ((size_t)64 << 10) /* right after the start there are some dozen lines */

/* Read /proc/self/maps as a string. */
static bool read_maps(char *buffer, size_t size) {
    size_t length = 0;
    long got;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (length < size - 1 &&
           (got = syscall(SYS_read, fd, buffer + length, size - 1 - length)) > 0)
        length += (size_t)got;
    syscall(SYS_close, fd);
    buffer[length] = '\0';
    return length > 0;
}

/* The file of the mapping that @address is in: "start-end rights offset device inode  path". */
static bool find_mapped_file(char *maps, uintptr_t address, char ret_path[PATH_MAX]) {
    char *rest = maps;
    for (char *line = strtok_r(maps, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *end;
        uintptr_t start = strtoul(line, &end, 16);
        if (*end != '-' || address < start || address >= strtoul(end + 1, NULL, 16))
            continue;
        const char *path = strchr(line, '/');
        if (path == NULL || strlen(path) >= PATH_MAX)
            return false;
        memcpy(ret_path, path, strlen(path) + 1);
        return true;
    }
    return false;
}

void program_path(char ret_path[PATH_MAX]) {
    /* No interpreter was loaded beside the program: it is the interpreter itself. */
    char *maps = getauxval(AT_BASE) == 0 ? sysmem_map(MAPS_BYTES) : NULL;
    bool found = maps != NULL && read_maps(maps, MAPS_BYTES) &&
                 find_mapped_file(maps, (uintptr_t)getauxval(AT_ENTRY), ret_path);
    sysmem_unmap(maps, MAPS_BYTES);
    if (found)
        return;
    long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", ret_path, PATH_MAX - 1);
    ret_path[got > 0 ? got : 0] = '\0';
}
