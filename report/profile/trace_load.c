/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_load.c: a trace file into private memory.
 *
 * It is copied, not mapped: a mapped file that shrinks or changes meanwhile would undo the
 * reader's checks or raise SIGBUS.
 */
#include "trace_reader.h"

#include "infile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int trace_load(int fd, struct trace **ret_trace, struct fault *fault) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return fault_set(fault, -errno, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, -ENOMSG, "this is not a regular file, so not a votrace trace");

    /* The header first: it says how much of the file is in use. */
    unsigned char first[TRACE_HEADER_BYTES];
    struct trace_header header;
    size_t size;
    int r = infile_take(fd, first, sizeof(first), &size);
    if (r < 0)
        return fault_set(fault, r, "%s", strerror(-r));
    r = trace_header_check(first, size, &header, fault);
    if (r < 0)
        return r;

    uint64_t want = header.used_bytes;
    if ((uint64_t)status.st_size < want)
        want = (uint64_t)status.st_size;
    unsigned char *bytes = malloc(want > 0 ? want : 1);
    if (!bytes)
        return fault_set(fault, -ENOMEM, "out of memory");
    r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : infile_take(fd, bytes, want, &size);
    if (r < 0) {
        free(bytes);
        return fault_set(fault, r, "%s", strerror(-r));
    }
    return trace_from_taken_bytes(bytes, size, ret_trace, fault);
}

int trace_open(const char *path, struct trace **ret_trace, struct fault *fault) {
    /* O_NONBLOCK: a FIFO in place of the trace must not hang us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fault_set(fault, -errno, "%s", strerror(errno));
    int r = trace_load(fd, ret_trace, fault);
    close(fd);
    return r;
}

/* The one test that neither a reused pid nor an exec can fool: does it map this very file? */
bool trace_is_being_written(const struct trace *trace, const char *path) {
    struct stat status;
    char maps[64];
    snprintf(maps, sizeof(maps), "/proc/%" PRIu32 "/maps", trace->header->pid);
    if (stat(path, &status) < 0)
        return false;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    FILE *stream = fopen(maps, "re");
    if (!stream)
        return errno == EACCES || errno == EPERM;

    bool found = false;
    char *line = NULL;
    size_t room = 0;
    while (!found && getline(&line, &room, stream) > 0) {
        unsigned major_number, minor_number;
        uint64_t inode;
        if (sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major_number, &minor_number, &inode) ==
            3)
            /* Layered file systems show another device here than stat() does. */
            found = inode == status.st_ino &&
                    (makedev(major_number, minor_number) == status.st_dev ||
                     strstr(line, name) != NULL);
    }
    free(line);
    fclose(stream);
    return found;
}
