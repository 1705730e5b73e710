/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_scratch.c: shared by the tests that write traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void trace_scratch_init(struct trace_scratch *scratch) {
    strcpy(scratch->folder, "/tmp/votrace-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->folder));
    snprintf(scratch->path, sizeof(scratch->path), "%s/t.vtr", scratch->folder);
}

void trace_scratch_finish(struct trace_scratch *scratch) {
    DIR *folder = opendir(scratch->folder);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    assert_int_equal(rmdir(scratch->folder), 0);
}

void trace_scratch_check(const char *path, struct trace_check *ret_check) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(bytes != MAP_FAILED);
    int r = trace_check(ret_check, bytes, (size_t)status.st_size);
    assert_string_equal(ret_check->fault, "");
    assert_int_equal(r, 0);
}

void trace_scratch_check_finish(struct trace_check *check) {
    trace_check_finish(check);
    munmap((void *)(uintptr_t)check->bytes, check->size);
}
